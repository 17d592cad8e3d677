"""Columns of one name from two sides stay apart until one is chosen."""


def job(spark, path):
    o = spark.read.parquet(path("orders"))
    p = spark.read.parquet(path("people"))
    joined = o.join(p, o.item == p.name)
    joined.select(p.customer, o.customer.alias("other")).write.parquet(path("out"))
