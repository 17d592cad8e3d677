"""Rows from Python memory have no dataset: a gap gives their origin."""


def job(spark, path):
    spark.createDataFrame([(1, "a")], "n int, s string").write.parquet(path("rows"))
    looked_up = spark.createDataFrame([("ann", 1)], "customer string, level int")
    spark.read.parquet(path("people")).join(looked_up, "customer").select("name", "level").write.parquet(
        path("joined")
    )
