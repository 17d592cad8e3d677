"""Real operators of other systems, whose clients ask a local server: through the listener to the events.

`services/` has the operators' arguments and the expected events, one row for each task.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag
from gap_kinds import gap_kinds
from launch.services import databricks_rows, dataproc_rows, kubernetes_rows
from launch.services.row import SECRET
from launch.services.service import Service
from providers import import_or_skip
from servers.driver import driver

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = pytest.mark.airflow

TESTS = Path(__file__).parents[1]
DAG = Path(__file__).parent / "dags" / "services.py"
EXTRACTOR = "airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor"
TABLES = {
    databricks_rows: {"AIRFLOW__OPENLINEAGE__EXTRACTORS": EXTRACTOR},
    dataproc_rows: {"AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True"},
    kubernetes_rows: {"AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True"},
}
"""Rows, and the line of configuration that has them reported: either will do."""


@dataclass(frozen=True)
class Finished:
    """A run of all rows of a table."""

    run: DagRun
    service: Service
    events: dict[tuple[str, str], dict[str, Any]]
    """By task and type; of a task that deferred itself, the last."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Callable[[Any], Finished]:
    known: dict[str, Finished] = {}

    def of(table: Any) -> Finished:
        if table.__name__ not in known:
            known[table.__name__] = run_of(table, tmp_path_factory.mktemp("services"))
        return known[table.__name__]

    return of


def run_of(table: Any, folder: Path) -> Finished:
    place = (folder / "records").as_uri()
    with table.serve(driver, folder) as service:
        run = run_dag(
            DAG,
            home=folder / "airflow",
            timeout_s=900,
            settings={
                **TABLES[table],
                "AIRFLOW__SPARK_LINEAGE__RECORDS": place,
                "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
                "SERVICES_RECORDS": place,
                "SERVICES_ROWS": table.__name__,
                **{
                    f"AIRFLOW_CONN_{name.upper()}": json.dumps(connection)
                    for name, connection in service.connections.items()
                },
                **service.settings,
            },
        )
    events = {
        (event.name.removeprefix("services."), event.document["eventType"]): event.document
        for event in run.read().items
    }
    return Finished(run, service, events)


def cases() -> list[Any]:
    return [
        pytest.param(
            table,
            row,
            id=f"{row.operator.rpartition('.')[2]}-{row.task_id}",
            # One run of Airflow for each table.
            marks=pytest.mark.xdist_group(table.__name__),
        )
        for table in TABLES
        for row in table.ROWS
    ]


@pytest.mark.parametrize(("table", "row"), cases())
def test_a_task_of_a_service(table, row, finished):
    """Applications, id and address of the run, datasets as far as they are known, and gaps for the rest."""
    if "SPARK_LINEAGE_SERVICES" not in os.environ:
        # `make services` has all of them, and says so.
        import_or_skip(table.PROVIDER)
    done = finished(table)
    log = Path(done.run.log)
    assert done.run.tasks[row.task_id] == row.state, tail(log)
    start = done.events[row.task_id, "START"]
    end = done.events[row.task_id, "COMPLETE" if row.state == "success" else "FAIL"]
    assert [problems_of(event) for event in (start, end)] == [[], []]
    assert SECRET not in json.dumps([start, end])
    assert names(start) == row.at_start
    facets = end["run"]["facets"]
    launch = facets.get("sparkLineage_launch", {})
    assert tuple(launch.get("applications", ())) == row.applications
    assert start["run"]["facets"].get("sparkLineage_launch", {}).get("applications", []) == list(
        row.applications
    )
    run_id = done.service.ids[row.id_of or row.task_id] if row.has_id else None
    link = row.link.format(id=run_id, port=done.service.port) or None
    assert (launch.get("runId"), launch.get("link")) == (run_id, link)
    if run_id:
        assert facets["externalQuery"]["externalQueryId"] == run_id
        assert facets["externalQuery"]["source"] == (link or launch["service"])
    assert sorted(gap_kinds(end)) == sorted(row.gaps)
    if row.is_recorded:
        assert end["outputs"][0]["facets"]["columnLineage"]["fields"]
    else:
        assert names(end) == row.at_end
    if row.warnings:
        assert log.read_text().count(facets["sparkLineage_gaps"]["gaps"][0]["reason"]) == row.warnings


def names(event: dict[str, Any]) -> str:
    inputs, outputs = ([each["name"] for each in event[side]] for side in ("inputs", "outputs"))
    return f"{' '.join(inputs)} -> {' '.join(outputs)}" if inputs or outputs else ""
