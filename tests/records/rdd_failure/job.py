"""A failed job over an RDD read the RDD's files and wrote nothing."""

import contextlib


def setup(spark, path):
    spark.read.parquet(path("people")).select("name").coalesce(1).write.text(path("names"))


def job(spark, path):
    names = spark.sparkContext.textFile(path("names"))
    with contextlib.suppress(Exception):
        names.map(str.upper).saveAsTextFile(path("names"))
