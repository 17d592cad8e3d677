"""A temp view is not a dataset: columns go through it to its sources."""


def job(spark, path):
    spark.read.parquet(path("orders")).selectExpr(
        "id", "amount * 2 as double_amount"
    ).createOrReplaceTempView("v")
    spark.sql("create temporary view w as select id, double_amount + 1 as more from v where id > 0")
    spark.sql("select more from w").write.parquet(path("out"))
