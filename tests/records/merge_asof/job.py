"""An as-of join compares the keys and the order of both sides: pandas' `merge_asof` on Spark."""

import pyspark.pandas as ps


def job(spark, path):
    orders = ps.read_parquet(path("orders"))[["id", "quantity", "customer"]].sort_values("quantity")
    people = ps.read_parquet(path("people"))[["age", "name", "customer"]].sort_values("age")
    matched = ps.merge_asof(orders, people, left_on="quantity", right_on="age", by="customer")
    matched.to_parquet(path("out"))
