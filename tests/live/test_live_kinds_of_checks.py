"""Shares of good rows, keys, ages, and expected or absent columns: these kinds of checks on real Spark."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from pathlib import Path

import pyspark
import pytest
from checks.spark_types import ACCEPTED, ACCEPTED_SINCE_SPARK_4, REFUSED

from airflow_provider_spark_lineage.spark.checks.checks import run, samples
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.freshness import moment_of_run
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks

pytestmark = pytest.mark.spark


def test_a_missing_value_is_neither_good_nor_bad_in_a_share(spark):
    """Of values, only those that are there are compared; a statement that is NULL is not good."""
    spark.createDataFrame([("a",), ("b",)], "k string").createOrReplaceTempView("known")
    frame = spark.createDataFrame([(s,) for s in ("a", "b", "a", "x", None, None, None, None)], "s string")
    rules = {
        "accepted_values": ["a", "b"],
        "matches": "[ab]",
        "references": {"table": "known", "column": "k"},
        "at_least": 0.75,
    }
    of_rows = {
        "is_known": {"check_statement": "s IN ('a', 'b')", "at_least": 0.75},
        "is_known_or_missing": {"check_statement": "s IN ('a', 'b') OR s IS NULL", "at_least": 0.875},
        "has_value": {"check_statement": "s IS NOT NULL", "at_least": 0.5},
    }
    clause = {"partition_clause": "s IS NULL OR s <> 'b'", "at_least": 0.7}
    checks = [
        *column_checks({"s": rules, "lower(s)": {"matches": {"regex": "[ab]", **clause}}}),
        *row_checks(of_rows),
    ]
    found = run(frame, checks).assertions
    assert [
        (each.name, each.success, each.actual, each.params["failing_rows"], each.params["rows"])
        for each in found
    ] == [
        ("s.accepted_values", True, "0.75", 1, 4),
        ("s.matches", True, "0.75", 1, 4),
        ("s.references", True, "0.75", 1, 4),
        ("lower(s).matches", False, "0.666666", 1, 3),
        ("is_known", False, "0.375", 5, 8),
        ("is_known_or_missing", True, "0.875", 1, 8),
        ("has_value", True, "0.5", 4, 8),
    ]
    assert {each.expected for each in found[:3]} == {">=0.75"}
    nothing = run(frame.where("s IS NULL"), column_checks({"s": rules})).assertions
    assert [(each.success, each.actual) for each in nothing] == [(True, "0 rows")] * 3
    [broken] = run(
        frame, row_checks({"own": {"check_statement": "company_rule(s)", "at_least": 0.5}})
    ).assertions
    assert (broken.success, broken.actual, broken.not_evaluated) == (False, None, "UNRESOLVED_ROUTINE")


def test_a_key_of_several_columns(spark):
    """A row with a missing part is not compared, as in SQL; samples are the keys that several rows have."""
    rows = [
        (1, "a", 1),
        (1, "b", 1),
        (1, "b", 2),
        (2, None, 1),
        (2, None, 1),
        (3, "c", 1),
        (3, "c", 1),
        (3, "c", 1),
    ]
    frame = spark.createDataFrame(rows, "n int, s string, t int").selectExpr(
        "*", "struct(n AS inner) AS outer"
    )
    keys = {
        "two": {"unique": ["n", "s"]},
        "three": {"unique": ["n", "S", "t"], "leq_to": 2},
        "one": {"unique": ["s"], "equal_to": 3, "severity": "warn"},
        "part": {"unique": ["n", "s"], "partition_clause": "n < 2 AND t = 1"},
        "inside": {"unique": ["outer.inner", "lower(s)"], "less_than": 4},
        "about": {"unique": ["n", "s"], "approximate": 0.01, "geq_to": 2, "leq_to": 4},
        "wrong": {"unique": ["n", "nothing"]},
    }
    checks = row_checks(keys)
    found = run(frame, checks).assertions
    assert [(each.name, each.success, each.actual, each.expected, each.not_evaluated) for each in found] == [
        ("two", False, "3", "0", ""),
        ("three", True, "2", "<=2", ""),
        ("one", True, "3", "3", ""),
        ("part", True, "0", "0", ""),
        ("inside", True, "3", "<4", ""),
        ("about", True, "3", ">=2, <=4", ""),
        ("wrong", False, None, "0", "UNRESOLVED_COLUMN"),
    ]
    assert found[0].content == "count(n, s) - count(DISTINCT n, s)"
    shown = {name: sorted(map(tuple, rows)) for name, rows in samples(frame, checks, found, 5)}
    assert shown == {"two": [(1, "b", 2), (3, "c", 3)]}


NEW_YEAR = "2026-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("value", "age"),
    [
        # The session is in Tokyo, nine hours before UTC.
        ("TIMESTAMP'2025-12-31 20:00:00 UTC'", "4 hours"),
        ("TIMESTAMP'2026-01-01 05:00:00'", "4 hours"),
        ("TIMESTAMP_NTZ'2026-01-01 05:00:00'", "4 hours"),
        ("DATE'2026-01-01'", "9 hours"),
        ("'2026-01-01 05:00:00'", "4 hours"),
        ("'2025-12-31T20:00:00Z'", "4 hours"),
        ("TIMESTAMP'2026-01-01 00:00:01 UTC'", "-1 second"),
        ("CAST(NULL AS TIMESTAMP)", "no value"),
    ],
)
def test_freshness_is_the_age_of_the_newest_value(spark, value, age):
    """A value without a zone is in the zone of the session. Without a value, nothing is fresh."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        frame = spark.sql(f"SELECT {value} AS t")
        given = {"t": {"freshness": {"within": "5 hours", "against": NEW_YEAR}}}
        for rows in (frame, frame.union(frame)):
            [found] = run(rows, column_checks(given, accept_none=True)).assertions
            is_fresh = age in ("4 hours", "-1 second")
            assert (found.success, found.actual, found.not_evaluated) == (is_fresh, age, "")
            assert not found.has_text_of_rows
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.mark.parametrize("value", ["1767225600", "1.5D", "true", "array(1)"])
def test_a_number_is_not_taken_for_a_time(spark, value):
    """Seconds or milliseconds since when? The column can be an expression that says it."""
    frame = spark.sql(f"SELECT {value} AS t")
    [found] = run(frame, column_checks({"t": {"freshness": "1 day"}})).assertions
    assert (found.success, found.not_evaluated) == (False, "DATATYPE_MISMATCH")
    of_time = {"timestamp_seconds(t)": {"freshness": {"within": "1 day", "against": NEW_YEAR}}}
    if value == "1767225600":
        [found] = run(frame, column_checks(of_time)).assertions
        assert (found.success, found.actual) == (True, "0 seconds")


