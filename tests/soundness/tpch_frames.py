"""The queries of TPC-H as DataFrame code; constants are wider than TPC-H's, because the data is small."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.functions import col

FRAMES: list[Callable[[SparkSession, Path], DataFrame]] = []

REVENUE: Callable[[], Column] = lambda: col("l_extendedprice") * (1 - col("l_discount"))  # noqa: E731


def query(make: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """Call it with a function from a table's name to its frame."""

    def run(spark: SparkSession, scratch: Path) -> DataFrame:
        return make(spark.table)

    run.__name__ = make.__name__
    FRAMES.append(run)
    return make


@query
def q01(t):
    shipped = t("lineitem").filter(col("l_shipdate") <= date(1998, 9, 2))
    sums = shipped.groupBy("l_returnflag", "l_linestatus").agg(
        F.sum("l_quantity").alias("sum_qty"),
        F.sum(REVENUE()).alias("sum_disc_price"),
        F.sum(REVENUE() * (1 + col("l_tax"))).alias("sum_charge"),
        F.avg("l_discount").alias("avg_disc"),
        F.count("*").alias("count_order"),
    )
    return sums.orderBy("l_returnflag", "l_linestatus")


@query
def q02(t):
    regions = t("region").filter(col("r_name") != "EUROPE")
    suppliers = (
        t("supplier")
        .join(t("nation"), col("s_nationkey") == col("n_nationkey"))
        .join(regions, col("n_regionkey") == col("r_regionkey"))
    )
    offers = t("partsupp").join(suppliers, col("ps_suppkey") == col("s_suppkey"))
    cheapest = offers.groupBy(col("ps_partkey").alias("key")).agg(F.min("ps_supplycost").alias("least"))
    parts = t("part").filter((col("p_size") < 25) & col("p_type").contains("E"))
    rows = (
        parts.join(offers, col("p_partkey") == col("ps_partkey"))
        .join(cheapest, (col("key") == col("p_partkey")) & (col("least") == col("ps_supplycost")))
        .select("s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_phone")
    )
    return rows.orderBy(F.desc("s_acctbal"), "n_name", "s_name", "p_partkey").limit(100)


@query
def q03(t):
    customers = t("customer").filter(col("c_mktsegment").isin("BUILDING", "MACHINERY"))
    orders = t("orders").filter(col("o_orderdate") < date(1996, 3, 15))
    items = t("lineitem").filter(col("l_shipdate") > date(1994, 3, 15))
    joined = customers.join(orders, col("c_custkey") == col("o_custkey")).join(
        items, col("l_orderkey") == col("o_orderkey")
    )
    grouped = joined.groupBy("l_orderkey", "o_orderdate", "o_shippriority")
    return grouped.agg(F.sum(REVENUE()).alias("revenue")).orderBy(F.desc("revenue"), "o_orderdate").limit(10)


@query
def q04(t):
    late = t("lineitem").filter(col("l_commitdate") < col("l_receiptdate"))
    orders = t("orders").filter(col("o_orderdate") >= date(1993, 7, 1))
    in_time = orders.join(late, col("l_orderkey") == col("o_orderkey"), "left_semi")
    return in_time.groupBy("o_orderpriority").agg(F.count("*").alias("n")).orderBy("o_orderpriority")


@query
def q05(t):
    regions = t("region").filter(col("r_name").isin("ASIA", "AMERICA", "AFRICA"))
    joined = (
        t("customer")
        .join(t("orders"), col("c_custkey") == col("o_custkey"))
        .join(t("lineitem"), col("l_orderkey") == col("o_orderkey"))
        .join(t("supplier"), col("l_suppkey") == col("s_suppkey"))
        .join(t("nation"), col("s_nationkey") == col("n_nationkey"))
        .join(regions, col("n_regionkey") == col("r_regionkey"))
        .filter(col("c_nationkey") % 5 == col("s_nationkey") % 5)
    )
    return joined.groupBy("n_name").agg(F.sum(REVENUE()).alias("revenue")).orderBy(F.desc("revenue"))


