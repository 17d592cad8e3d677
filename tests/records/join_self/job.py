"""A table joined with itself is one input; both roles keep their own columns."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql(
        "select a.id as first, b.item as second from o a join o b on a.customer = b.item"
    ).write.parquet(path("out"))
