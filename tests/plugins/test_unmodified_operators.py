"""Airflow's own operators with auto-capture, in real Airflow and real Spark."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag, stored_of
from servers.spark_home import spark_home

from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

DAG = Path(__file__).parent / "dags" / "unmodified.py"
EXTRACTOR = {
    "AIRFLOW__OPENLINEAGE__EXTRACTORS": "airflow_provider_spark_lineage.extractors.SparkExtractor",
}
CAPTURE = {
    "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
    "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_EXCLUDE": "*.left_out",
    "AIRFLOW__SPARK_LINEAGE__EXTRA_OPERATORS": "company.CopyOperator = in process",
}
WITHOUT_SPARK = ("plain", "looks", "external", "left_out")
"""Tasks without lineage of ours; the last two run Spark, in a Python of its own and excluded."""

CUSTOMERS = (
    *("function", "copies", "reports", "fails", "sensor", "goes_on", "chooses", "branches", "grouped"),
    *("mapped_1", "mapped_2", "retries_1", "retries_2"),
    *("looks_again_1", "looks_again_2", "defers_1", "defers_2"),
)
COLUMNS = {
    "session": ("customer", "customer"),
    "nightly": ("amount", "amount"),
    "decorated": ("twice", "amount"),
    "submit": ("submit", "amount"),
    "sql": ("sql", "amount"),
    **{output: (re.sub(r"_\d", "", output), "customer") for output in CUSTOMERS},
}
"""Output -> its column, and the column of `orders` that it comes from."""

JOB = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.read.parquet(sys.argv[1]).selectExpr("amount as submit").write.parquet(sys.argv[2])
"""


def run(home: Path, **settings: str) -> DagRun:
    (home / "job.py").write_text(JOB)
    return run_dag(
        DAG,
        home=home / "airflow",
        settings={
            "AIRFLOW_CONN_MACHINE": json.dumps({"conn_type": "spark", "host": "local[1]"}),
            "UNMODIFIED_HOME": str(home),
            **spark_home(),
            **settings,
        },
    )


@pytest.fixture(scope="module", params=[CAPTURE, {**CAPTURE, **EXTRACTOR}], ids=["alone", "with extractor"])
def captured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DagRun]:
    home = tmp_path_factory.mktemp("captured")
    dag_run = run(home, **request.param)
    others = {task: state for task, state in dag_run.tasks.items() if state != "success"}
    assert others == {"fails": "failed", "not_chosen": "skipped"}, tail(dag_run.log, 60)
    return home, dag_run


def events(dag_run: DagRun, *types: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events of tasks, not those of single executions, with the task."""
    for event in dag_run.read().items:
        is_task = "airflow" in event.document["run"]["facets"]
        if event.type in types and is_task:
            yield event.name.removeprefix("unmodified."), event.document


def test_every_task_reports_its_columns(captured):
    """By whatever operator Spark was used; a failed or a deferred task has its finished writes."""
    home, dag_run = captured
    columns = {}
    for _, event in events(dag_run, "complete", "fail", "other"):
        for output in event["outputs"]:
            fields = output["facets"].get("columnLineage", {"fields": {}})["fields"]
            for column, entry in fields.items():
                [origin] = entry["inputFields"]
                assert origin["name"] == f"{home}/orders"
                columns[output["name"].removeprefix(f"{home}/")] = (column, origin["field"])
    assert columns == COLUMNS


def test_the_viewer_has_what_every_task_wrote(captured):
    """In its last try, also before it deferred itself; a rescheduled sensor begins anew."""
    home, _ = captured
    kept = {
        output["name"].removeprefix(f"{home}/")
        for each in stored_of(home / "airflow").values()
        for event in each.events
        for output in event["outputs"]
    }
    assert kept - {"orders"} == COLUMNS.keys() - {"retries_1", "looks_again_1"}


def test_each_execution_is_a_child_run(captured):
    """As with our operators; nothing is sent twice, also with other extractors."""
    _, dag_run = captured
    names = Counter(event.name for event in dag_run.read().items if event.type == "complete")
    for output in COLUMNS:
        task = "group.grouped" if output == "grouped" else re.sub(r"_\d", "", output)
        assert names[f"unmodified.{task}.{output}"] == 1, output


def test_the_providers_own_facets_stay(captured):
    """Source code of a function, the operator's attributes, and an operator's own facets."""
    _, dag_run = captured
    ends = dict(events(dag_run, "complete"))
    assert "def function()" in ends["function"]["job"]["facets"]["sourceCode"]["sourceCode"]
    for task in ("function", "mapped", "plain", "looks", "sensor", "chooses", "external"):
        assert "unknownSourceAttribute" in ends[task]["run"]["facets"], task
    assert [each["name"] for each in ends["reports"]["inputs"]][1:] == ["catalog"]


def test_a_task_without_spark_and_one_that_is_left_out_have_nothing_of_ours(captured):
    """Importing pyspark does not count as use, and a Python of its own may not have this package."""
    _, dag_run = captured
    checked = [pair for pair in events(dag_run, "start", "complete") if pair[0] in WITHOUT_SPARK]
    assert len(checked) == 8
    for task, event in checked:
        assert (event["inputs"], event["outputs"]) == ([], []), task
        assert not any(key.startswith("sparkLineage") for key in event["run"]["facets"]), task


def test_start_has_the_lineage_of_a_jobs_text(captured):
    """A function may do anything; a statement names its tables."""
    home, dag_run = captured
    starts = {task: [each["name"] for each in event["outputs"]] for task, event in events(dag_run, "start")}
    assert {task: outputs for task, outputs in starts.items() if outputs} == {"sql": [f"{home}/sql"]}
