"""The events of three tasks, built from the records of one real run: golden files of `docs/events.md`.

`tools/record_shop.py` made the run, `tools/events_page.py` writes the files of this module and the page.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.spark.facets.events import (
    EventFacets,
    RunIdentity,
    execution_events,
    task_event,
)
from airflow_provider_spark_lineage.spark.lineage.job_names import JobNames
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.event_executions import StreamRuns, execution_events_of
from airflow_provider_spark_lineage.spark.runs.executions import Execution, executions
from airflow_provider_spark_lineage.spark.runs.facets import facets_of
from airflow_provider_spark_lineage.spark.runs.recorded import RunBuilder
from airflow_provider_spark_lineage.spark.runs.run import Run

FOLDER = Path(__file__).resolve().parent / "docs"
GOLDEN = FOLDER / "events"


class Task:
    """One task of the recorded run."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content
        first = content["first"]
        parent = first["run"]["facets"]["parent"]
        namespace, airflow = first["job"]["namespace"], parent["_producer"]
        self.identity = RunIdentity(
            first["run"]["runId"],
            namespace,
            first["job"]["name"],
            root=RunIdentity(parent["run"]["runId"], namespace, parent["job"]["name"], producer=airflow),
            producer=airflow,
        )

    @property
    def executions(self) -> list[Execution]:
        return list(executions(map(Record.from_json, self._content["records"])))

    @property
    def run(self) -> Run:
        builder = RunBuilder()
        for execution in self.executions:
            builder.add(execution)
        details = {**self._content["application"]}
        identity = [details.pop(name) for name in ("id", "name", "spark_version")]
        builder.describe([Application(*identity).with_details(details)])
        return builder.run()

    def started(self) -> dict[str, Any]:
        """Return START of the task: all of it is from Airflow's provider."""
        started: dict[str, Any] = self._content["first"]
        return started

    def ended(self) -> dict[str, Any]:
        """Return COMPLETE or FAIL of the task: facets of Airflow's provider, and those of this package."""
        sent, run = self._content["last"], self.run
        facets = EventFacets(facets_of(run), {}).of(run.lineage)
        datasets = input_datasets(run.lineage), output_datasets(run.lineage)
        ours = task_event("OTHER", self.identity, facets, *datasets)
        event: dict[str, Any] = Serde.to_dict(ours)
        for part in ("run", "job"):
            facets = {**event[part]["facets"], **sent[part]["facets"]}
            event[part]["facets"] = dict(sorted(facets.items()))
        return {**event, "eventType": sent["eventType"], "eventTime": sent["eventTime"]}

    def of_last_execution(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return START and the end of the last execution."""
        application = self._content["application"]["id"]
        [*_, last] = execution_events_of(self.executions, JobNames(self.identity.job))
        first, second = map(
            Serde.to_dict, execution_events([last], self.identity, application_id=application)
        )
        assert datetime.fromisoformat(first["eventTime"]) <= datetime.fromisoformat(second["eventTime"])
        return first, second

    def progress_of_stream(self) -> dict[str, Any]:
        """Return RUNNING of the task's streaming query, when its last batch has ended."""
        streams = StreamRuns(JobNames(self.identity.job), "all", progress_interval_seconds=1e-9)
        [*_, last] = [each for execution in self.executions for each in streams.add(execution)]
        application = self._content["application"]["id"]
        (event,) = execution_events([last], self.identity, application_id=application)
        running: dict[str, Any] = Serde.to_dict(event)
        assert running["eventType"] == "RUNNING"
        return running


def _tasks() -> dict[str, Task]:
    content = json.loads((FOLDER / "shop.json").read_text(encoding="utf-8"))
    return {name: Task(task) for name, task in content.items()}


TASKS = _tasks()

EVENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "task_start": TASKS["revenue"].started,
    "execution_start": lambda: TASKS["revenue"].of_last_execution()[0],
    "execution_complete": lambda: TASKS["revenue"].of_last_execution()[1],
    "task_complete": TASKS["revenue"].ended,
    "stream_running": TASKS["stock"].progress_of_stream,
    "task_with_stream_complete": TASKS["stock"].ended,
    "execution_fail": lambda: TASKS["ratio"].of_last_execution()[1],
    "task_fail": TASKS["ratio"].ended,
}
"""Name of a golden file and of a section of the page -> function that builds its event, in their order."""


_ORDER = ("eventType", "eventTime", "job", "run", "inputs", "outputs", "producer", "schemaURL")


def golden(name: str) -> str:
    """Return the text that the golden file of an event must have."""
    event = EVENTS[name]()
    return json.dumps({key: event[key] for key in _ORDER}, indent=1, ensure_ascii=False) + "\n"
