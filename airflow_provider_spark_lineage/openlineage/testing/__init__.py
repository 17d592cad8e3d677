"""Compares emitted OpenLineage events with expected ones, found by `<dag_id>.<task_id>.event.<type>`.

| module | purpose |
| --- | --- |
| `comparison` | compares events with expectations: `compare`, `assert_lineage` |
| `expected`, `keys` | read expected files: values, matchers and variables; keys and `when` |
| `matchers`, `differences` | compare one value |
| `relations` | rules that must hold between events |
| `report` | the result as text and JSON |
| `drafts`, `updates`, `yaml_text` | write expected files from events |
| `runs`, with the programs `dag_process` and `lifeline` | run a DAG in real Airflow |
| `in_dag`, `stores` | compare in a task of the DAG itself |

>>> from airflow_provider_spark_lineage.openlineage.events import Events
>>> expected = Expected.of({"dag.task.event.start": {"run": {"runId": "1"}}})
>>> event = {"eventType": "START", "run": {"runId": "2"}, "job": {"name": "dag.task"}}
>>> report = compare(expected, Events.of([event]), without=RELATIONS)
>>> print(report.text())
changed     dag.task.event.start  (event 1)
  run.runId has another value
    expected  "1"
    actual    "2"
<BLANKLINE>
0 events match, 1 differs
"""

from __future__ import annotations

from airflow_provider_spark_lineage.openlineage.events import Event, Events, read_events
from airflow_provider_spark_lineage.openlineage.testing.comparison import (
    LineageDiffersError,
    assert_lineage,
    compare,
)
from airflow_provider_spark_lineage.openlineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.openlineage.testing.drafts import DraftRules
from airflow_provider_spark_lineage.openlineage.testing.expected import Expected, Scope, read_expected
from airflow_provider_spark_lineage.openlineage.testing.relations import RELATIONS
from airflow_provider_spark_lineage.openlineage.testing.report import Difference, Kind, Report
from airflow_provider_spark_lineage.openlineage.testing.runs import (
    DagRun,
    RunError,
    make_metadata,
    run_dag,
    tail,
)
from airflow_provider_spark_lineage.openlineage.testing.updates import Update, draft_expected, update_expected

__all__ = [
    "ABSENT",
    "RELATIONS",
    "DagRun",
    "Difference",
    "DraftRules",
    "Event",
    "Events",
    "Expected",
    "Kind",
    "LineageDiffersError",
    "Report",
    "RunError",
    "Scope",
    "Update",
    "assert_lineage",
    "compare",
    "draft_expected",
    "make_metadata",
    "read_events",
    "read_expected",
    "run_dag",
    "tail",
    "update_expected",
]