def test_columns_are_compared_without_reading_a_row(spark, tmp_path, recorded):
    """Not one file of data is opened, and the dataset is known all the same."""
    path = str(tmp_path / "orders")
    spark.range(100).selectExpr(
        "id", "CAST(id AS decimal(10, 2)) AS price", "array(id) AS ids"
    ).write.parquet(path)
    frame = spark.read.parquet(path)
    for file in (tmp_path / "orders").glob("part-*"):
        file.write_bytes(b"not parquet")
    right = {"columns": {"id": "long", "price": "decimal(10,2)", "ids": "array<bigint>"}, "order": True}
    wrong = {"columns": {"id": "int", "day": "date", "price": None}}
    with recorded() as records:
        found = run(frame, row_checks({"right": right, "wrong": wrong}), of_dataset=path)
    assert [(each.name, each.success) for each in found.assertions] == [("right", True), ("wrong", False)]
    assert {each.column: each.actual for each in found.assertions[1].parts} == {
        "id": "bigint",
        "day": "absent",
        "ids": "array<bigint>",
    }
    [record] = records
    assert "orders" in str(record.to_json())
    assert found.metrics.rows is None


def test_an_absent_column_is_an_error_or_skipped(spark):
    """Only a column that is not there is skipped: a mistake in a clause or of a name in it stays an error."""
    frame = spark.createDataFrame([(1, "a")], "a int, s string").selectExpr("*", "struct(a AS b) AS t")
    skip = {"if_absent": "skip"}
    columns = {
        "gone": {"max": {"leq_to": 1, **skip}, "null_check": {"equal_to": 0}},
        "a": {"max": {"leq_to": 1, **skip}, "min": {"geq_to": 0, "partition_clause": "gone = 1", **skip}},
        "t.gone": {"max": {"leq_to": 1, **skip}},
        "t.b": {"max": {"leq_to": 1, **skip}},
        "lower(gone)": {"matches": {"regex": "a", **skip}},
        "GONE": {"references": {"table": "nowhere", "column": "a", **skip}},
    }
    rules = {
        "row": {"check_statement": "gone > 0 OR a > 0", **skip},
        "all": {"check_statement": "sum(gone) > 0", **skip},
        "here": {"check_statement": "a > 0", **skip},
        "clause": {"check_statement": "a > 0", "partition_clause": "gone = 1", **skip},
        "key": {"unique": ["a", "gone"], **skip},
        "function": {"check_statement": "company_rule(gone)", **skip},
    }
    found = run(frame, [*column_checks(columns), *row_checks(rules)]).assertions
    assert [each.name for each in found if each.is_skipped] == [
        "gone.max",
        "t.gone.max",
        "lower(gone).matches",
        "GONE.references",
        "row",
        "all",
        "key",
    ]
    assert {each.name for each in found if each.not_evaluated} == {
        "gone.null_check",
        "a.min",
        "clause",
        "function",
    }
    assert not [each.name for each in found if each.is_skipped and (each.fails_task or each.actual)]


