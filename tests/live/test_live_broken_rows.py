"""Rows that break a rule: their share; they are dropped, kept elsewhere, or end the write."""

from __future__ import annotations

import pytest
from checked_rows import ROWS, ZERO, checked, results

from airflow_provider_spark_lineage.checks import check

pytestmark = pytest.mark.spark


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
