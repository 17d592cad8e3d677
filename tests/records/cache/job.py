"""Cached data keeps its columns' origins, and its rows are counted once."""


def job(spark, path):
    kept = spark.read.parquet(path("orders")).selectExpr("id", "amount * 2 as twice").where("id > 1").cache()
    kept.count()
    kept.select("twice").write.parquet(path("one"))
    kept.persist().groupBy("id").sum("twice").toDF("id", "s").write.parquet(path("two"))
