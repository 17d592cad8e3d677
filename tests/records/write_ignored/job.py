"""A write with mode `ignore` onto existing data does nothing, so it gives no output."""


def setup(spark, path):
    spark.range(1).write.parquet(path("there"))
    spark.sql("create table kept using parquet as select 1 as id")


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.select("id").write.mode("ignore").parquet(path("there"))
    orders.select("id").write.mode("ignore").parquet(path("fresh"))
    orders.select("id").write.mode("ignore").saveAsTable("kept")
    orders.createOrReplaceTempView("orders")
    spark.sql("create table if not exists kept using parquet as select id from orders")
