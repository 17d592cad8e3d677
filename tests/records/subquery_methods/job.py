"""Subqueries of the DataFrame API have the lineage of SQL's."""

from pyspark.sql import functions as F


def job(spark, path):
    o = spark.read.parquet(path("orders")).alias("o")
    p = spark.read.parquet(path("people")).alias("p")
    own = p.where(F.col("p.customer") == F.col("o.customer").outer())
    o.select("id", p.select(F.max("age")).scalar().alias("oldest")).write.parquet(path("scalar"))
    o.where(own.exists()).select("id").write.parquet(path("exists"))
    o.lateralJoin(own.select("name")).select("id", "name").write.parquet(path("lateral"))
