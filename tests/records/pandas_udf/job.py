"""A pandas UDF is a transformation of its arguments; one that aggregates is an aggregation."""

import pandas as pd
from pyspark.sql import functions as F


def job(spark, path):
    @F.pandas_udf("double")
    def twice(a: pd.Series) -> pd.Series:
        return a * 2

    @F.pandas_udf("double")
    def mean(a: pd.Series) -> float:
        return a.mean()

    orders = spark.read.parquet(path("orders"))
    orders.select("id", twice("amount").alias("twice")).write.parquet(path("scalar"))
    orders.groupBy("customer").agg(mean("amount").alias("mean")).write.parquet(path("grouped"))
