"""A filter on a partition column is a FILTER like any other, though no file of other partitions is read."""


def setup(spark, path):
    spark.read.parquet(path("orders")).write.partitionBy("day").parquet(path("by_day"))


def job(spark, path):
    spark.read.parquet(path("by_day")).where("day = '2024-01-01'").select("id").write.parquet(path("out"))
