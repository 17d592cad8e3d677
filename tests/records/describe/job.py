"""summary, approxQuantile, corr and crosstab only look at rows."""


def job(spark, path):
    orders = spark.read.parquet(path("orders")).select("amount", "quantity")
    orders.summary("count").collect()
    orders.approxQuantile("amount", [0.5], 0.1)
    orders.stat.corr("amount", "quantity")
    orders.describe("amount").write.parquet(path("out"))