@query
def q06(t):
    selected = t("lineitem").filter(
        (col("l_shipdate") >= date(1994, 1, 1))
        & col("l_discount").between(0.03, 0.08)
        & (col("l_quantity") < 24)
    )
    return selected.agg(F.sum(col("l_extendedprice") * col("l_discount")).alias("revenue"))


@query
def q07(t):
    sellers = t("nation").select(col("n_nationkey").alias("k1"), col("n_name").alias("supp_nation"))
    buyers = t("nation").select(col("n_nationkey").alias("k2"), col("n_name").alias("cust_nation"))
    joined = (
        t("supplier")
        .join(t("lineitem"), col("s_suppkey") == col("l_suppkey"))
        .join(t("orders"), col("o_orderkey") == col("l_orderkey"))
        .join(t("customer"), col("c_custkey") == col("o_custkey"))
        .join(sellers, col("s_nationkey") == col("k1"))
        .join(buyers, col("c_nationkey") == col("k2"))
        .filter(col("supp_nation") < col("cust_nation"))
    )
    grouped = joined.groupBy("supp_nation", "cust_nation", F.year("l_shipdate").alias("y"))
    return grouped.agg(F.sum(REVENUE()).alias("revenue")).orderBy("supp_nation", "cust_nation", "y")


@query
def q08(t):
    nations = t("nation").select(col("n_nationkey").alias("k2"), col("n_name").alias("nation"))
    joined = (
        t("part")
        .filter(col("p_type").contains("S"))
        .join(t("lineitem"), col("p_partkey") == col("l_partkey"))
        .join(t("supplier"), col("s_suppkey") == col("l_suppkey"))
        .join(t("orders"), col("l_orderkey") == col("o_orderkey"))
        .join(t("customer"), col("o_custkey") == col("c_custkey"))
        .join(t("nation"), col("c_nationkey") == col("n_nationkey"))
        .join(
            t("region").filter(col("r_name").isin("AMERICA", "ASIA")),
            col("n_regionkey") == col("r_regionkey"),
        )
        .join(nations, col("s_nationkey") == col("k2"))
    )
    kenya = F.when(col("nation") == "KENYA", REVENUE()).otherwise(0)
    grouped = joined.groupBy(F.year("o_orderdate").alias("y"))
    return grouped.agg((F.sum(kenya) / F.sum(REVENUE())).alias("share")).orderBy("y")


@query
def q09(t):
    joined = (
        t("part")
        .filter(col("p_name").like("%e%"))
        .join(t("lineitem"), col("p_partkey") == col("l_partkey"))
        .join(t("supplier"), col("s_suppkey") == col("l_suppkey"))
        .join(
            t("partsupp"), (col("ps_suppkey") == col("l_suppkey")) & (col("ps_partkey") == col("l_partkey"))
        )
        .join(t("orders"), col("o_orderkey") == col("l_orderkey"))
        .join(t("nation"), col("s_nationkey") == col("n_nationkey"))
    )
    profit = REVENUE() - col("ps_supplycost") * col("l_quantity")
    grouped = joined.groupBy("n_name", F.year("o_orderdate").alias("y"))
    return grouped.agg(F.sum(profit).alias("profit")).orderBy("n_name", F.desc("y"))


@query
def q10(t):
    joined = (
        t("customer")
        .join(
            t("orders").filter(col("o_orderdate") >= date(1993, 10, 1)), col("c_custkey") == col("o_custkey")
        )
        .join(t("lineitem").filter(col("l_returnflag") == "R"), col("l_orderkey") == col("o_orderkey"))
        .join(t("nation"), col("c_nationkey") == col("n_nationkey"))
    )
    grouped = joined.groupBy("c_custkey", "c_name", "c_acctbal", "c_phone", "n_name")
    return grouped.agg(F.sum(REVENUE()).alias("revenue")).orderBy(F.desc("revenue")).limit(20)


