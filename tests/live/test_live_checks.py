"""Checks that ride on a write: what they find is true of the written rows, or they have no result."""

from __future__ import annotations

import datetime
import logging
from decimal import Decimal

import check_steps
import pytest
from checked_rows import COLUMNS, COUNTS_SAMPLES, NO_RESULT, ROWS, RULES, ZERO, checked, results
from gap_kinds import gap_kinds

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.checks import check

pytestmark = pytest.mark.spark


RIGHT = {
    "id.null_check": (True, "0"),
    "id.min": (True, "0"),
    "id.max": (False, "999"),
    "id.sum": (True, "499500"),
    "positive": (True, "0"),
    "even": (False, "500"),
    "row_count": (True, str(ROWS)),
}


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda frame, path: frame.write.parquet(path), id="plain"),
        pytest.param(
            lambda frame, path: frame.write.option("path", path).saveAsTable("checked_table"), id="table"
        ),
        pytest.param(lambda frame, path: frame.write.partitionBy("part").csv(path), id="partitioned"),
        pytest.param(lambda frame, path: frame.repartition(3).write.parquet(path), id="repartitioned"),
        pytest.param(
            lambda frame, path: frame.sortWithinPartitions("id").write.json(path), id="sorted parts"
        ),
    ],
)
def test_counts_are_those_of_the_written_rows(spark, rows, tmp_path, write):
    """Also where a command writes the frame inside of another one."""
    found, captured = checked(spark, rows, lambda frame: write(frame, str(tmp_path / "out")))
    spark.sql("DROP TABLE IF EXISTS checked_table")
    assert results(found) == RIGHT
    assert captured.lineage.gaps == ()
    [findings] = captured.findings
    assert findings.output == ("file", str(tmp_path / "out"))
    assert (findings.metrics.rows, findings.metrics.columns["id"].sum) == (ROWS, 499500)


@pytest.mark.parametrize("sorts", [False, True])
def test_a_cached_frame_is_counted_once(spark, rows, tmp_path, sorts):
    """It is measured while it fills the cache, and not again: a sort samples the cache."""

    def write(frame):
        frame = frame.cache()
        frame.count()
        (frame.orderBy("id") if sorts else frame).write.parquet(str(tmp_path / "out"))
        frame.unpersist()

    found, _ = checked(spark, rows, write)
    assert results(found) == RIGHT


@pytest.mark.parametrize(
    "order", [lambda frame: frame.orderBy("id"), lambda frame: frame.repartitionByRange(3, "id")]
)
def test_a_sorted_frame_is_counted_twice_and_its_counts_are_not_used(spark, rows, tmp_path, order):
    """A sort samples its input. What a second count cannot change stands; all else is a gap."""
    found, captured = checked(spark, rows, lambda frame: order(frame).write.parquet(str(tmp_path / "out")))
    [findings], gaps = captured.findings, captured.lineage.gaps
    if not COUNTS_SAMPLES:
        assert (results(found), gaps, findings.metrics.rows) == (RIGHT, (), ROWS)
        return
    assert results(found) == {**RIGHT, "id.sum": None, "even": (False, "at least 1"), "row_count": None}
    assert gap_kinds(captured.lineage) == [NO_RESULT]
    assert findings.metrics.rows is None


@pytest.mark.parametrize(
    "change", [lambda frame: frame.limit(10), lambda frame: frame.where("id < 10")], ids=["limit", "filter"]
)
def test_only_the_absence_of_failing_rows_is_known_of_a_part(spark, rows, tmp_path, change):
    """What no counted row has, no written row has; a smallest value may be in a row that is not written."""
    found, captured = checked(spark, rows, lambda frame: change(frame).write.parquet(str(tmp_path / "out")))
    known = {name: result for name, result in results(found).items() if result is not None}
    assert {name: RIGHT[name] for name in ("id.null_check", "positive")}.items() <= known.items()
    assert all(actual == "0" for _, actual in known.values())
    assert {"id.min", "id.sum", "row_count"}.isdisjoint(known)
    assert gap_kinds(captured.lineage) == [NO_RESULT]


@pytest.mark.parametrize("step", check_steps.STEPS, ids=[each.name for each in check_steps.STEPS])
def test_after_a_step_a_result_is_true_of_the_written_rows_or_missing(spark, tmp_path, step):
    """What must be known is known: a check that never has a result would be right, too."""
    path = str(tmp_path / "out")
    frame = check_steps.rows(spark)
    with capture_lineage(spark) as captured:
        checked = check(frame, columns=check_steps.COLUMNS, rows=check_steps.RULES, severity="warn")
        step.take(checked).write.parquet(path)
    found = [each for each in captured.checks if each.name != "again"]
    assert check_steps.false_results(found, spark.read.parquet(path)) == []
    known = {each.name for each in found if not each.not_evaluated}
    assert check_steps.missing_results(step, known, counts_samples=COUNTS_SAMPLES) == set()
    assert check_steps.unexpected_results(step, known) == set()
    has_gap = NO_RESULT in gap_kinds(captured.lineage)
    assert has_gap == (not found or any(each.not_evaluated for each in found))


