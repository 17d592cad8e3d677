"""A new field and those that stay are sources; a field that is dropped is not."""

from pyspark.sql import functions as F


def job(spark, path):
    nested = spark.read.parquet(path("people")).select(F.struct("name", "city").alias("s"), "age")
    nested.select(F.col("s").withField("age", F.col("age")).dropFields("city").alias("s")).write.parquet(
        path("out")
    )
