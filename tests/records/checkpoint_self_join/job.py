"""A query that reads a checkpoint twice gives it other column ids the second time; its columns keep their origins."""

from pyspark.sql import functions as F


def job(spark, path):
    kept = spark.read.parquet(path("orders")).select("id", "customer", "amount").localCheckpoint()
    pairs = kept.alias("a").join(kept.alias("b"), F.expr("a.id = b.id + 1 and a.customer = b.customer"))
    pairs.select("a.id", F.col("b.amount").alias("before")).write.parquet(path("out"))
