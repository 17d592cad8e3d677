"""fillna tests the column that it fills; replace and dropna are a CASE and a filter."""


def job(spark, path):
    orders = spark.read.parquet(path("orders")).select("id", "customer", "amount")
    orders.fillna({"customer": "nobody", "amount": 0.0}).write.parquet(path("filled"))
    orders.replace("ann", "anna", "customer").dropna(subset=["amount"]).write.parquet(path("replaced"))
