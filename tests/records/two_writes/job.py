"""Two writes to one path: the output has the edges of the last one, as the rows that are read back from it."""


def job(spark, path):
    spark.read.parquet(path("orders")).selectExpr("customer as c").write.parquet(path("out"))
    spark.read.parquet(path("people")).selectExpr("name as c").write.mode("overwrite").parquet(path("out"))
    spark.read.parquet(path("out")).write.parquet(path("copy"))
