"""Queries as DataFrame code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

FRAMES: list[Callable[[SparkSession, Path], DataFrame]] = []


def query(make: Callable[[SparkSession], DataFrame]) -> Callable[[SparkSession], DataFrame]:
    def run(spark: SparkSession, scratch: Path) -> DataFrame:
        return make(spark)

    run.__name__ = make.__name__
    FRAMES.append(run)
    return make


@query
def columns(spark):
    changed = spark.table("orders").withColumns({"a2": F.col("amount") * 2, "amount": F.col("qty") + 1})
    return changed.withColumnRenamed("item", "thing").drop("note").filter(F.col("a2") > 20)


@query
def drop_duplicates(spark):
    return spark.table("orders").dropDuplicates(["cust", "item"]).select("oid", "amount")


@query
def distinct_rows(spark):
    return spark.table("orders").select("item", "status").distinct()


@query
def fill_replace_drop(spark):
    filled = spark.table("orders").fillna({"amount": 0.0, "item": "?"})
    replaced = filled.replace(["N", "S"], ["new", "sent"], "status")
    return replaced.na.drop(subset=["qty"]).select("oid", "amount", "item", "status")


@query
def describe(spark):
    return spark.table("orders").describe("amount", "qty", "item")


@query
def summary(spark):
    return spark.table("orders").select("amount", "qty").summary("count", "mean", "50%", "max")


@query
def crosstab(spark):
    return spark.table("orders").na.fill("?").crosstab("item", "status")


@query
def frequent_items(spark):
    return spark.table("orders").freqItems(["item", "qty"], 0.3)


@query
def union_by_name(spark):
    items = spark.table("items").select(F.col("name").alias("item"), "price")
    return spark.table("orders").select("oid", "item").unionByName(items, allowMissingColumns=True)


@query
def sample(spark):
    return spark.table("orders").filter("qty > 2").sample(fraction=0.5, seed=3).select("oid", "item")


@query
def sample_by(spark):
    return spark.table("orders").sampleBy("status", {"N": 0.5, "S": 1.0}, seed=4).select("oid", "item")


@query
def random_split(spark):
    return spark.table("orders").select("oid", "item", "qty").randomSplit([0.4, 0.6], seed=1)[0]


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
def cached(spark):
    sums = spark.table("orders").groupBy("cust").agg(F.sum("amount").alias("s")).cache()
    sums.count()
    return sums.join(spark.table("customers"), sums.cust == F.col("cid"), "left").select("s", "city")


@query
def checkpointed(spark):
    sums = spark.table("orders").filter("qty > 2").groupBy("item").agg(F.sum("amount").alias("s"))
    kept = sums.localCheckpoint()
    return kept.join(spark.table("items"), kept["item"] == F.col("name")).select("s", "price")


@query
def checkpointed_twice(spark):
    pens = spark.table("orders").select("item", "cust").localCheckpoint().filter("item = 'pen'")
    kept = pens.localCheckpoint()
    other = kept.withColumnRenamed("cust", "c2")
    return kept.join(other, "item").groupBy("cust").agg(F.countDistinct("c2").alias("n"))


@query
def select_expressions(spark):
    return spark.table("events").selectExpr("*", "st.p + 1 as pp", "m['a'] as ma").drop("m", "js", "ts")


@query
def structs(spark):
    made = spark.table("events").select(
        "eid",
        F.col("st").withField("p", F.col("who")).alias("s1"),
        F.col("st").dropFields("q").alias("s2"),
        F.struct("who", "bits").alias("s3"),
    )
    return made.select("eid", "s1.*", "s2", "s3.who")


@query
def struct_of_a_struct(spark):
    made = spark.table("orders").select(F.struct("oid", F.struct("item", "qty").alias("inner")).alias("s"))
    return made.select("s.inner.*").filter("qty > 2")


@query
def pivot(spark):
    grouped = spark.table("orders").na.fill("?").groupBy("status").pivot("item")
    return grouped.agg(F.sum("amount").alias("s"), F.countDistinct("cust").alias("d"))


@query
def pivot_of_given_values(spark):
    grouped = spark.table("orders").groupBy("status").pivot("item", ["pen", "ink"])
    return grouped.agg(F.collect_list("note"))


@query
def rollup(spark):
    return spark.table("orders").rollup("item", "status").agg(F.grouping_id().alias("g"), F.avg("qty"))


@query
def cube(spark):
    return spark.table("orders").cube("item", "status").agg(F.count("*").alias("n"))


@query
def grouping_sets(spark):
    orders = spark.table("orders")
    return orders.groupingSets([["item"], ["status"]], "item", "status").agg(F.max("amount").alias("m"))


@query
def melt(spark):
    narrow = spark.table("orders").select("oid", "amount", F.col("qty").cast("double").alias("qty"))
    return narrow.melt("oid", ["amount", "qty"], "k", "v")


@query
def transpose(spark):
    return spark.table("items").select("name", "price").na.drop().transpose("name")


@query
def transformed(spark):
    ratio = spark.table("orders").transform(lambda df: df.withColumn("x", F.col("amount") / F.col("qty")))
    return ratio.transform(lambda df: df.groupBy("cust").agg(F.avg("x").alias("ax")))


@query
def self_join(spark):
    orders = spark.table("orders")
    one, two = orders.alias("a"), orders.alias("b")
    on = (F.col("a.cust") == F.col("b.cust")) & (F.col("a.oid") < F.col("b.oid"))
    return one.join(two, on).select("a.item", F.col("b.amount").alias("ba"))


@query
def join_on_names(spark):
    items = spark.table("items").withColumnRenamed("name", "item")
    return spark.table("orders").join(items, ["item"], "full").select("item", "oid", "price")


@query
def null_safe_join(spark):
    on = F.col("item").eqNullSafe(F.col("name"))
    return spark.table("orders").join(spark.table("items"), on, "full").select("oid", "price")


@query
def window(spark):
    latest = Window.partitionBy("cust").orderBy(F.col("day").desc(), "oid")
    first = spark.table("orders").withColumn("rn", F.row_number().over(latest)).filter("rn = 1")
    return first.select("oid", "item", F.lag("amount").over(Window.orderBy("oid")).alias("la"))


@query
def scalar_subquery(spark):
    items = spark.table("items")
    orders = spark.table("orders").withColumn("mx", items.select(F.max("price")).scalar())
    average = items.where("stock > 3").select(F.avg("stock")).scalar()
    return orders.filter(F.col("qty") < average).select("oid", "mx")


@query
def exists_subquery(spark):
    matching = (F.col("cust") == F.col("c.cid").outer()) & (F.col("amount") > 50)
    customers = spark.table("customers").alias("c")
    return customers.where(spark.table("orders").where(matching).exists()).select("cid", "cname")


@query
def lateral_join(spark):
    events = spark.table("events").alias("e")
    return events.lateralJoin(spark.tvf.explode(F.col("e.arr").outer())).select("eid", "col")


@query
def explode(spark):
    parts = spark.table("events").select("eid", F.explode_outer("sts").alias("s")).select("eid", "s.p", "s.q")
    return parts.groupBy("q").agg(F.sum("p").alias("sp"))


@query
def rdd_round_trip(spark):
    some = spark.table("orders").select("oid", "item").filter("qty > 3")
    return some.rdd.map(lambda row: (row[0], str(row[1]) + "!")).toDF("a long, b string")


@query
def observed(spark):
    from pyspark.sql import Observation

    seen = spark.table("items").observe(Observation(), F.count("*").alias("n"))
    return seen.select("name", "price")


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
def sorted_within_partitions(spark):
    return spark.table("orders").sortWithinPartitions("amount").select("oid")


@query
def numbered_rows(spark):
    some = spark.table("orders").filter("qty > 2").orderBy("amount", "oid")
    return some.select("oid", F.monotonically_increasing_id().alias("i"))


@query
def repartitioned(spark):
    return spark.table("orders").repartition(3, "item").select("oid", "item")


@query
def except_all(spark):
    items = spark.table("items").select("name", "stock")
    return spark.table("orders").select("item", "qty").exceptAll(items).groupBy("item").count()


@query
def aggregate_by_names(spark):
    sums = spark.table("orders").groupBy("item").agg({"amount": "avg", "*": "count"})
    return sums.toDF("i", "a", "n").orderBy(F.desc("n"), "i")


@query
def limited(spark):
    return spark.table("orders").orderBy("amount", "oid").limit(20).select("oid", "item")


@query
def tail_in_the_middle(spark):
    return spark.table("orders").orderBy("qty", "oid").offset(5).limit(30).groupBy("item").count()


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


@query
def sql_of_a_frame(spark):
    orders = spark.table("orders")
    text = "select item, sum(amount) as s from {orders} where qty > {least} group by item"
    return spark.sql(text, orders=orders, least=3)


@query
def sql_with_parameters(spark):
    text = "select oid, amount * :k as a from orders where status = :s"
    return spark.sql(text, args={"k": 2, "s": "N"})


@query
def many_steps(spark):
    frame = spark.table("orders")
    for number in range(12):
        frame = frame.withColumn("amount", F.col("amount") + number).filter(F.col("amount") > number)
    return frame.select("oid", "amount")


@query
def conditions(spark):
    when = F.when(F.col("qty") > 5, F.col("item")).when(F.col("status") == "N", F.col("note")).otherwise("-")
    return spark.table("orders").select("oid", when.alias("w"), F.nanvl("amount", F.lit(0.0)).alias("n"))


@query
def collected(spark):
    """What is collected and sent back is made of nothing that a plan knows."""
    rows = spark.table("items").filter("stock > 3").count()
    return spark.table("orders").select("oid", F.lit("x").alias("x")).limit(1000).filter(f"{rows} >= 0")
