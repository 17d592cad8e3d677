"""Writing to `noop` runs everything and keeps nothing: it is a read."""


def job(spark, path):
    spark.read.parquet(path("orders")).select("id").write.format("noop").mode("overwrite").save()
