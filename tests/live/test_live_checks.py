"""Checks that ride on a write: what they find is true of the written rows, or they have no result."""

from __future__ import annotations

import datetime
import logging
from decimal import Decimal

import check_steps
import pyspark
import pytest
from gap_kinds import gap_kinds

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.checks import check
from airflow_provider_spark_lineage.spark.checks.assertion import ColumnMetrics, Metrics

pytestmark = pytest.mark.spark

COUNTS_SAMPLES = not pyspark.__version__.startswith("4.3")
"""Before 4.3, Spark counts the rows that a sort samples (SPARK-37487)."""

NO_RESULT = "not_recorded"
"""Kind of the gap of checks that have no result."""

ZERO = {"equal_to": 0}
ROWS = 1000
COLUMNS = {"id": {"null_check": ZERO, "min": {"geq_to": 0}, "max": {"leq_to": 998}, "sum": {"geq_to": 1}}}
RULES = {"positive": "id >= 0", "even": "id % 2 = 0", "row_count": f"count(*) = {ROWS}"}


@pytest.fixture(scope="module")
def rows(spark, tmp_path_factory):
    """A thousand rows in files, of four tasks: Spark samples only what has several."""
    path = str(tmp_path_factory.mktemp("data") / "rows")
    spark.range(0, ROWS, 1, 4).selectExpr("id", "id % 3 AS part").write.parquet(path)
    return spark.read.parquet(path)


def checked(spark, frame, write, **arguments):
    """Return what the checks of a frame found when `write` wrote it, by name, and the capture."""
    with capture_lineage(spark) as captured:
        write(check(frame, **{"columns": COLUMNS, "rows": RULES, "severity": "warn", **arguments}))
    return {found.name: found for found in captured.checks}, captured


def results(found):
    """Return success and found value of assertions; None for those without a result."""
    return {name: None if each.not_evaluated else (each.success, each.actual) for name, each in found.items()}


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


def test_rows_that_break_a_rule_are_dropped_after_they_were_counted(spark, rows, tmp_path):
    """The number of failing rows is known, and they are not written. A clause limits the rule to its rows."""
    path = str(tmp_path / "out")
    rules = {"low": "id < 990", "odd": {"check_statement": "id % 2 = 1", "partition_clause": "id < 10"}}
    found, captured = checked(
        spark,
        rows,
        lambda frame: frame.write.parquet(path),
        columns=None,
        rows=rules,
        name="mine",
        severity="error",
        on_violation="drop",
    )
    assert results(found) == {"mine.low": (False, "10"), "mine.odd": (False, "5")}
    assert {each.severity for each in found.values()} == {"warn"}
    assert captured.lineage.gaps == ()
    assert spark.read.parquet(path).where("id < 990 AND (id % 2 = 1 OR id >= 10)").count() == ROWS - 15
    assert spark.read.parquet(path).count() == ROWS - 15


def test_columns_are_checked_without_the_dropped_rows(spark, tmp_path):
    """The results are those of the written dataset."""
    frame = spark.createDataFrame([(1, "a"), (None, "b"), (3, None)], "id int, name string")
    columns = {
        "id": {"null_check": ZERO, "max": {"leq_to": 3}},
        "name": {"null_check": ZERO, "accepted_values": ["a"]},
    }
    found, _ = checked(
        spark,
        frame,
        lambda frame: frame.write.parquet(str(tmp_path / "out")),
        columns=columns,
        rows={"has_id": "id IS NOT NULL"},
        on_violation="drop",
    )
    assert results(found) == {
        "id.null_check": (True, "0"),
        "id.max": (True, "3"),
        "name.null_check": (False, "1"),
        "name.accepted_values": (True, "0"),
        "has_id": (False, "1"),
    }
    assert found["name.accepted_values"].params["rows"] == 2


def test_the_first_row_that_breaks_a_rule_stops_the_write(spark, rows, tmp_path):
    """The error names the rule; without such a row, all rows are written."""
    path = str(tmp_path / "out")
    arguments = {"columns": None, "on_violation": "fail"}
    with pytest.raises(Exception, match="A row breaks the rule low"):
        checked(spark, rows, lambda frame: frame.write.parquet(path), rows={"low": "id < 990"}, **arguments)
    found, _ = checked(
        spark,
        rows,
        lambda frame: frame.write.mode("overwrite").parquet(path),
        rows={"low": "id < 1000"},
        **arguments,
    )
    assert results(found) == {"low": (True, "0")}


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


MOST = {"check_statement": "id < 900", "at_least": 0.85}
OF_MOST = {"part": {"accepted_values": {"values": [0, 1], "at_least": 0.6}}}


