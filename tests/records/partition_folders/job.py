"""Partition folders read by their own paths are one dataset, the folder above them."""


def setup(spark, path):
    spark.read.parquet(path("orders")).write.partitionBy("day").parquet(path("by_day"))


def job(spark, path):
    spark.read.parquet(path("by_day/day=2024-01-01"), path("by_day/day=2024-01-02")).select(
        "id"
    ).write.parquet(path("out"))
