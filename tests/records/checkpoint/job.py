"""Checkpointed data keeps its columns' origins."""


def job(spark, path):
    kept = (
        spark.read.parquet(path("orders"))
        .selectExpr("id", "amount * 2 as twice")
        .where("quantity > 1")
        .localCheckpoint()
    )
    kept.select("twice").write.parquet(path("out"))
