"""Cogrouped code sees all columns of both sides."""

import pandas as pd


def job(spark, path):
    o = spark.read.parquet(path("orders")).select("customer", "amount").groupBy("customer")
    p = spark.read.parquet(path("people")).select("customer", "age").groupBy("customer")

    def both(left, right):
        return pd.DataFrame({"x": [float(len(left))], "y": [len(right)]})

    o.cogroup(p).applyInPandas(both, "x double, y int").write.parquet(path("out"))