def test_an_insert_may_cast_and_rename_columns(spark, rows):
    """A long fits into an integer, or the insert fails; a text is another value than its number."""
    spark.sql("DROP TABLE IF EXISTS narrow")
    spark.sql("CREATE TABLE narrow (key INT, part STRING) USING parquet")
    found, captured = checked(
        spark,
        rows.select("id", "part"),
        lambda frame: frame.write.insertInto("narrow"),
        columns={**COLUMNS, "part": {"max": {"leq_to": 2}}},
    )
    spark.sql("DROP TABLE narrow")
    of_rules = {"positive": None, "even": None}
    assert results(found) == {**RIGHT, "part.max": None, **of_rules}
    assert {each.column for name, each in found.items() if name.startswith("id.")} == {"key"}
    assert found["part.max"].not_evaluated == "after check(), `part` is changed or left out (Project)"
    assert NO_RESULT in gap_kinds(captured.lineage)


def test_each_write_of_a_checked_frame_has_results_of_its_own(spark, rows, tmp_path):
    """What is true of one is not true of the other."""

    def write(frame):
        frame.write.parquet(str(tmp_path / "all"))
        frame.where("id > 5").write.parquet(str(tmp_path / "part"))
        frame.union(frame).write.parquet(str(tmp_path / "twice"))

    _, captured = checked(spark, rows, write)
    known = {
        findings.output[1].rpartition("/")[2]: {
            each.name: (each.success, each.actual) for each in findings.assertions if not each.not_evaluated
        }
        for findings in captured.findings
    }
    assert known == {
        "all": RIGHT,
        "part": {"id.null_check": (True, "0"), "positive": (True, "0")},
        "twice": {},
    }


def test_an_action_is_not_a_write(spark, rows):
    """Counted rows are nowhere: the checks have no result, and a gap says so."""
    found, captured = checked(spark, rows, lambda frame: frame.count(), name="orders")
    assert found == {}
    assert gap_kinds(captured.lineage) == [NO_RESULT]


