"""A job that only looks has inputs and no output."""


def job(spark, path):
    spark.read.parquet(path("orders")).where("amount > 1").collect()
    spark.read.parquet(path("people")).count()
    spark.read.parquet(path("people")).toPandas()
    spark.read.parquet(path("people")).show()
