"""A filter on a window's column carries the window's columns as FILTER."""

from pyspark.sql import Window
from pyspark.sql import functions as F


def job(spark, path):
    newest = Window.partitionBy("customer").orderBy(F.desc("day"))
    spark.read.parquet(path("orders")).withColumn("n", F.row_number().over(newest)).where("n = 1").drop(
        "n"
    ).select("id").write.parquet(path("out"))
