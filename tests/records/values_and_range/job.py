"""VALUES, range and literals depend on no dataset, and leave no gap."""


def job(spark, path):
    spark.sql("select a, b from values (1, 'x'), (2, 'y') as t(a, b)").write.parquet(path("values"))
    spark.range(3).selectExpr("id", "id * 2 as twice").write.parquet(path("range"))
    spark.read.parquet(path("orders")).selectExpr("1 as one", "current_date() as today", "id").write.parquet(
        path("literals")
    )
