"""A dataset that is read and then appended to is an input and an output."""


def setup(spark, path):
    spark.read.parquet(path("orders")).select("id", "item").write.parquet(path("log"))


def job(spark, path):
    spark.read.parquet(path("log")).selectExpr("id + 100 as id", "item").write.mode("append").parquet(
        path("log")
    )
    spark.read.parquet(path("log")).select("id").write.parquet(path("out"))