@pytest.mark.parametrize(
    ("step", "known"),
    [
        (lambda frame: frame, {"most": (True, "0.9"), "part.accepted_values": (True, "0.667")}),
        # All rows from 500 on: a fifth of them breaks the rule.
        (lambda frame: frame.where("id >= 500"), {}),
        (lambda frame: frame.limit(700), {}),
        (
            lambda frame: frame.where("id >= 0"),
            {"most": (True, "0.9"), "part.accepted_values": (True, "0.667")},
        ),
    ],
    ids=["all", "filter", "limit", "filter of nothing"],
)
def test_a_share_of_good_rows_is_not_that_of_a_part(spark, rows, tmp_path, step, known):
    """Other than that no row breaks a rule."""
    found, captured = checked(
        spark,
        rows,
        lambda frame: step(frame).write.parquet(str(tmp_path / "out")),
        columns=OF_MOST,
        rows={"most": MOST},
        severity="error",
    )
    assert {name: result for name, result in results(found).items() if result is not None} == known
    assert bool(captured.lineage.gaps) == (not known)


def test_dropped_rows_count_in_a_share(spark, rows, tmp_path):
    """It is the share of the rows that came in; those that break the rule are not written."""
    found, _ = checked(
        spark,
        rows,
        lambda frame: frame.write.parquet(str(tmp_path / "out")),
        columns=OF_MOST,
        rows={"most": MOST},
        on_violation="drop",
    )
    assert results(found) == {"most": (True, "0.9"), "part.accepted_values": (True, "0.666666")}
    assert spark.read.parquet(str(tmp_path / "out")).count() == 900


@pytest.mark.parametrize("table", [False, True])
def test_broken_rows_are_written_to_a_place_of_their_own(spark, rows, tmp_path, monkeypatch, table):
    """Once, with the rules that each breaks and the run. An output of the task, with lineage."""
    monkeypatch.setenv("AIRFLOW_CTX_DAG_RUN_ID", "manual__1")
    place = "quarantine" if table else str(tmp_path / "quarantine")
    rules = {
        "low": "id < 990",
        "even": {"check_statement": "id % 2 = 0", "partition_clause": "id >= 988"},
        "many": "count(*) > 5",
        "rebate": {"check_statement": "discount < 1", "if_absent": "skip"},
    }
    path = str(tmp_path / "out")
    try:
        found, captured = checked(
            spark,
            rows,
            lambda frame: frame.write.parquet(path),
            columns={"id": {"max": {"leq_to": 988}}},
            rows=rules,
            severity="error",
            broken_to=place,
        )
        read = spark.table(place) if table else spark.read.parquet(place)
        broken = {row["id"]: row["broken_rules"] for row in read.collect()}
        assert {row["run_id"] for row in read.collect()} == {"manual__1"}
        assert len(broken) == read.count() == 11
    finally:
        spark.sql("DROP TABLE IF EXISTS quarantine")
    assert broken == {number: ["low", "even"] if number % 2 else ["low"] for number in range(990, 1000)} | {
        989: ["even"]
    }
    assert spark.read.parquet(path).count() == 989
    assert {name: result for name, result in results(found).items() if name != "rebate"} == {
        "low": (False, "10"),
        "even": (False, "6"),
        "many": (True, str(ROWS)),
        "id.max": (True, "988"),
    }
    assert captured.lineage.gaps == ()
    outputs = {
        output.dataset.id.name.rpartition("/")[2]: {field.name for field in output.dataset.fields}
        for output in captured.lineage.outputs
    }
    for output in captured.lineage.outputs:
        assert [read.name.rpartition("/")[2] for read in output.inputs] == ["rows"]
    assert outputs == {"quarantine": {"id", "part", "broken_rules", "run_id"}, "out": {"id", "part"}}


def test_a_frame_with_our_columns_has_no_broken_rows(rows):
    """They would be lost."""
    with pytest.raises(ValueError, match="the frame has run_id already: rename it"):
        check(rows.withColumnRenamed("part", "run_id"), rows={"low": "id < 5"}, broken_to="/nowhere/at/all")


def test_no_rule_is_left_if_all_are_skipped(spark, rows, tmp_path):
    """Then all rows are written."""
    found, _ = checked(
        spark,
        rows,
        lambda frame: frame.write.parquet(str(tmp_path / "out")),
        columns=None,
        rows={"rebate": {"check_statement": "discount < 1", "if_absent": "skip"}},
        on_violation="drop",
    )
    assert found["rebate"].is_skipped
    assert spark.read.parquet(str(tmp_path / "out")).count() == ROWS


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


