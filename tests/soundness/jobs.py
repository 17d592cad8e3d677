"""Jobs that write tables, views and folders, and read them back; their result is the folder `out`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

JOBS: list[Callable[[SparkSession, Path], None]] = []


def job(run: Callable[[SparkSession, Path], None]) -> Callable[[SparkSession, Path], None]:
    JOBS.append(run)
    return run


def make(spark: SparkSession, name: str, columns: str, rest: str = "") -> None:
    """Create an empty table."""
    spark.sql(f"drop table if exists {name}")
    spark.sql(f"create table {name} ({columns}) using parquet {rest}")


@job
def insert_into_partitions(spark, scratch):
    make(spark, "t", "a bigint, b string, p int", "partitioned by (p)")
    spark.sql("insert into t partition (p = 1) select oid, item from orders where qty > 3")
    spark.sql("insert into t select cid, city, tier from customers where tier is not null")
    grouped = spark.table("t").groupBy("p").agg(F.max("b").alias("b"), F.count("*").alias("n"))
    grouped.write.parquet(f"{scratch}/out")
    spark.sql("drop table t")


@job
def create_as_select(spark, scratch):
    spark.sql("drop table if exists t")
    sums = "select cust, sum(amount) as s from orders group by cust"
    spark.sql(f"create table t using parquet as {sums}")
    spark.sql(
        "insert overwrite t select cust, s * 2 from (select cust, count(item) as s from orders group by cust)"
    )
    joined = spark.table("t").join(spark.table("customers"), F.expr("cust = cid")).select("s", "city")
    joined.write.parquet(f"{scratch}/out")
    spark.sql("drop table t")


@job
def intermediate_folders(spark, scratch):
    spark.table("orders").filter("qty > 1").write.parquet(f"{scratch}/one")
    sums = spark.read.parquet(f"{scratch}/one").groupBy("item").agg(F.sum("amount").alias("s"))
    sums.write.mode("append").parquet(f"{scratch}/two")
    spark.read.parquet(f"{scratch}/two").write.parquet(f"{scratch}/out")


@job
def partitioned_folder(spark, scratch):
    orders = spark.table("orders").select("oid", "amount", "item")
    orders.write.partitionBy("item").parquet(f"{scratch}/parts")
    some = spark.read.parquet(f"{scratch}/parts").where("item in ('pen', 'ink')").select("oid", "item")
    some.write.parquet(f"{scratch}/out")


@job
def insert_by_name(spark, scratch):
    make(spark, "t", "a bigint, b string default 'x', n double")
    spark.sql("insert into t by name select amount as n, oid as a from orders where status is not null")
    spark.sql("insert into t (b, a) select city, cid from customers")
    spark.table("t").write.parquet(f"{scratch}/out")
    spark.sql("drop table t")


@job
def several_inserts(spark, scratch):
    make(spark, "t", "a bigint")
    make(spark, "u", "a string")
    spark.sql(
        "from orders insert into t select oid where qty > 4 insert overwrite u select item where amount < 50"
    )
    spark.table("t").write.parquet(f"{scratch}/out")
    spark.sql("drop table t")
    spark.sql("drop table u")


@job
def script(spark, scratch):
    make(spark, "t", "a bigint, s double")
    spark.conf.set("spark.sql.scripting.enabled", "true")
    spark.sql(
        "begin declare k int default 2; insert into t select oid, amount * k from orders where qty > k;"
        " insert into t select cid, tier from customers where city = 'Rome'; end"
    )
    spark.table("t").write.parquet(f"{scratch}/out")
    spark.sql("drop table t")


@job
def checkpoint_of_a_semi_join(spark, scratch):
    items = spark.table("items")
    checkpoint = (
        spark.table("orders").join(items, F.col("item") == F.col("name"), "left_semi").localCheckpoint()
    )
    checkpoint.select(F.lit(1).alias("one"), "oid").write.parquet(f"{scratch}/out")


@job
def cached_view(spark, scratch):
    spark.table("orders").select("oid", "cust", "amount").cache().createOrReplaceTempView("some")
    spark.sql("cache table best as select cust, max(amount) as m from some group by cust")
    spark.sql("select m, cname from best join customers on cust = cid").write.parquet(f"{scratch}/out")
    spark.sql("drop view best")


@job
def self_overwrite(spark, scratch):
    make(spark, "t", "a bigint, s double")
    spark.sql("insert into t select oid, amount from orders where qty > 2")
    again = spark.table("t").filter("a % 2 = 0").selectExpr("a", "s * 2 as s").localCheckpoint()
    again.write.insertInto("t", overwrite=True)
    spark.sql("insert into t select max(a), sum(s) from t")
    spark.table("t").write.parquet(f"{scratch}/out")
    spark.sql("drop table t")


@job
def overwritten_by_another(spark, scratch):
    spark.table("orders").select("oid", "item").write.parquet(f"{scratch}/one")
    spark.table("items").select(F.col("stock").alias("oid"), "name").write.mode("overwrite").parquet(
        f"{scratch}/one"
    )
    spark.read.parquet(f"{scratch}/one").write.parquet(f"{scratch}/out")


@job
def kept_before_an_overwrite(spark, scratch):
    spark.table("orders").select("oid", "item").write.parquet(f"{scratch}/one")
    before = spark.read.parquet(f"{scratch}/one").localCheckpoint()
    stock = spark.table("items").select(F.col("stock").alias("oid"), F.col("name").alias("item"))
    stock.write.mode("overwrite").parquet(f"{scratch}/one")
    now = spark.read.parquet(f"{scratch}/one")
    compared = before.join(now, before.item == now.item, "left").select(before.oid, now.oid.alias("stock"))
    compared.write.parquet(f"{scratch}/out")


@job
def variable_before_an_overwrite(spark, scratch):
    make(spark, "t", "a double")
    spark.sql("insert into t select amount from orders")
    spark.sql("declare or replace variable largest double")
    spark.sql("set var largest = (select max(a) from t)")
    spark.sql("insert overwrite t select tier from customers")
    spark.sql("select a, largest as b from t").write.parquet(f"{scratch}/out")
    spark.sql("drop table t")


@job
def appended_in_a_loop(spark, scratch):
    for table, column in (("orders", "item"), ("customers", "city"), ("items", "name")):
        spark.table(table).select(F.col(column).alias("x")).write.mode("append").parquet(f"{scratch}/all")
    spark.read.parquet(f"{scratch}/all").distinct().write.parquet(f"{scratch}/out")


@job
def dynamic_partitions(spark, scratch):
    spark.table("orders").selectExpr("oid", "amount", "qty").write.partitionBy("qty").parquet(
        f"{scratch}/parts"
    )
    again = spark.table("orders").filter("qty = 3").selectExpr("oid", "0.0 as amount", "qty")
    writer = again.write.mode("overwrite").option("partitionOverwriteMode", "dynamic")
    writer.partitionBy("qty").parquet(f"{scratch}/parts")
    spark.read.parquet(f"{scratch}/parts").groupBy("qty").agg(F.sum("amount").alias("s")).write.parquet(
        f"{scratch}/out"
    )


@job
def one_partition_overwritten(spark, scratch):
    make(spark, "t", "a bigint, b string, p int", "partitioned by (p)")
    spark.sql("insert into t select cid, city, tier from customers")
    spark.sql("insert overwrite t partition (p = 1) select oid, item from orders where amount > 50")
    spark.table("t").select("a", "b").write.parquet(f"{scratch}/out")
    spark.sql("drop table t")


@job
def partitions_of_rows_overwritten(spark, scratch):
    make(spark, "t", "a bigint, b string, p int", "partitioned by (p)")
    spark.sql("insert into t select cid, city, tier from customers")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        spark.sql("insert overwrite t select oid, item, qty * 2 from orders")
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    spark.table("t").select("a", "b").write.parquet(f"{scratch}/out")
    spark.sql("drop table t")


@job
def text_between(spark, scratch):
    spark.table("orders").select("oid", "item", "amount").write.csv(f"{scratch}/text", header=True)
    read = spark.read.csv(f"{scratch}/text", header=True, schema="oid long, item string, amount double")
    read.filter("amount > 10").write.parquet(f"{scratch}/out")


@job
def json_between(spark, scratch):
    spark.table("orders").select("oid", F.struct("item", "qty").alias("s")).write.json(f"{scratch}/text")
    read = spark.read.schema("oid long, s struct<item: string, qty: int>").json(f"{scratch}/text")
    read.select("oid", "s.qty").write.parquet(f"{scratch}/out")


@job
def view_over_files(spark, scratch):
    spark.table("orders").select("oid", "item", "amount").write.parquet(f"{scratch}/one")
    columns = "oid bigint, item string, amount double"
    spark.sql(f"create table one ({columns}) using parquet location '{scratch}/one'")
    spark.sql("create or replace view v as select item, sum(amount) as s from one group by item")
    spark.table("v").filter("s > 100").write.parquet(f"{scratch}/out")
    spark.sql("drop view v")
    spark.sql("drop table one")
