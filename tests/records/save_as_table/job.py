"""saveAsTable creates, overwrites or appends to one dataset, the table's location."""


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.select("id", "item").write.saveAsTable("items")
    orders.selectExpr("id", "upper(item) as item").write.mode("overwrite").saveAsTable("items")
    orders.selectExpr("quantity + 1L as id", "item").write.mode("append").saveAsTable("items")
