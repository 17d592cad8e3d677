"""DISTINCT and dropDuplicates group by the columns that they compare."""


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.select("customer", "item").distinct().write.parquet(path("distinct"))
    orders.dropDuplicates(["customer"]).select("id").write.parquet(path("subset"))
    orders.select("id").dropDuplicates().write.parquet(path("all"))
