"""pandas API on Spark numbers the rows for its index: the number comes from no column."""


def job(spark, path):
    orders = spark.read.parquet(path("orders")).select("item", "amount", "quantity").pandas_api()
    orders["total"] = orders.amount * orders.quantity
    orders[["item", "total"]].to_spark(index_col="number").write.parquet(path("out"))
    orders.groupby("item")[["total"]].sum().to_spark(index_col="item").write.parquet(path("grouped"))
