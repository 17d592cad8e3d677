"""Methods of DataFrames that show and clean data are ordinary queries."""

from pyspark.sql import functions as F


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    spark.read.parquet(path("people")).select("age").summary("count", "max").write.parquet(path("summary"))
    orders.crosstab("customer", "day").write.parquet(path("crosstab"))
    orders.freqItems(["customer"]).write.parquet(path("frequent"))
    cleaned = (
        orders.dropna(subset=["item"]).replace({"ann": "Ann"}, subset=["customer"]).fillna({"amount": 0.0})
    )
    cleaned.select("id", "customer", "amount").write.parquet(path("cleaned"))
    orders.sampleBy("customer", {"ann": 1.0}, seed=1).select(
        "id", F.input_file_name().alias("file")
    ).write.parquet(path("sampled"))
    first, _ = orders.select("id", "amount").randomSplit([0.5, 0.5], seed=1)
    first.select("id").write.parquet(path("split"))
