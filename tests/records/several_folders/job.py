"""Unrelated folders in one read are a dataset each, and every column comes from all of them."""


def setup(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.write.parquet(path("old/orders"))
    orders.write.parquet(path("new/orders"))


def job(spark, path):
    spark.read.parquet(path("old/orders"), path("new/orders")).select("id").write.parquet(path("out"))
