"""Steps that a program may put between `check` and a write, and what must be known of the written rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType
from pyspark.sql.window import Window

from airflow_provider_spark_lineage.checks import check
from airflow_provider_spark_lineage.spark.checks.checks import run
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.in_flight import SOME
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks

ALL, SORTED, PART, NOTHING = "all", "sorted", "part", "nothing"
"""What must be known: every result; those that do not change if rows are counted twice; that no row breaks a
rule; nothing."""

ROWS = 60
ZERO = {"equal_to": 0}
COLUMNS = {
    "s": {"null_check": ZERO, "matches": "^[a-c]$", "accepted_values": ["a", "b"], "min": {"geq_to": "a"}},
    "v": {
        "null_check": ZERO,
        "min": {"geq_to": 1},
        "max": {"leq_to": 50},
        "sum": {"geq_to": 0},
        "mean": {"leq_to": 1000},
        "distinct_check": {"equal_to": ROWS, "approximate": 0.01},
    },
    "k": {
        "null_check": {"leq_to": 5},
        "max": {"leq_to": 3},
        "accepted_values": {"values": [0, 1, 2], "at_least": 0.7},
    },
    "v * 2": {"max": {"leq_to": 1000}},
    "timestamp_seconds(v)": {"freshness": {"within": "30 seconds", "against": "1970-01-01T00:01:20Z"}},
}
RULES = {
    "positive": "v > 0",
    "small": "v < 50",
    "both": {"check_statement": "v > 0", "partition_clause": "s = 'a'"},
    "row_count": f"count(*) = {ROWS}",
    "total": "sum(v) > 0 AND max(k) < 9",
    "most_are_small": {"check_statement": "v < 50", "at_least": 0.8},
}
OF_NO_BROKEN_ROW = {
    "s.null_check",
    "s.matches",
    "v.null_check",
    "k.null_check",
    "positive",
    "both",
}
"""Checks that no row of `rows` breaks."""

TWICE = OF_NO_BROKEN_ROW | {
    "s.min",
    "s.accepted_values",
    "v.min",
    "v.max",
    "v.distinct_check",
    "k.max",
    "v * 2.max",
    "timestamp_seconds(v).freshness",
    "small",
}
"""Checks whose result a second count does not change."""


def rows(spark: SparkSession) -> DataFrame:
    """Return the checked rows: `v` is 1 to 60, `s` is a, b or c, `k` is 0 to 3."""
    return spark.range(1, ROWS + 1, 1, 3).selectExpr(
        "id AS v",
        "element_at(array('a', 'b', 'c'), CAST(id % 3 AS INT) + 1) AS s",
        "CAST(id % 4 AS INT) AS k",
    )


def others(spark: SparkSession) -> DataFrame:
    """Return rows that break rules, most of them."""
    return spark.sql(
        "SELECT * FROM VALUES (-5L, NULL, 7), (3L, 'a', 3), (99L, 'z', NULL), (NULL, 'b', 1) AS t(v, s, k)"
    )


class Step(NamedTuple):
    """One way to go on after `check`."""

    name: str
    known: str
    take: Callable[[DataFrame], DataFrame]
    changed: frozenset[str] = frozenset()
    """Columns whose checks have no result."""


STEPS: list[Step] = []


def _steps(known: str, *changed: str, **takes: Callable[[DataFrame], DataFrame]) -> None:
    STEPS.extend(Step(name, known, take, frozenset(changed)) for name, take in takes.items())


def _text(query: str) -> Callable[[DataFrame], DataFrame]:
    """Return a step that is a query of the view `checked`."""

    def take(frame: DataFrame) -> DataFrame:
        frame.createOrReplaceTempView("checked")
        others(frame.sparkSession).createOrReplaceTempView("others")
        return frame.sparkSession.sql(query)

    return take


def _other(frame: DataFrame) -> DataFrame:
    return others(frame.sparkSession)


@sf.udf(LongType())
def _plus_one(value: int) -> int:
    return value + 1


_steps(
    ALL,
    nothing=lambda frame: frame,
    repartition=lambda frame: frame.repartition(2),
    repartition_by_column=lambda frame: frame.repartition(2, "k"),
    coalesce=lambda frame: frame.coalesce(1),
    sort_within_partitions=lambda frame: frame.sortWithinPartitions("v"),
    new_column=lambda frame: frame.withColumn("w", sf.col("v") + 1),
    column_of_a_function=lambda frame: frame.withColumn("w", _plus_one("v")),
    window=lambda frame: frame.withColumn("w", sf.sum("v").over(Window.partitionBy("k"))),
    other_order=lambda frame: frame.select("k", "s", "v"),
    same_names=lambda frame: frame.toDF(*frame.columns),
    hint=lambda frame: frame.hint("broadcast"),
    rebalance=lambda frame: frame.hint("rebalance"),
    alias=lambda frame: frame.alias("a"),
    transform=lambda frame: frame.transform(lambda each: each.withColumn("w", sf.lit(1))),
    wider_type=lambda frame: frame.withColumn("k", sf.col("k").cast("bigint")),
    subquery_as_column=_text("SELECT *, (SELECT max(v) FROM others) AS w FROM checked"),
    exists_as_column=_text("SELECT *, EXISTS (SELECT 1 FROM others o WHERE o.k = c.k) AS w FROM checked c"),
    view=_text("SELECT * FROM checked"),
    cte=_text("WITH one AS (SELECT s, v, k FROM checked) SELECT * FROM one"),
    two_ctes=_text("WITH one AS (SELECT * FROM checked), two AS (SELECT k, v, s FROM one) SELECT * FROM two"),
    explicit_filter_of_nothing=lambda frame: frame.where("v > 0"),
    large_limit=lambda frame: frame.limit(1000),
    distinct_of_distinct_rows=lambda frame: frame.distinct(),
    another_check=lambda frame: check(frame, rows={"again": "v > 0"}, severity="warn"),
    new_column_and_repartition=lambda frame: frame.withColumn("w", sf.lit(1)).repartition(3).drop("w"),
)
_steps(
    SORTED,
    sort=lambda frame: frame.orderBy("s", "v"),
    partitions_by_range=lambda frame: frame.repartitionByRange(2, "v"),
    sort_of_a_query=_text("SELECT * FROM checked ORDER BY s, v"),
)
_steps(
    PART,
    filter=lambda frame: frame.where("v > 20"),
    filter_by_a_function=lambda frame: frame.where(_plus_one("v") > 30),
    limit=lambda frame: frame.limit(7),
    sorted_limit=lambda frame: frame.orderBy(sf.desc("v")).limit(7),
    offset=lambda frame: frame.offset(50),
    sample=lambda frame: frame.sample(0.5, seed=1),
    random_split=lambda frame: frame.randomSplit([0.5, 0.5], seed=2)[0],
    sample_by=lambda frame: frame.sampleBy("k", {0: 1.0, 1: 0.5}, seed=3),
    drop_duplicates=lambda frame: frame.dropDuplicates(["k"]),
    drop_missing=lambda frame: frame.withColumn("w", sf.expr("nullif(v, 3)")).na.drop(),
    semi_join=lambda frame: frame.join(_other(frame), "k", "left_semi"),
    anti_join=lambda frame: frame.join(_other(frame), "k", "left_anti"),
    is_in_subquery=_text("SELECT * FROM checked WHERE k IN (SELECT k FROM others)"),
    exists=_text("SELECT * FROM checked c WHERE NOT EXISTS (SELECT 1 FROM others o WHERE o.k = c.k)"),
    intersect=lambda frame: frame.intersect(rows(frame.sparkSession).where("v < 30")),
    subtract=lambda frame: frame.subtract(rows(frame.sparkSession).where("v < 30")),
    except_all=lambda frame: frame.exceptAll(rows(frame.sparkSession).where("v < 30")),
    first_of_a_window=_text(
        "SELECT v, s, k FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM checked)"
        " WHERE n = 1"
    ),
    filter_of_a_cte=_text("WITH one AS (SELECT * FROM checked) SELECT * FROM one WHERE v > 20 LIMIT 30"),
)
_steps(
    NOTHING,
    union=lambda frame: frame.union(_other(frame)),
    union_from_the_right=lambda frame: _other(frame).union(frame),
    union_by_name=lambda frame: frame.unionByName(_other(frame).select("k", "v", "s")),
    union_with_itself=lambda frame: frame.union(frame),
    union_of_parts=lambda frame: frame.where("v < 9").union(frame.where("v >= 9")),
    self_join=lambda frame: frame.join(frame.select("v", sf.col("k").alias("k2")), "v"),
    inner_join=lambda frame: frame.join(_other(frame).select("k", sf.lit(1).alias("w")), "k"),
    left_join=lambda frame: frame.join(_other(frame).select("k", sf.lit(1).alias("w")), "k", "left"),
    right_join=lambda frame: frame.join(_other(frame).select("k", sf.lit(1).alias("w")), "k", "right"),
    full_join=lambda frame: frame.join(_other(frame).select("k", sf.lit(1).alias("w")), "k", "full"),
    cross_join=lambda frame: frame.crossJoin(frame.sparkSession.range(2)),
    semi_join_from_the_right=lambda frame: _other(frame).join(frame, "k", "left_semi"),
    anti_join_from_the_right=lambda frame: _other(frame).join(frame, "v", "left_anti"),
    lateral=_text("SELECT c.*, o.n FROM checked c, LATERAL (SELECT count(*) AS n FROM others) o"),
    intersect_from_the_right=lambda frame: _other(frame).intersect(frame),
    subtract_from_the_right=lambda frame: _other(frame).subtract(frame),
    explode=lambda frame: frame.withColumn("w", sf.explode(sf.array(sf.lit(1), sf.lit(2)))),
    lateral_view=_text("SELECT * FROM checked LATERAL VIEW explode(sequence(1, k)) AS w"),
    aggregate=lambda frame: frame.groupBy("s").agg(sf.sum("v").alias("v"), sf.max("k").alias("k")),
    rollup=lambda frame: frame.rollup("s", "k").agg(sf.max("v").alias("v")),
    pivot=lambda frame: frame.groupBy("s", "v").pivot("k", [0, 1]).count().withColumn("k", sf.lit(1)),
    unpivot=lambda frame: frame.unpivot(["s"], [sf.col("v"), sf.col("k").cast("long")], "k", "v"),
    map_in_pandas=lambda frame: frame.mapInPandas(lambda batches: batches, frame.schema),
    map_in_arrow=lambda frame: frame.mapInArrow(lambda batches: batches, frame.schema),
    groups_in_pandas=lambda frame: frame.groupBy("k").applyInPandas(lambda group: group, frame.schema),
    sample_with_replacement=lambda frame: frame.sample(True, 1.0, seed=4),
    sample_with_replacement_of_a_limit=lambda frame: frame.sample(True, 2.0, seed=4).limit(ROWS),
    cte_read_twice=_text(
        "WITH one AS (SELECT * FROM checked) SELECT * FROM one UNION ALL SELECT -v, s, k FROM one"
    ),
    in_a_subquery=_text("SELECT o.* FROM others o WHERE o.v < (SELECT max(v) FROM checked) OR o.v IS NULL"),
    checkpoint=lambda frame: frame.localCheckpoint(),
    rows_of_an_rdd=lambda frame: frame.sparkSession.createDataFrame(frame.rdd, frame.schema),
)
_steps(
    ALL,
    "v",
    negated=lambda frame: frame.withColumn("v", -sf.col("v")),
    narrower_type=lambda frame: frame.withColumn("v", (sf.col("v")).cast("string").cast("bigint")),
    left_out=lambda frame: frame.drop("v"),
    by_a_function=lambda frame: frame.withColumn("v", _plus_one("v")),
    by_a_window=lambda frame: frame.withColumn("v", sf.lag("v").over(Window.orderBy("v"))),
    another_under_its_name=lambda frame: frame.select(
        "s", "k", sf.col("k").cast("long").alias("v"), sf.col("v").alias("w")
    ),
)
_steps(
    ALL,
    "s",
    filled=lambda frame: frame.fillna("x", subset=["s"]),
    removed_values=lambda frame: frame.withColumn("s", sf.expr("nullif(s, 'a')")),
    replaced=lambda frame: frame.replace("a", "z", "s"),
    upper_in_a_view=_text("SELECT upper(s) AS s, v, k FROM checked"),
)
_steps(ALL, "s", "k", swapped=lambda frame: frame.selectExpr("CAST(k AS STRING) AS s", "v", "length(s) AS k"))
_steps(PART, "v", negated_part=lambda frame: frame.where("v > 20").withColumn("v", -sf.col("v")))


def needs(name: str) -> frozenset[str]:
    """Return the columns that a check needs, by its name."""
    known = {
        "v * 2.max": "v",
        "timestamp_seconds(v).freshness": "v",
        "most_are_small": "v",
        "positive": "v",
        "small": "v",
        "both": "vs",
        "row_count": "",
        "total": "vk",
    }
    return frozenset(known.get(name, name[0]))


def missing_results(step: Step, known: set[str], *, counts_samples: bool) -> set[str]:
    """Return the names of the checks that must have a result after a step, and have none."""
    names = {f"{column}.{name}" for column, checks in COLUMNS.items() for name in checks} | set(RULES)
    of_sorted = TWICE if counts_samples else names
    must = {ALL: names, SORTED: of_sorted, PART: OF_NO_BROKEN_ROW, NOTHING: set()}[step.known]
    return {name for name in must if not needs(name) & step.changed} - known


def unexpected_results(step: Step, known: set[str]) -> set[str]:
    """Return the names of the checks that have a result although the step changes their rows or columns."""
    return {name for name in known if step.known == NOTHING or needs(name) & step.changed}


def false_results(assertions, written: DataFrame) -> list[str]:
    """Return the results that a computation over the written rows does not confirm."""
    for each in assertions:
        # A column that has another name now.
        first = each.name.partition(".")[0]
        if each.column and not each.not_evaluated and each.column != first:
            written = written.withColumnRenamed(each.column, first)
    checks = [*column_checks(COLUMNS), *row_checks(RULES, accept_none=True)]
    right = {each.name: each for each in run(written, checks).assertions}
    wrong = []
    for each in assertions:
        truth = right[each.name]
        is_same = each.actual == truth.actual or (each.actual == SOME and truth.actual not in ("0", None))
        # No row was broken where the check counted, and none was there at the end.
        is_same |= (each.actual, truth.actual) == ("0", "0 rows")
        if not each.not_evaluated and (each.success != truth.success or not is_same):
            wrong.append(f"{each.name}: {each.success} {each.actual}, not {truth.success} {truth.actual}")
    return wrong
