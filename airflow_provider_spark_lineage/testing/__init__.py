"""Compares emitted OpenLineage events with expected ones, found by `<dag_id>.<task_id>.event.<type>`.

>>> from airflow_provider_spark_lineage.events import Events
>>> expected = Expected.of({"dag.task.event.start": {"run": {"runId": "1"}}})
>>> event = {"eventType": "START", "run": {"runId": "2"}, "job": {"name": "dag.task"}}
>>> report = compare(expected, Events.of([event]), without=RELATIONS)  # a sketch of an event
>>> print(report.text())
changed     dag.task.event.start  (event 1)
  run.runId has another value
    expected  "1"
    actual    "2"
<BLANKLINE>
0 events match, 1 differ
"""

from __future__ import annotations

from airflow_provider_spark_lineage.events import Event, Events, read_events
from airflow_provider_spark_lineage.testing.comparison import compare
from airflow_provider_spark_lineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.testing.expected import Expected, Scope, read_expected
from airflow_provider_spark_lineage.testing.relations import RELATIONS
from airflow_provider_spark_lineage.testing.report import Difference, Kind, Report
from airflow_provider_spark_lineage.testing.update import Update, draft_expected, update_expected

__all__ = [
    "ABSENT",
    "RELATIONS",
    "Difference",
    "Event",
    "Events",
    "Expected",
    "Kind",
    "Report",
    "Scope",
    "Update",
    "compare",
    "draft_expected",
    "read_events",
    "read_expected",
    "update_expected",
]
