"""Upkeep of a warehouse: retention, compaction, facets that are left out, and months folded into one."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from graph.estate import dataset, edges, run
from warehouse.histories import comparable, graph_of, history
from warehouse.plain_tables import plain_warehouse
from warehouse.test_load import contents, spark, written

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse.asking import current_lineage, rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.derive import event_rows
from airflow_provider_spark_lineage.openlineage.warehouse.invariants import findings_of
from airflow_provider_spark_lineage.openlineage.warehouse.load import load
from airflow_provider_spark_lineage.openlineage.warehouse.retention import compact, retain
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import read_tables
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES

__all__ = ["spark"]

MONTHS = {"2026-01-01T": "2025-11-30T", "2026-01-02T": "2025-12-15T", "2026-01-03T": "2025-12-31T"}
"""Days of a history, moved to several months; those after them stay."""

LATER = date(2026, 6, 1)

KEYED = [
    name for name, table in TABLES.items() if not table.partition and name not in ("loads", "current_runs")
]
"""Tables without dates."""


def of_months(seed: int) -> list[dict[str, Any]]:
    """Return a history of three months."""
    text = json.dumps(history(seed))
    for day, other in MONTHS.items():
        text = text.replace(day, other)
    return json.loads(text)


def newest_first(documents: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return two parts of events, both with events of most dates, but only the first with the last ones."""
    ordered = sorted(documents, key=lambda event: event["eventTime"][:10], reverse=True)
    return [
        ordered[: len(ordered) // 3] + ordered[len(ordered) // 3 :: 2],
        ordered[len(ordered) // 3 + 1 :: 2],
    ]


@pytest.mark.spark
def test_nothing_but_rows_of_dates_is_lost_by_retention(spark, tmp_path):
    """Retention to 0 days loses no edge, version, job or dataset, and the current lineage stays.

    Nor does a load after it, of events that come again; before, any order of days over the ends of months
    gives the same tables.
    """
    documents = of_months(7)
    whole, target = tmp_path / "a", tmp_path / "b"
    events = written(tmp_path / "whole" / "events.jsonl", documents)
    load(spark, events, whole)
    for number, part in enumerate(newest_first(documents)):
        load(spark, written(tmp_path / "parts" / f"{number}.jsonl", part), target)
    before = contents(target)
    assert [table for table, rows in contents(whole).items() if rows != before[table]] == []
    assert comparable(current_lineage(target)) == comparable(graph_of(documents))

    joined = compact(target)
    assert joined.files_before > joined.dates > 0
    assert compact(target).dates == 0
    assert contents(target) == before

    retain(target, events_days=0, runs_days=99_999, today=LATER)
    assert not read_tables(target).tables["events"]
    again = load(spark, written(tmp_path / "again" / "events.jsonl", documents), target)
    assert again.late_events > 0
    assert again.runs == 0
    after = contents(target)
    assert [table for table in KEYED if after[table] != before[table]] == []
    assert len(after["runs"]) == len(before["runs"])
    assert [row.replace("'is_sealed': True", "'is_sealed': False") for row in after["runs"]] == before["runs"]

    summary = retain(target, events_days=0, runs_days=0, today=LATER)
    kept = {row["run_id"] for row in rows_of(read_tables(target), "runs")}
    assert kept == {row["run_id"] for row in rows_of(read_tables(target), "current_runs")}
    assert 0 < summary.current_runs == len(kept) < len(before["runs"])
    assert comparable(current_lineage(target)) == comparable(graph_of(documents))
    one_more = run(
        "etl.new", [dataset("fresh", "id")], [dataset("new", "id", **edges("id <- fresh.id"))], day=9
    )
    load(spark, written(tmp_path / "more" / "events.jsonl", [one_more]), target)
    found = contents(target)
    assert [
        table for table in KEYED if not set(before[table]) <= set(found[table]) and table != "datasets"
    ] == []
    assert comparable(current_lineage(target)) == comparable(graph_of([*documents, one_more]))
    assert findings_of(target) == []


@pytest.mark.spark
def test_facets_that_are_left_out_are_in_no_file(spark, tmp_path):
    """A facet may be left out; the id of the event is made without it."""
    event = run("etl.a", [dataset("x", secret={"word": "hunter2"})], [dataset("y")], hour=1)
    event["run"].setdefault("facets", {})["secret"] = {"word": "hunter2"}
    event["job"]["facets"] = {"secret": {"word": "hunter2"}, "sql": {"query": "select 1"}}
    events = written(tmp_path / "events.jsonl", [event])
    load(spark, events, tmp_path / "w", dropped_facets=["secret"])
    [row] = rows_of(read_tables(tmp_path / "w"), "events")
    assert "hunter2" not in row["raw"]
    assert "select 1" in row["raw"]
    [same] = event_rows(row["raw"].encode(), "f", 1)
    assert same["event_id"] == row["event_id"]


def test_retention_keeps_what_is_current_and_seals_the_rest(tmp_path):
    """Only events and runs that decide nothing go; whatever has no date stays, and so does the lineage."""
    documents = history(3)
    path = plain_warehouse(tmp_path / "w", documents)
    before, lineage = contents(path), comparable(current_lineage(path))
    runs = {row["run_id"] for row in rows_of(read_tables(path), "runs")}
    current = {row["run_id"] for row in rows_of(read_tables(path), "current_runs")}
    first = retain(path, events_days=2, runs_days=3, today=date(2026, 1, 3))
    kept = {row["event_date"] for row in rows_of(read_tables(path), "events")}
    assert min(kept) == date(2026, 1, 2)
    rows = [*rows_of(read_tables(path), "runs", dates=["2026-01-01", "2026-01-02", "2026-01-03"])]
    assert {row["run_id"] for row in rows if row["is_sealed"]} == {
        row["run_id"] for row in rows if min(row["event_dates"]) < date(2026, 1, 2)
    }
    assert first.sealed_runs > 0
    last = retain(path, events_days=0, runs_days=0, today=LATER)
    assert not read_tables(path).tables["events"]
    assert {row["run_id"] for row in rows_of(read_tables(path), "runs")} == current < runs
    assert last.current_runs > 0
    after = contents(path)
    assert [table for table in KEYED if after[table] != before[table]] == []
    assert comparable(current_lineage(path)) == lineage
    assert retain(path, events_days=0, runs_days=0, today=LATER).run_dates == 0


def test_compaction_joins_the_files_of_a_date(tmp_path):
    """The rows are the same, and a second time there is nothing to do."""
    path = plain_warehouse(tmp_path / "w", history(1))
    before = contents(path)
    for folder in read_tables(path).folders("events"):
        [file] = Path(folder).glob("*.parquet")
        rows = pq.read_table(file)
        pq.write_table(rows[: len(rows) // 2], file)
        pq.write_table(rows[len(rows) // 2 :], file.with_name("part-1.parquet"))
    assert contents(path) == before
    joined = compact(path)
    assert joined.files_before == 2 * joined.dates > 0
    assert contents(path) == before
    assert compact(path).dates == 0


def test_rows_without_their_events_are_asked_for(tmp_path):
    """A late event would bring back rows that were dropped."""
    with pytest.raises(BadInputError, match="keep runs as long as events, or longer"):
        retain(tmp_path, events_days=90, runs_days=30)


@pytest.mark.parametrize("command", ["retain", "compact"])
def test_a_folder_without_a_warehouse_is_one_sentence(command, tmp_path):
    """And nothing is made in its place."""
    path = tmp_path / "none"
    done = CliRunner().invoke(main, ["warehouse", command, "--warehouse", str(path)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"spark-lineage: {path} has no warehouse: `spark-lineage warehouse load` makes one.\n"
    )
    assert not Path(path).exists()
