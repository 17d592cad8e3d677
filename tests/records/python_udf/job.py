"""A Python UDF is a transformation of its arguments alone."""

from pyspark.sql import functions as F


def job(spark, path):
    label = F.udf(lambda a, b: f"{a}{b}", "string")
    flag = F.udf(lambda a: a > 1, "boolean")
    orders = spark.read.parquet(path("orders"))
    orders.where(flag("quantity")).select(
        "id", label("customer", F.upper("item")).alias("label")
    ).write.parquet(path("out"))
