"""Queries as DataFrame code that runs Python functions or pandas."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
from frames import Frames, adder
from pyspark.sql import functions as F
from pyspark.sql.window import Window

FRAMES: Frames = []
query = adder(FRAMES)


@query
def python_udf(spark):
    joined = F.udf(lambda a, b: f"{a}|{b}")
    length = F.udf(lambda x: len(x or ""), "int")
    return spark.table("orders").select(
        "oid",
        joined("item", "qty").alias("u"),
        length(F.upper("note")).alias("g"),
        length(joined("status", F.lit("k"))).alias("h"),
    )


@query
def python_udf_in_a_filter(spark):
    long = F.udf(lambda x: x is not None and x > 4, "boolean")
    return spark.table("orders").filter(long("qty")).select("oid", "item")


@query
def arrow_udf(spark):
    @F.udf("double", useArrow=True)
    def twice(a, b):
        return (a or 0.0) * 2 + (b or 0)

    return spark.table("orders").select("oid", twice("amount", "qty").alias("t"))


@query
def pandas_udf(spark):
    @F.pandas_udf("double")
    def twice(a: pd.Series, b: pd.Series) -> pd.Series:
        return a.fillna(0) * 2 + b.fillna(0)

    return spark.table("orders").select("oid", twice("amount", "qty").alias("p"))


@query
def pandas_udf_of_structs(spark):
    @F.pandas_udf("x double, y string")
    def both(a: pd.Series, b: pd.Series) -> pd.DataFrame:
        return pd.DataFrame({"x": a.fillna(0) + 1, "y": b})

    return spark.table("orders").select("oid", both("amount", "item").alias("s")).select("oid", "s.x")


@query
def pandas_aggregate(spark):
    @F.pandas_udf("double")
    def mean(v: pd.Series) -> float:
        return float(v.fillna(0).mean())

    return spark.table("orders").groupBy("item").agg(mean("amount").alias("m"))


@query
def pandas_aggregate_over_a_window(spark):
    @F.pandas_udf("double")
    def mean(v: pd.Series) -> float:
        return float(v.fillna(0).mean())

    window = Window.partitionBy("item").orderBy("oid").rowsBetween(-1, 1)
    return spark.table("orders").select("oid", mean("amount").over(window).alias("m"))


@query
def map_in_pandas(spark):
    def add(frames):
        for frame in frames:
            yield pd.DataFrame({"x": frame.amount.fillna(0) + frame.qty.fillna(0), "y": frame["item"]})

    some = spark.table("orders").select("amount", "qty", "item").filter("item is not null")
    return some.mapInPandas(add, "x double, y string")


@query
def map_in_arrow(spark):
    def keep(batches):
        for batch in batches:
            yield batch.select(["oid", "amount"])

    return spark.table("orders").select("oid", "amount", "status").mapInArrow(keep, "oid long, amount double")


@query
def apply_in_pandas(spark):
    def total(key, frame):
        return pd.DataFrame({"k": [str(key[0])], "n": [len(frame)], "s": [frame.amount.sum()]})

    grouped = spark.table("orders").groupBy("status")
    return grouped.applyInPandas(total, "k string, n long, s double")


@query
def apply_in_arrow(spark):
    def total(table):
        return pa.table({"n": [table.num_rows], "s": [float(sum(table["amount"].drop_null().to_pylist()))]})

    return spark.table("orders").groupBy("status").applyInArrow(total, "n long, s double")


@query
def cogroup(spark):
    def both(orders, customers):
        return pd.DataFrame({"n": [len(orders) * len(customers)], "s": [orders.amount.sum()]})

    customers = spark.table("customers").groupBy("cid")
    return spark.table("orders").groupBy("cust").cogroup(customers).applyInPandas(both, "n long, s double")


@query
def rdd_round_trip(spark):
    some = spark.table("orders").select("oid", "item").filter("qty > 3")
    return some.rdd.map(lambda row: (row[0], str(row[1]) + "!")).toDF("a long, b string")


@query
def pandas_on_spark(spark):
    frame = spark.table("orders").pandas_api(index_col="oid")
    return frame.assign(z=frame.amount * frame.qty).groupby("item")[["z"]].sum().to_spark()


@query
def as_of_join(spark):
    import pyspark.pandas as ps

    orders = spark.table("orders").select("oid", "qty", "item").na.drop().orderBy("qty").pandas_api()
    items = spark.table("items").select("stock", "price").na.drop().orderBy("stock").pandas_api()
    return ps.merge_asof(orders, items, left_on="qty", right_on="stock").to_spark().select("oid", "price")


@query
def table_function(spark):
    @F.udtf(returnType="w string, k int")
    class Words:
        def eval(self, text, number):
            for word in (text or "").split("-"):
                yield word, (number or 0)

    spark.udtf.register("words_of", Words)
    return spark.sql("select oid, w, k from orders, lateral words_of(note, qty)")


@query
def table_function_of_a_table(spark):
    @F.udtf(returnType="n int, s double")
    class Totals:
        def __init__(self):
            self.n, self.s = 0, 0.0

        def eval(self, row):
            self.n += 1
            self.s += row["amount"] or 0

        def terminate(self):
            yield self.n, self.s

    spark.udtf.register("totals_of", Totals)
    rows = "table(select item, amount from orders where qty > 2) partition by item order by amount"
    return spark.sql(f"select * from totals_of({rows})")
