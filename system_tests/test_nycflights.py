"""The example pipeline, as a user would run it."""

from __future__ import annotations

from airflow_provider_spark_lineage.testing import DagRun
from system_tests.conftest import AssertEvents, RunExample

Lineage = dict[tuple[str, str], object]


def test_pipeline_reports_its_lineage(run_example: RunExample, assert_events: AssertEvents) -> None:
    """Every task says what it read, what it wrote and which column came from where, however Spark is run.

    The other two DAGs read what the first has written. `nycflights_report` submits an application; what
    `nycflights_sql` writes has the inputs and the columns' origins of the same made in Python.
    """
    pipeline = run_example("nycflights")
    assert_events(pipeline)
    assert_events(run_example("nycflights_report"))
    by_sql = lineage(run_example("nycflights_sql"))
    assert by_sql == {task: found for task, found in lineage(pipeline).items() if task in by_sql}
    assert len(by_sql) == 3


def lineage(run: DagRun) -> Lineage:
    """Return, for each task and dataset that it wrote, the inputs and the lineage of columns."""
    return {
        (task["task_id"], output["name"]): (
            {dataset["name"] for dataset in document["inputs"]},
            output["facets"].get("columnLineage"),
        )
        for event in run.read().items
        if event.type == "complete"
        for document in [event.document]
        for task in [document["run"]["facets"].get("airflow", {}).get("task", {"task_id": ""})]
        for output in document["outputs"]
        if task["task_id"]
    }
