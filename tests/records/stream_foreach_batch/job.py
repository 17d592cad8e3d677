"""Writes of a program for each batch have edges from the stream's own columns."""


def job(spark, path):
    orders = spark.readStream.schema("item string, amount double").parquet(path("orders"))
    twice = orders.where("item <> 'pad'").selectExpr("item", "amount * 2 as twice")

    def keep(batch, number):
        batch.groupBy("item").sum("twice").toDF("item", "total").coalesce(1).write.parquet(path("sums"))
        batch.rdd.map(str).saveAsTextFile(path("lines"))

    state = twice.writeStream.option("checkpointLocation", path("state"))
    state.foreachBatch(keep).trigger(availableNow=True).start().awaitTermination()
