"""A generator transforms its argument and decides which rows there are."""

from pyspark.sql import functions as F


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.select("id", F.explode("tags").alias("tag")).write.parquet(path("exploded"))
    orders.select("id", F.posexplode_outer("tags")).write.parquet(path("numbered"))
    orders.select(F.explode(F.create_map("item", "amount"))).write.parquet(path("pairs"))