ORDERS = """
SELECT 'DE' AS country, 7L AS id, CAST(5 AS DECIMAL(10, 2)) AS amount, 'new' AS status, 'Rome' AS city,
  TIMESTAMP'2025-12-31 20:00:00 UTC' AS loaded_at, 'Ann' AS customer, DATE'2025-12-31' AS day,
  1767223000000L AS sent_ms
"""
PAGE = Path(__file__).parents[2] / "docs" / "checks.md"
SECTIONS = re.split(r"^###? ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.airflow
@pytest.mark.parametrize(
    ("section", "results", "skipped"),
    [
        ("A share of good rows", {True: 5}, 0),
        ("The age of values", {True: 2, False: 1}, 0),
        ("Keys of several columns", {True: 2}, 0),
        ("Expected columns", {True: 1}, 0),
        ("Columns that may be absent", {True: 3}, 3),
    ],
)
def test_examples_of_the_page_have_results(spark, section, results, skipped):
    """Not one of their checks is refused by Spark."""
    from airflow.sdk import DAG

    spark.sql("CREATE OR REPLACE TEMPORARY VIEW countries AS SELECT 'DE' AS code")
    [text] = [each for each in SECTIONS if each.startswith(section)]
    [example] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    example = example.replace("{{ data_interval_start }}", NEW_YEAR).replace("gold.countries", "countries")
    with DAG("page") as dag:
        exec(example, {})  # noqa: S102
    moment = moment_of_run(datetime.datetime.fromisoformat(NEW_YEAR))
    found = [
        assertion
        for task in dag.tasks
        for assertion in run(
            spark.sql(ORDERS),
            [
                *column_checks(getattr(task, "column_mapping", {}), moment=moment),
                *row_checks(getattr(task, "checks", {})),
            ],
        ).assertions
    ]
    assert not [each for each in found if each.not_evaluated]
    assert Counter(each.success for each in found) == results
    assert sum(each.is_skipped for each in found) == skipped


def test_types_of_expected_columns_are_those_of_sparks_parser(spark):
    """A text that is accepted when a DAG is parsed is that type in Spark; Spark refuses the others, too."""
    known = dict(ACCEPTED)
    if not pyspark.__version__.startswith("3."):
        known |= ACCEPTED_SINCE_SPARK_4
    for text, form in known.items():
        assert spark.sql(f"SELECT typeof(CAST(NULL AS {text}))").head()[0].lower() == form, text
    for text in REFUSED:
        with pytest.raises(pyspark.errors.PySparkException):
            spark.sql(f"SELECT typeof(CAST(NULL AS {text}))").head()
