"""Two writes to one path both happened: edges of both, but the rows read back came from the last."""


def job(spark, path):
    spark.read.parquet(path("orders")).selectExpr("customer as c").write.parquet(path("out"))
    spark.read.parquet(path("people")).selectExpr("name as c").write.mode("overwrite").parquet(path("out"))
    spark.read.parquet(path("out")).write.parquet(path("copy"))
