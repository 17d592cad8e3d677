"""A stream of files is a read of its folder, each batch a write of one folder, whatever it runs inside."""


def setup(spark, path):
    orders = spark.read.parquet(path("orders"))
    for day in ("2024-01-01", "2024-01-02"):
        orders.where(f"day = '{day}'").coalesce(1).write.mode("append").json(path("days"))


def job(spark, path):
    days = spark.readStream.schema("id bigint, item string, amount double").option("maxFilesPerTrigger", 1)
    dear = days.json(path("days")).where("amount > 1").selectExpr("upper(item) as item", "amount")
    write = dear.writeStream.option("checkpointLocation", path("state")).trigger(availableNow=True)
    write.format("parquet").start(path("dear")).awaitTermination()
    spark.read.parquet(path("dear")).groupBy("item").sum().toDF("item", "total").write.parquet(path("sums"))
