"""Airflow's own operators in a DAG that nobody edited: lineage by configuration only."""

from __future__ import annotations

import pytest

from system_tests.conftest import AssertEvents, RunExample

SETTINGS = {
    "AIRFLOW__OPENLINEAGE__EXTRACTORS": "airflow_provider_spark_lineage.extractors.pyspark.PySparkExtractor",
    "AIRFLOW__OPENLINEAGE__CUSTOM_RUN_FACETS": (
        "airflow_provider_spark_lineage.run_facets.spark_application;"
        "airflow_provider_spark_lineage.run_facets.spark_executions"
    ),
    "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
}


@pytest.mark.parametrize("own_processes", [False, True], ids=["dag.test", "LocalExecutor"])
def test_unmodified_operators_report_the_same(
    run_example: RunExample, assert_events: AssertEvents, *, own_processes: bool
) -> None:
    """`PySparkOperator` and `@task.pyspark` yield lineage through extractor, plugin and run facets."""
    assert_events(run_example("plain_operators", settings=SETTINGS, own_processes=own_processes))
