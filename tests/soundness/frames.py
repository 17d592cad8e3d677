"""Queries as DataFrame code; those that run Python functions or pandas are in `python_frames`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

Frames = list[Callable[[SparkSession, Path], DataFrame]]
Make = Callable[[SparkSession], DataFrame]


def adder(frames: Frames) -> Callable[[Make], Make]:
    """Return a decorator that adds a query to a list."""

    def query(make: Make) -> Make:
        def run(spark: SparkSession, scratch: Path) -> DataFrame:
            return make(spark)

        run.__name__ = make.__name__
        frames.append(run)
        return make

    return query


FRAMES: Frames = []
query = adder(FRAMES)


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
def cached(spark):
    sums = spark.table("orders").groupBy("cust").agg(F.sum("amount").alias("s")).cache()
    sums.count()
    return sums.join(spark.table("customers"), sums.cust == F.col("cid"), "left").select("s", "city")


@query
def checkpointed(spark):
    sums = spark.table("orders").filter("qty > 2").groupBy("item").agg(F.sum("amount").alias("s"))
    checkpoint = sums.localCheckpoint()
    return checkpoint.join(spark.table("items"), checkpoint["item"] == F.col("name")).select("s", "price")


@query
def checkpointed_twice(spark):
    pens = spark.table("orders").select("item", "cust").localCheckpoint().filter("item = 'pen'")
    checkpoint = pens.localCheckpoint()
    other = checkpoint.withColumnRenamed("cust", "c2")
    return checkpoint.join(other, "item").groupBy("cust").agg(F.countDistinct("c2").alias("n"))


def pairs(spark):
    """Return two sides, and their join: both have `k`, `note` and `amount`."""
    left = spark.table("orders").selectExpr("oid as k", "note", "amount")
    right = spark.table("orders").selectExpr("cust as k", "item as note", "qty as amount")
    return left, right, left.join(right, left.k == right.k)


@query
def checkpointed_with_repeated_names(spark):
    left, right, both = pairs(spark)
    checkpoint = both.localCheckpoint(eager=False)
    return checkpoint.select(left.note, right.amount, right.note.alias("n2"), left.amount.alias("a2"))


@query
def cached_with_repeated_names(spark):
    left, right, both = pairs(spark)
    frame = both.cache()
    frame.count()
    return (
        frame.select(right.note, left.amount).toDF("n", "a").unionAll(frame.select(left.note, right.amount))
    )


@query
def checkpointed_twice_with_repeated_names(spark):
    _, _, both = pairs(spark)
    checkpoint = both.localCheckpoint().localCheckpoint().toDF("k1", "n1", "a1", "k2", "n2", "a2")
    return checkpoint.filter("n1 > 'p'").select("n2", "a1")


@query
def checkpointed_siblings(spark):
    orders = spark.table("orders").select("oid", "item", "qty", "amount")
    checkpoint = orders.filter("qty > 2").localCheckpoint()
    orders.filter("item = 'pen'").localCheckpoint().count()
    return checkpoint.select("oid", "amount")


@query
def select_expressions(spark):
    return spark.table("events").selectExpr("*", "st.p + 1 as pp", "m['a'] as ma").drop("m", "js", "ts")


@query
def structs(spark):
    frame = spark.table("events").select(
        "eid",
        F.col("st").withField("p", F.col("who")).alias("s1"),
        F.col("st").dropFields("q").alias("s2"),
        F.struct("who", "bits").alias("s3"),
    )
    return frame.select("eid", "s1.*", "s2", "s3.who")


@query
def struct_of_a_struct(spark):
    frame = spark.table("orders").select(F.struct("oid", F.struct("item", "qty").alias("inner")).alias("s"))
    return frame.select("s.inner.*").filter("qty > 2")


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
    left, right = orders.alias("a"), orders.alias("b")
    on = (F.col("a.cust") == F.col("b.cust")) & (F.col("a.oid") < F.col("b.oid"))
    return left.join(right, on).select("a.item", F.col("b.amount").alias("ba"))


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
def observed(spark):
    from pyspark.sql import Observation

    seen = spark.table("items").observe(Observation(), F.count("*").alias("n"))
    return seen.select("name", "price")


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
    """Rows that are collected and sent back have no source that a plan knows."""
    rows = spark.table("items").filter("stock > 3").count()
    return spark.table("orders").select("oid", F.lit("x").alias("x")).limit(1000).filter(f"{rows} >= 0")


@query
def fields_of_a_struct_dropped_and_replaced(spark):
    inner = F.struct("amount", "note").alias("in")
    orders = spark.table("orders").select("oid", "status", F.struct("item", "qty", inner).alias("s"))
    s = F.col("s")
    replaced = s.withField("item", F.upper("s.in.note"))
    return orders.select(
        "oid",
        s.dropFields("item").alias("dropped"),
        s.dropFields("in.note", "qty").alias("inside"),
        replaced.alias("replaced"),
        replaced.dropFields("in", "qty").alias("one"),
        s.withField("in.note", F.col("status")).dropFields("item").alias("set_inside"),
        s.withField("extra", F.col("status")).withField("EXTRA", F.lit(1)).dropFields("in").alias("twice"),
        F.to_json(s.dropFields("in")).alias("text"),
        F.size(F.array(s.dropFields("in"), s.dropFields("in"))).alias("number"),
    )


@query
def fields_of_a_struct_in_one_expression(spark):
    s = F.struct("item", F.upper("note").alias("note"), F.col("qty").alias("n"))
    chosen = F.when(F.col("amount") > 50, s)
    return spark.table("orders").select(
        "oid",
        s.dropFields("item").alias("dropped"),
        s.withField("n", F.col("status")).alias("replaced"),
        chosen.dropFields("note").alias("chosen"),
        chosen.withField("n", F.lit(1)).dropFields("note", "item").alias("null_or_one"),
        F.coalesce(chosen, s).dropFields("note", "item").alias("coalesced"),
        chosen.isNull().alias("is_null"),
        s.dropFields("item").isNotNull().alias("never_null"),
    )


@query
def fields_of_a_struct_from_above(spark):
    orders = spark.table("orders")
    best = orders.groupBy("cust").agg(
        F.max_by(F.struct("item", "note"), "amount").alias("best"),
        F.first(F.struct("qty", "day")).alias("any"),
    )
    joined = spark.table("customers").join(best, F.col("cid") == F.col("cust"), "left")
    return joined.select(
        "cid",
        F.col("best").dropFields("item").alias("b"),
        F.col("best").withField("item", F.lit("x")).dropFields("note").alias("n"),
    )


@query
def structs_united_by_name(spark):
    orders = spark.table("orders").select(F.struct("item", "qty").alias("s"))
    items = spark.table("items").select(F.struct("stock", F.col("name").alias("item")).alias("s"))
    united = orders.unionByName(items, allowMissingColumns=True)
    return united.select(F.col("s").dropFields("qty").alias("s"), F.col("s.qty").alias("q"))
