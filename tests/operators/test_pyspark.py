"""`PySparkLineageOperator` and `@task.pyspark_lineage` are Airflow's own, and report lineage besides."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag

from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER
from airflow_provider_spark_lineage.testing import DagRun, tail


@pytest.mark.airflow
def test_arguments_and_templates_are_those_of_airflow():
    """A DAG author changes the class name and nothing else."""
    from airflow.providers.apache.spark.decorators.pyspark import _PySparkDecoratedOperator
    from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator

    from airflow_provider_spark_lineage.operators.pyspark import (
        PySparkLineageOperator,
        _PySparkLineageDecoratedOperator,
    )

    pairs = (
        (PySparkLineageOperator, PySparkOperator),
        (_PySparkLineageDecoratedOperator, _PySparkDecoratedOperator),
    )
    for ours, theirs in pairs:
        assert issubclass(ours, theirs)
        assert inspect.signature(ours.__init__) == inspect.signature(theirs.__init__)
        for name in (
            "template_fields",
            "template_fields_renderers",
            "template_ext",
            "ui_color",
            "shallow_copy_attrs",
        ):
            assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.airflow
@pytest.mark.spark
@pytest.mark.parametrize("disabled", ["True", "False"])
def test_does_what_airflows_operator_does(tmp_path: Path, disabled: str):
    """Same result, same templates, same context; with OpenLineage off, nothing of ours is even imported."""
    run = _run(tmp_path, {"AIRFLOW__OPENLINEAGE__DISABLED": disabled})
    assert run.state == "success", tail(run.log, 60)
    assert run.events.exists() is (disabled == "False")


@pytest.mark.airflow
def test_a_dag_with_our_operators_serializes_like_one_with_airflows():
    """The scheduler stores DAGs as JSON: attributes that our classes add for a run must not be in it."""
    from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
    from airflow.sdk import DAG

    try:
        from airflow.serialization.serialized_objects import DagSerialization
    except ImportError:  # Airflow before 3.2
        from airflow.serialization.serialized_objects import SerializedDAG as DagSerialization

    from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator

    def work(spark, day=None): ...

    def serialized(operator: type[PySparkOperator]) -> str:
        with DAG("dag", schedule=None) as dag:
            operator(task_id="one", python_callable=work, config_kwargs={"a": "b"})
            operator.partial(task_id="many", python_callable=work).expand(op_kwargs=[{"day": 1}, {"day": 2}])
        return json.dumps(DagSerialization.to_dict(dag)["dag"]["tasks"], sort_keys=True)

    theirs, ours = serialized(PySparkOperator), serialized(PySparkLineageOperator)
    module = "airflow_provider_spark_lineage.operators.pyspark"
    assert module in ours
    named = ours.replace("PySparkLineageOperator", "PySparkOperator")
    assert named.replace(module, PySparkOperator.__module__) == theirs


def _run(home: Path, settings: dict[str, str]) -> DagRun:
    return run_dag(Path(__file__).parent / "dags" / "drop_in.py", home=home / "airflow", settings=settings)


@pytest.mark.airflow
@pytest.mark.spark
def test_all_events_of_a_task_have_the_facets_of_its_start(tmp_path: Path):
    """Also its executions, and OTHER of a task that is stopped: one parent, root, engine and type."""
    from airflow.providers.openlineage.utils import utils

    if not hasattr(utils, "build_task_event_run_facets"):
        pytest.skip("providers before 2.20 give documentation, tags and the schedule to START only")
    settings = {
        "AIRFLOW_CONN_MACHINE": json.dumps({"conn_type": "spark", "host": "local[1]"}),
        "INTERIM_HOME": str(tmp_path),
    }
    run = run_dag(Path(__file__).parent / "dags" / "interim.py", home=tmp_path / "airflow", settings=settings)
    assert run.state == "success", tail(run.log, 60)
    started: dict[str, Any] = {}
    ours: Counter[str] = Counter()
    parents = set()
    for event in (item.document for item in run.read().items):
        first = started.setdefault(event["run"]["runId"], event)
        if event["producer"] != PRODUCER:
            continue
        ours[event["eventType"]] += 1
        parents.add(event["run"]["facets"]["parent"]["_producer"])
        for about in ("run", "job"):
            facets = first[about]["facets"]
            assert {key: event[about]["facets"].get(key) for key in facets} == facets, event["eventType"]
    assert ours == {"START": 2, "COMPLETE": 2, "OTHER": 2}
    [parent] = parents
    assert parent.startswith("https://github.com/apache/airflow/"), "consumers read the orchestrator from it"
