"""A write that IF NOT EXISTS or the mode `ignore` may skip is an ordinary one without a target."""


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.select("id", "item").write.mode("ignore").saveAsTable("made")
    orders.select("amount").write.mode("ignore").parquet(path("fresh"))
    orders.createOrReplaceTempView("orders")
    spark.sql("create table if not exists made_by_sql using parquet as select item from orders")
