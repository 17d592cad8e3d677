"""A star expands to every column; `struct(*)` is a transformation of all of them."""


def job(spark, path):
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("select *, struct(*) as everything from p").write.parquet(path("out"))
