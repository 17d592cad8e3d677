"""A cached view is looked through, whether it is cached at once or at its first use."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("cache lazy table kept as select id, upper(item) as item from o where quantity > 1")
    spark.sql("select item from kept").write.parquet(path("out"))
