"""A table created and dropped in the task disappears; columns are traced through it."""


def job(spark, path):
    spark.read.parquet(path("orders")).selectExpr("id", "amount * 2 as twice").write.saveAsTable("scratch")
    spark.table("scratch").selectExpr("twice as result").write.parquet(path("out"))
    spark.sql("drop table scratch")
