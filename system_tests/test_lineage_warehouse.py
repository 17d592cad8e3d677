"""The nightly load of lineage into tables, as a task."""

from __future__ import annotations

import shutil
from pathlib import Path

from airflow_provider_spark_lineage.openlineage.warehouse.asking import current_lineage, rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.invariants import findings_of
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import read_tables
from system_tests.conftest import RunExample

EVENTS = Path(__file__).parents[1] / "tests" / "viewer" / "events" / "pipeline.jsonl.gz"


def test_the_load_is_a_task_with_lineage_of_its_own(run_example: RunExample, data: Path) -> None:
    """It reads the events and writes the tables; the next night, this is in the tables."""
    (data / "events").mkdir()
    shutil.copy(EVENTS, data / "events")
    first = run_example("lineage_warehouse")
    [end] = [
        event.document
        for event in first.read()
        if event.type == "complete" and event.subject == "lineage_warehouse.load_events"
    ]
    assert str(data / "events" / EVENTS.name) in {each["name"] for each in end["inputs"]}
    written = {each["name"].removeprefix(f"{data}/lineage/").rpartition("/")[2] for each in end["outputs"]}
    assert {"events", "runs", "run_outputs", "lineage_versions", "column_edges", "datasets"} <= written

    shutil.copy(first.events, data / "events" / "first.jsonl")
    run_example("lineage_warehouse")
    loads = [*rows_of(read_tables(data / "lineage"), "loads")]
    assert [load["files"] for load in loads] == [1, 1]
    assert [load["bad_lines"] for load in loads] == [0, 0]
    writers = {write.job.name for write in current_lineage(data / "lineage").writes}
    assert {"nycflights.gold_worst_routes", "lineage_warehouse.load_events"} <= writers
    assert findings_of(data / "lineage") == []
