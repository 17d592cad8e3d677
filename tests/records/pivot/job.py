"""The pivot column is CONDITIONAL for the cells; only the grouped columns are GROUP_BY."""

from pyspark.sql import functions as F


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.groupBy("customer").pivot("item", ["pen", "ink"]).sum("amount").write.parquet(path("one"))
    orders.groupBy("customer").pivot("item", ["pen"]).agg(
        F.sum("amount").alias("s"), F.max("day").alias("d")
    ).write.parquet(path("several"))
    orders.groupBy("customer").pivot("item").agg(F.first("quantity")).write.parquet(path("unlisted"))
    orders.select("customer", "item", "amount").createOrReplaceTempView("o")
    spark.sql("select * from o pivot (max(amount) for item in ('pen' as p))").write.parquet(path("sql"))
