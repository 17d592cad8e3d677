"""Airflow's own operators in an unedited DAG: lineage by configuration only."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from system_tests.conftest import AssertEvents, RunExample
from system_tests.examples import DAGS

SETTINGS = {
    "AIRFLOW__OPENLINEAGE__CUSTOM_RUN_FACETS": (
        "airflow_provider_spark_lineage.run_facets.spark_application;"
        "airflow_provider_spark_lineage.run_facets.spark_executions"
    ),
    "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
}


@pytest.mark.parametrize("in_workers", [False, True], ids=["dag.test", "LocalExecutor"])
def test_unmodified_operators_report_the_same(
    run_example: RunExample, assert_events: AssertEvents, *, in_workers: bool
) -> None:
    """`PySparkOperator` and `@task.pyspark` yield lineage by one option, and run facets."""
    assert_events(run_example("plain_operators", settings=SETTINGS, in_workers=in_workers))


def test_our_operators_report_the_same_as_unmodified_ones(
    tmp_path: Path, run_example: RunExample, assert_events: AssertEvents
) -> None:
    """The same DAG with our operators instead of the plugin yields the same events."""
    dags = tmp_path / "dags"
    dags.mkdir()
    shutil.copy(DAGS / "nycflights_source.py", dags)
    text = (DAGS / "plain_operators.py").read_text()
    replaced = (
        text.replace(
            "from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator",
            "from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator",
        )
        .replace("PySparkOperator(", "PySparkLineageOperator(")
        .replace("@task.pyspark(", "@task.pyspark_lineage(")
    )
    assert replaced != text
    (dags / "plain_operators.py").write_text(replaced)

    # Without the plugin's switch.
    facets = "AIRFLOW__OPENLINEAGE__CUSTOM_RUN_FACETS"
    assert_events(run_example(dags / "plain_operators.py", settings={facets: SETTINGS[facets]}))