@query
def q11(t):
    stock = (
        t("partsupp")
        .join(t("supplier"), col("ps_suppkey") == col("s_suppkey"))
        .join(t("nation").filter(col("n_name") != "PERU"), col("s_nationkey") == col("n_nationkey"))
        .withColumn("value", col("ps_supplycost") * col("ps_availqty"))
    )
    total = stock.agg((F.sum("value") * 0.005).alias("least"))
    values = stock.groupBy("ps_partkey").agg(F.sum("value").alias("v"))
    return (
        values.crossJoin(total).filter(col("v") > col("least")).select("ps_partkey", "v").orderBy(F.desc("v"))
    )


@query
def q12(t):
    items = t("lineitem").filter(
        col("l_shipmode").isin("MAIL", "SHIP")
        & (col("l_commitdate") < col("l_receiptdate"))
        & (col("l_shipdate") < col("l_commitdate"))
    )
    urgent = col("o_orderpriority").isin("1-URGENT", "2-HIGH")
    joined = t("orders").join(items, col("o_orderkey") == col("l_orderkey"))
    return (
        joined.groupBy("l_shipmode")
        .agg(
            F.sum(F.when(urgent, 1).otherwise(0)).alias("high"),
            F.sum(F.when(~urgent, 1).otherwise(0)).alias("low"),
        )
        .orderBy("l_shipmode")
    )


@query
def q13(t):
    orders = t("orders").filter(~col("o_comment").like("%special%"))
    counts = t("customer").join(orders, col("c_custkey") == col("o_custkey"), "left").groupBy("c_custkey")
    spread = counts.agg(F.count("o_orderkey").alias("n")).groupBy("n").agg(F.count("*").alias("customers"))
    return spread.orderBy(F.desc("customers"), F.desc("n"))


@query
def q14(t):
    joined = t("lineitem").join(t("part"), col("l_partkey") == col("p_partkey"))
    promo = F.when(col("p_type").like("PROMO%"), REVENUE()).otherwise(0)
    return joined.filter(col("l_shipdate") >= date(1995, 1, 1)).agg(
        (100.0 * F.sum(promo) / F.sum(REVENUE())).alias("promo")
    )


@query
def q15(t):
    revenue = (
        t("lineitem")
        .filter(col("l_shipdate") >= date(1996, 1, 1))
        .groupBy(col("l_suppkey").alias("supplier_no"))
        .agg(F.sum(REVENUE()).alias("total"))
    )
    best = revenue.agg(F.max("total").alias("best"))
    joined = t("supplier").join(revenue, col("s_suppkey") == col("supplier_no"))
    suppliers = joined.join(best, col("total") == col("best"))
    return suppliers.select("s_suppkey", "s_name", "s_address", "total").orderBy("s_suppkey")


@query
def q16(t):
    complained = t("supplier").filter(col("s_comment").like("%the%")).select("s_suppkey")
    parts = t("part").filter(
        (col("p_brand") != "Brand#45")
        & ~col("p_type").like("MEDIUM%")
        & col("p_size").isin(49, 14, 23, 45, 19, 3, 36, 9)
    )
    joined = parts.join(t("partsupp"), col("p_partkey") == col("ps_partkey")).join(
        complained, col("ps_suppkey") == col("s_suppkey"), "left_anti"
    )
    grouped = joined.groupBy("p_brand", (col("p_size") % 5).alias("size"))
    return grouped.agg(F.countDistinct("ps_suppkey").alias("n")).orderBy(F.desc("n"), "p_brand", "size")


@query
def q17(t):
    parts = t("part").filter((col("p_brand") < "Brand#40") & col("p_container").contains("B"))
    average = (
        t("lineitem").groupBy(col("l_partkey").alias("key")).agg((F.avg("l_quantity") * 0.7).alias("limit"))
    )
    joined = (
        t("lineitem")
        .join(parts, col("l_partkey") == col("p_partkey"))
        .join(average, col("key") == col("p_partkey"))
        .filter(col("l_quantity") < col("limit"))
    )
    return joined.agg((F.sum("l_extendedprice") / 7.0).alias("yearly"))


