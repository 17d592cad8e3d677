"""The example pipeline, as a user would run it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from airflow_provider_spark_lineage.testing import DagRun
from system_tests.conftest import AssertEvents, RunExample

Aspect = tuple[str, str]
"""A task and an aspect of its event: `inputs`, `outputs`, `rows`, `gaps`, a column, a dataset's columns."""


def edge(dataset: str, field: str, kind: str, subtype: str) -> dict[str, Any]:
    """Return an entry of the columnLineage facet."""
    transformation = {"type": kind, "subtype": subtype, "masking": False}
    return {"namespace": "file", "name": dataset, "field": field, "transformations": [transformation]}


class Difference(NamedTuple):
    """Differences of a task's event between a step in Python and the same step in SQL."""

    python: Any
    sql: Any


PARTITIONED = (
    "tail_number origin hour_utc {}flight_date part_of_day carrier flight_number destination route"
    " distance_miles departure_delay arrival_delay late temperature_f wind_mph rain_inches visibility_miles"
    " conditions manufacturer aircraft_age{}"
)
DROPPED = ["uncertain_change"]
"""Kinds of the gaps of a DROP: its data may still exist, and it may not have existed."""

DIFFERENCES: dict[Aspect, Difference] = {
    # dropDuplicates groups by columns; the rows that row_number() numbers by the same columns are filtered.
    ("silver_weather", "rows of silver/weather"): Difference(
        python=[
            edge("bronze/weather", "origin", "INDIRECT", "GROUP_BY"),
            edge("bronze/weather", "time_hour", "INDIRECT", "GROUP_BY"),
        ],
        sql=[
            edge("bronze/weather", "origin", "INDIRECT", "FILTER"),
            edge("bronze/weather", "time_hour", "INDIRECT", "FILTER"),
        ],
    ),
    # What a UDF does with its argument is its own affair; a CASE tests it and returns constants.
    ("silver_flights", "silver/flights.part_of_day"): Difference(
        python=[edge("bronze/flights", "hour", "DIRECT", "TRANSFORMATION")],
        sql=[edge("bronze/flights", "hour", "INDIRECT", "CONDITIONAL")],
    ),
    # CREATE TABLE moves the columns of PARTITIONED BY to the end; a DataFrame keeps its order.
    ("silver_flights", "columns of output silver/flights"): Difference(
        python=PARTITIONED.format("month ", "").split(), sql=PARTITIONED.format("", " month").split()
    ),
    # Spark's event log does not have the effect of a DROP TABLE IF EXISTS in a script of Spark SQL.
    **{
        (task, "gaps"): Difference(python=[], sql=DROPPED)
        for task in (
            "bronze_airlines",
            "bronze_airports",
            "bronze_flights",
            "bronze_planes",
            "bronze_weather",
            "silver_weather",
            "silver_flights",
            "gold_delays_by_weather",
        )
    },
}
"""Steps with another meaning in SQL, or with other traces: all else is the same."""


@pytest.fixture(scope="module")
def done() -> dict[str, DagRun]:
    """The run of `nycflights`, once a test has run it."""
    return {}


@pytest.fixture
def in_python(done: dict[str, DagRun], run_example: RunExample) -> DagRun:
    """A run of `nycflights`, which is the same for all tests."""
    if not done:
        done["nycflights"] = run_example("nycflights")
    return done["nycflights"]


def test_pipeline_reports_its_lineage(in_python: DagRun, assert_events: AssertEvents) -> None:
    """Every task reports its inputs, its outputs and the edges of its columns."""
    assert_events(in_python)


def test_an_application_reads_the_pipelines_tables(
    in_python: DagRun, run_example: RunExample, assert_events: AssertEvents
) -> None:
    """`nycflights_report` submits an application, which reports like the tasks whose data it reads."""
    assert_events(run_example("nycflights_report"))


def test_checks_report_at_the_datasets_that_they_read(
    in_python: DagRun, run_example: RunExample, assert_events: AssertEvents
) -> None:
    """A task of `nycflights_checks` finds the planted error and fails; the run succeeds."""
    run = run_example("nycflights_checks")
    assert run.tasks["rows_are_right"] == "failed"
    assert_events(run)


def test_the_pipeline_in_sql_has_the_lineage_of_that_in_python(
    in_python: DagRun, run_example: RunExample, data: Path, tmp_path: Path
) -> None:
    """`nycflights_sql` is the whole pipeline in Spark SQL: its tasks have the same datasets and columns."""
    home = tmp_path / "data of SQL"
    in_sql = run_example("nycflights_sql", settings={"NYCFLIGHTS_HOME": str(home)})

    python, sql = aspects(in_python, data), aspects(in_sql, home)
    assert {task for task, _ in python} == {task for task, _ in sql} == set(in_python.tasks)
    differences = {
        aspect: Difference(python.get(aspect), sql.get(aspect))
        for aspect in python.keys() | sql.keys()
        if python.get(aspect) != sql.get(aspect)
    }
    assert differences == DIFFERENCES

    # A log has the types of columns that a query reads or casts, and no others.
    known = {column: kind for column, kind in types(in_sql, home).items() if kind}
    assert known.items() <= types(in_python, data).items()
    assert {column for column in types(in_python, data) if "landing/" in column[1]} <= known.keys()


def aspects(run: DagRun, home: Path) -> dict[Aspect, Any]:
    """Return all compared parts of the last events of a run's tasks."""
    values: dict[Aspect, Any] = {}
    for task, event in completed(run, home):
        gaps = event["run"]["facets"].get("sparkLineage_gaps", {"gaps": []})["gaps"]
        values[task, "gaps"] = [gap["kind"] for gap in gaps]
        for side in ("inputs", "outputs"):
            values[task, side] = sorted((dataset["namespace"], dataset["name"]) for dataset in event[side])
            for dataset in event[side]:
                fields = dataset["facets"]["schema"]["fields"]
                values[task, f"columns of {side[:-1]} {dataset['name']}"] = [
                    field["name"] for field in fields
                ]
        for output in event["outputs"]:
            facet = output["facets"]["columnLineage"]
            assert facet.keys() <= {"_producer", "_schemaURL", "fields", "dataset"}
            values[task, f"rows of {output['name']}"] = facet.get("dataset")
            for column, origins in facet["fields"].items():
                assert origins.keys() == {"inputFields"}
                values[task, f"{output['name']}.{column}"] = origins["inputFields"]
    return values


def types(run: DagRun, home: Path) -> dict[Aspect, str]:
    """Return the type of each column of each dataset in the event of each task; empty if not known."""
    return {
        (task, f"{side} {dataset['name']}.{field['name']}"): field["type"]
        for task, event in completed(run, home)
        for side in ("inputs", "outputs")
        for dataset in event[side]
        for field in dataset["facets"]["schema"]["fields"]
    }


def completed(run: DagRun, home: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each task with its last event, `home` left out of names."""
    for event in run.read().items:
        task = event.document["run"]["facets"].get("airflow", {}).get("task")
        if event.type == "complete" and task:
            yield task["task_id"], json.loads(json.dumps(event.document).replace(f"{home}/", ""))
