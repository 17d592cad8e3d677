"""A literal that is written and read back has that dataset as its source, which is then an input as well."""


def job(spark, path):
    spark.read.parquet(path("orders")).selectExpr("id", "'eu' as region").write.parquet(path("middle"))
    spark.read.parquet(path("middle")).selectExpr("id", "upper(region) as region").write.parquet(path("out"))