@query
def q18(t):
    large = t("lineitem").groupBy(col("l_orderkey").alias("key")).agg(F.sum("l_quantity").alias("q"))
    joined = (
        t("customer")
        .join(t("orders"), col("c_custkey") == col("o_custkey"))
        .join(large.filter(col("q") > 150), col("o_orderkey") == col("key"), "left_semi")
        .join(t("lineitem"), col("o_orderkey") == col("l_orderkey"))
    )
    grouped = joined.groupBy("c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice")
    sums = grouped.agg(F.sum("l_quantity").alias("quantity"))
    return sums.orderBy(F.desc("o_totalprice"), "o_orderdate").limit(100)


@query
def q19(t):
    joined = t("lineitem").join(t("part"), col("p_partkey") == col("l_partkey"))
    small = (
        (col("p_brand") < "Brand#33")
        & col("p_container").like("SM%")
        & col("l_quantity").between(1, 31)
        & col("l_shipmode").isin("AIR", "RAIL")
    )
    large = (
        (col("p_brand") > "Brand#33")
        & (col("l_quantity") >= 10)
        & (col("l_shipinstruct") == "DELIVER IN PERSON")
    )
    return joined.filter(small | large).agg(F.sum(REVENUE()).alias("revenue"))


@query
def q20(t):
    parts = t("part").filter(col("p_name").like("f%"))
    sold = (
        t("lineitem")
        .filter(col("l_shipdate") >= date(1994, 1, 1))
        .groupBy(col("l_partkey").alias("part"), col("l_suppkey").alias("supplier"))
        .agg((F.sum("l_quantity") * 50).alias("much"))
    )
    stocked = (
        t("partsupp")
        .join(parts, col("ps_partkey") == col("p_partkey"), "left_semi")
        .join(sold, (col("part") == col("ps_partkey")) & (col("supplier") == col("ps_suppkey")))
        .filter(col("ps_availqty") > col("much"))
    )
    nations = t("nation").filter(col("n_name") != "KENYA")
    names = t("supplier").join(stocked, col("s_suppkey") == col("ps_suppkey"), "left_semi")
    named = names.join(nations, col("s_nationkey") == col("n_nationkey"))
    return named.select("s_name", "s_address").orderBy("s_name")


@query
def q21(t):
    items = t("lineitem")
    suppliers = items.groupBy(col("l_orderkey").alias("k1")).agg(F.countDistinct("l_suppkey").alias("n1"))
    late = items.filter(col("l_receiptdate") > col("l_commitdate"))
    late_ones = late.groupBy(col("l_orderkey").alias("k2")).agg(F.countDistinct("l_suppkey").alias("n2"))
    joined = (
        late.join(suppliers.filter("n1 > 1"), col("l_orderkey") == col("k1"))
        .join(late_ones.filter("n2 = 1"), col("l_orderkey") == col("k2"))
        .join(t("orders").filter(col("o_orderstatus") == "F"), col("o_orderkey") == col("l_orderkey"))
        .join(t("supplier"), col("s_suppkey") == col("l_suppkey"))
        .join(t("nation").filter(col("n_name") != "PERU"), col("s_nationkey") == col("n_nationkey"))
    )
    return joined.groupBy("s_name").agg(F.count("*").alias("n")).orderBy(F.desc("n"), "s_name").limit(100)


@query
def q22(t):
    customers = t("customer").withColumn("code", F.substring("c_phone", 1, 2))
    some = customers.filter(F.substring("c_phone", 1, 1).isin("1", "2", "3"))
    average = some.filter(col("c_acctbal") > 0).agg(F.avg("c_acctbal").alias("average"))
    rich = some.crossJoin(average).filter(col("c_acctbal") > col("average"))
    silent = rich.join(t("orders"), col("o_custkey") == col("c_custkey"), "left_anti")
    grouped = silent.groupBy("code").agg(F.count("*").alias("n"), F.sum("c_acctbal").alias("total"))
    return grouped.orderBy("code")
