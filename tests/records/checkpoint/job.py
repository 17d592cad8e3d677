"""Checkpointed data keeps its columns' origins, also where Spark keeps how its rows are partitioned."""


def job(spark, path):
    kept = (
        spark.read.parquet(path("orders"))
        .selectExpr("id", "amount * 2 as twice")
        .where("quantity > 1")
        .localCheckpoint()
    )
    kept.select("twice").write.parquet(path("out"))
    grouped = spark.read.parquet(path("orders")).groupBy("item").agg({"amount": "sum"}).localCheckpoint()
    grouped.toDF("item", "amount").write.parquet(path("grouped"))
