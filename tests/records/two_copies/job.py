"""Two independent copies in one task do not become four edges."""


def job(spark, path):
    spark.read.parquet(path("orders")).select("customer").write.parquet(path("a"))
    spark.read.parquet(path("people")).select("customer").write.parquet(path("b"))