def test_a_record_has_numbers_of_other_observations_but_no_texts(spark, rows, recorded, tmp_path):
    """Texts are values of rows. Names that Spark makes have the literals of an expression."""
    from pyspark.sql import functions as sf

    with recorded() as records:
        frame = rows.observe(
            "mine", sf.count(sf.lit(1)).alias("rows"), sf.max(sf.lit("x")).alias("text"), sf.max(sf.lit(7))
        )
        frame.write.parquet(str(tmp_path / "out"))
        frame.orderBy("id").write.mode("overwrite").parquet(str(tmp_path / "out"))
    sampled = 2 * ROWS if COUNTS_SAMPLES else ROWS
    assert [record.observed for record in records] == [{"mine": {"rows": ROWS}}, {"mine": {"rows": sampled}}]
    assert [record.miscounted for record in records] == [{}, {"mine": "sort"}]


def observing(frame):
    from pyspark.sql import functions as sf

    return frame.observe(
        "mine",
        sf.count(sf.lit(1)).alias("rows"),
        sf.count("id").alias("ids"),
        sf.max("id").alias("most"),
        sf.sum("part").alias("parts"),
        sf.count_if(sf.col("part").isNull()).alias("none"),
        sf.avg("id").alias("mean"),
        (sf.max("part") - sf.min("part")).alias("range"),
    )


def metrics(spark, action):
    """Return the rows that metrics are about, by the last part of their dataset's name, and the capture."""
    with capture_lineage(spark) as captured:
        action()
    found = {each.output[1].rpartition("/")[2]: each.metrics for each in captured.findings}
    return found, captured


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda frame, path: frame.write.parquet(path), id="files"),
        pytest.param(lambda frame, path: frame.write.option("path", path).saveAsTable("seen"), id="table"),
    ],
)
def test_observed_numbers_are_metrics_of_the_written_dataset(spark, rows, tmp_path, write):
    """Numbers whose meaning the plan says: of rows, and of columns. Nothing is an assertion."""
    found, captured = metrics(spark, lambda: write(observing(rows), str(tmp_path / "out")))
    whole = Metrics(
        ROWS,
        {
            "id": ColumnMetrics(nulls=0, values=ROWS, max=ROWS - 1.0),
            "part": ColumnMetrics(nulls=0, sum=sum(number % 3 for number in range(ROWS)) * 1.0),
        },
    )
    # The rows were read from a dataset, too, but one observation is about one.
    assert found == {"out": whole}
    assert captured.checks == []


def test_observed_numbers_of_rows_as_they_are_read_are_metrics_of_the_input(spark, rows, tmp_path):
    """Although other rows are written."""
    seen = observing(rows)
    for action in (
        lambda: seen.where("id < 10").write.parquet(str(tmp_path / "out")),
        lambda: seen.write.mode("append").parquet(str(tmp_path / "out")),
        lambda: seen.agg({"id": "max"}).collect(),
        seen.collect,
    ):
        found, _ = metrics(spark, action)
        assert {name: each.rows for name, each in found.items()} == {"rows": ROWS}


@pytest.mark.parametrize(
    ("existed", "write"),
    [
        pytest.param(True, lambda frame, path: frame.write.mode("append").parquet(path), id="appended"),
        pytest.param(False, lambda frame, path: frame.limit(5).write.parquet(path), id="limited"),
        pytest.param(False, lambda frame, path: frame.union(frame).write.parquet(path), id="twice"),
    ],
)
def test_other_observations_are_no_metrics(spark, rows, tmp_path, existed, write):
    """Of rows that are not those of a dataset."""
    if existed:
        rows.limit(1).write.parquet(str(tmp_path / "out"))
    frame = observing(rows.where("id >= 0"))
    found, _ = metrics(spark, lambda: write(frame, str(tmp_path / "out")))
    assert found == {}


def test_a_part_of_a_dataset_that_was_read_has_no_metrics(spark, rows, tmp_path):
    """Of a limit, Spark reads and counts some rows; a folder of a partition is not the dataset."""
    rows.write.partitionBy("part").parquet(str(tmp_path / "parts"))
    one = spark.read.parquet(str(tmp_path / "parts" / "part=1")).observe("mine", *_counted())
    for action in (
        lambda: observing(rows).take(5),
        lambda: observing(rows).limit(400).collect(),
        one.collect,
    ):
        found, _ = metrics(spark, action)
        assert found == {}


def _counted():
    from pyspark.sql import functions as sf

    return (sf.count(sf.lit(1)).alias("rows"),)
