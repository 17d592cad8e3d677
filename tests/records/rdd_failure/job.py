"""A job over an RDD that fails read what it was made from and wrote nothing."""

import contextlib


def setup(spark, path):
    spark.read.parquet(path("people")).select("name").coalesce(1).write.text(path("names"))


def job(spark, path):
    names = spark.sparkContext.textFile(path("names"))
    with contextlib.suppress(Exception):
        names.map(str.upper).saveAsTextFile(path("names"))
