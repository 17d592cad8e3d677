"""Rows that go through a program are code over whole rows."""


def job(spark, path):
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("select transform(name, city) using 'cat' as (a string, b string) from p").write.parquet(
        path("out")
    )
