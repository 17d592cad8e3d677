"""A generator transforms its argument and decides which rows there are.

Of an array or a map that the query lists, each column comes from its own parts, and so many parts are so many rows.
"""

from pyspark.sql import functions as F


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.select("id", F.explode("tags").alias("tag")).write.parquet(path("exploded"))
    orders.select("id", F.posexplode_outer("tags")).write.parquet(path("numbered"))
    orders.select(F.explode(F.create_map("item", "amount"))).write.parquet(path("pairs"))
    orders.select("id", F.posexplode(F.array("amount", "quantity"))).write.parquet(path("listed"))
    orders.select("id", F.explode(F.create_map(F.lit("a"), "amount", F.lit("d"), "quantity"))).write.parquet(
        path("listed_pairs")
    )