def test_values_are_compared_by_their_types(spark, tmp_path):
    """Decimals, dates, timestamps and texts travel with the record; NaN is no JSON."""
    frame = spark.sql(
        "SELECT CAST(0.10 AS DECIMAL(10, 2)) AS price, DATE'2026-01-31' AS day, 'b' AS name,"
        " TIMESTAMP'2026-01-31 10:00:00.5' AS at, CAST('NaN' AS DOUBLE) AS ratio,"
        " TIMESTAMP_NTZ'2026-01-31 10:00:00' AS local, CAST(NULL AS INT) AS nothing"
    )
    columns = {
        "price": {"min": {"equal_to": 0.1}},
        "day": {"min": {"geq_to": "2026-01-31", "less_than": "2026-02-01"}},
        "at": {"max": {"equal_to": "2026-01-31 10:00:00.500000"}},
        "local": {"max": {"equal_to": "2026-01-31 10:00:00"}},
        "name": {"min": {"geq_to": "a", "less_than": "c"}, "matches": "[a-c]"},
        "ratio": {"max": {"leq_to": 1}},
        "nothing": {"null_check": {"equal_to": 1}, "min": {"geq_to": 0}},
    }
    found, _ = checked(
        spark, frame, lambda frame: frame.write.parquet(str(tmp_path / "out")), columns=columns, rows=None
    )
    assert {name: each.value for name, each in found.items() if name != "ratio.max"} == {
        "price.min": Decimal("0.10"),
        "day.min": datetime.date(2026, 1, 31),
        "at.max": datetime.datetime(2026, 1, 31, 10, 0, 0, 500000),
        "local.max": datetime.datetime(2026, 1, 31, 10),
        "name.min": "b",
        "name.matches": 0,
        "nothing.null_check": 1,
        "nothing.min": None,
    }
    assert {name for name, each in found.items() if not each.success} == {"ratio.max"}
    assert found["name.min"].has_text_of_rows


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"columns": {"id": {"unique_check": ZERO}}}, "cannot count distinct values.*'approximate': 0.02"),
        ({"columns": {"age": {"min": ZERO}}}, "column age min: .*UNRESOLVED_COLUMN"),
        ({"rows": {"mixed": "sum(id) > id"}}, "statement mixed: .*INVALID_OBSERVED_METRICS"),
        ({"rows": {"ids": "count(DISTINCT id) > 1"}}, "statement ids: .*DISTINCT"),
        ({"rows": {"union": "1=1 UNION SELECT 5"}}, "statement union: .*PARSE_SYNTAX_ERROR"),
        ({"rows": {"many": "count(*) > 5"}, "on_violation": "drop"}, "needs a rule for each row"),
        ({"rows": {"key": {"unique": ["id", "part"]}}}, "key key: .*'approximate': 0.02"),
        ({"rows": {"shape": {"columns": ["id"]}}}, "Compare df.schema, or use SparkTableCheckOperator"),
        (
            {"rows": {"low": {"check_statement": "id < 5", "at_least": 0.5}}, "on_violation": "fail"},
            "low: .*'keep'",
        ),
        ({"columns": {"part": {"freshness": "1 day"}}}, "DATATYPE_MISMATCH"),
        (
            {"columns": {"id": {"min": ZERO}}, "broken_to": "/q"},
            "broken_to needs a rule for each row in rows",
        ),
        ({"rows": RULES, "broken_to": ["/q"]}, "broken_to is .*; it must be a folder"),
        ({"columns": {"age": {"min": {**ZERO, "if_absent": "error"}}}}, "UNRESOLVED_COLUMN"),
        (
            {"columns": {"id": {"min": {**ZERO, "if_absent": "skip", "partition_clause": "age > 1"}}}},
            "UNRESOLVED_COLUMN",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(rows, arguments, sentence):
    """With one sentence, when `check` is called: not by the write."""
    with pytest.raises(ValueError, match=sentence) as raised:
        check(rows, **arguments)
    assert "\n" not in str(raised.value)


def test_the_estimate_of_distinct_values_can_be_measured(spark, rows, tmp_path):
    """It is the same if rows are counted twice."""
    columns = {"part": {"distinct_check": {"equal_to": 3, "approximate": 0.02}}}
    found, _ = checked(
        spark,
        rows,
        lambda frame: frame.orderBy("id").write.parquet(str(tmp_path / "out")),
        columns=columns,
        rows=None,
    )
    assert results(found) == {"part.distinct_check": (True, "3")}


def test_a_key_freshness_and_absent_columns_ride_on_a_write(spark, rows, tmp_path):
    """A key of several columns by an estimate. An absent column leaves the other checks alone."""
    frame = rows.selectExpr("*", "timestamp_seconds(id) AS at")
    fresh = {"within": "1 second", "against": "1970-01-01T00:16:40Z"}
    found, captured = checked(
        spark,
        frame,
        lambda frame: frame.write.parquet(str(tmp_path / "out")),
        columns={
            "at": {"freshness": fresh, "if_absent": "skip"},
            "discount": {"max": {"leq_to": 1}, "matches": "a", "if_absent": "skip"},
        },
        rows={
            "key": {"unique": ["id", "part"], "approximate": 0.01, "geq_to": -100, "leq_to": 100},
            "thirds": {"unique": ["part"], "approximate": 0.01, "equal_to": ROWS - 3},
            "rebate": {"check_statement": "discount < 1", "if_absent": "skip"},
            "low": "id < 990",
        },
        on_violation="drop",
    )
    skipped = {name for name, each in found.items() if each.is_skipped}
    assert skipped == {"discount.max", "discount.matches", "rebate"}
    known = {name: result for name, result in results(found).items() if name not in {*skipped, "key"}}
    assert known == {
        "at.freshness": (False, "11 seconds"),
        "thirds": (True, "997"),
        "low": (False, "10"),
    }
    assert found["key"].success
    assert captured.lineage.gaps == ()
    [event] = [event for event in captured.events() if "test" in event["run"]["facets"]]
    tests = event["run"]["facets"]["test"]["tests"]
    assert {(test["name"], test["status"]) for test in tests} == {(name, "skip") for name in skipped}


def test_without_a_capture_the_frame_is_right_and_a_warning_says_what_is_missing(rows, recorded, caplog):
    """A program runs in a notebook as it does in a task. Nobody reads what Spark would measure."""
    with caplog.at_level(logging.WARNING), recorded() as records:
        assert check(rows, rows=RULES).where("id < 5").count() == 5
        assert check(rows, rows={"even": "id % 2 = 0"}, on_violation="drop").count() == ROWS / 2
        with pytest.raises(Exception, match="A row breaks the rule even"):
            check(rows, rows={"even": "id % 2 = 0"}, on_violation="fail").collect()
    assert caplog.messages == ["These checks are not made: no capture runs in this process."] * 3
    assert not any(record.observed for record in records)


def test_texts_of_rows_are_not_stored(spark, tmp_path):
    """A smallest name is compared, and forgotten: records may be files that others read."""
    frame = spark.sql("SELECT 'Ann' AS name")
    columns = {"name": {"min": {"geq_to": "A"}, "null_check": ZERO}}
    found, captured = checked(
        spark, frame, lambda frame: frame.write.parquet(str(tmp_path / "out")), columns=columns, rows=None
    )
    assert found["name.min"].value == "Ann"
    [record] = captured.records([])
    assert len(record.observed) == 1
    assert "Ann" not in str(record.to_json())
