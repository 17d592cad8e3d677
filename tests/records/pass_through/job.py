"""Nodes that only move rows leave columns as they are: repartition, hint, sample, observe, coalesce."""

from pyspark.sql import Observation
from pyspark.sql import functions as F


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    seen = orders.observe(Observation("o"), F.count(F.lit(1)).alias("n"))
    seen.repartition(2, "customer").repartitionByRange(1, "day").coalesce(1).hint("broadcast").sample(
        0.9, seed=1
    ).select("id").write.parquet(path("out"))
