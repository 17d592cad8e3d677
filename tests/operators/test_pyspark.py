"""`PySparkLineageOperator` and `@task.pyspark_lineage` are Airflow's own, and report lineage besides."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.captured import Captured
from airflow_provider_spark_lineage.record import Record, write_record
from system_tests.airflow_run import DagRun, run_dag, tail


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
def test_a_fault_of_ours_costs_lineage_only(finished: Captured, caplog: pytest.LogCaptureFixture):
    """What goes wrong in our own code ends in one warning that says what was lost."""
    from airflow_provider_spark_lineage.task import TaskLineage

    class NoTaskInstance:
        """Has nothing of what a task instance has."""

    lineage = TaskLineage(finished)
    with caplog.at_level("WARNING"):
        lineage.finish(NoTaskInstance())
    assert [entry.levelname for entry in caplog.records] == ["WARNING"]
    assert "This has no impact on the task" in caplog.text
    assert [one.name for one in lineage.operator_lineage().inputs] == ["/in/orders"]


def _run(home: Path, settings: dict[str, str]) -> DagRun:
    dags = Path(__file__).parent / "dags"
    return run_dag(
        dags / "drop_in.py",
        home=home / "airflow",
        data=home / "data",
        settings={"AIRFLOW__CORE__DAGS_FOLDER": str(dags), **settings},
    )


def _record(number: int, **changes: object) -> Record:
    times = {"started_at": "2026-01-01T00:00:00+00:00", "ended_at": "2026-01-01T00:00:01+00:00"}
    fields = {
        "application_id": "app-1",
        "application_name": "app",
        "spark_version": "4.1.4",
        "agent_version": "0",
        "number": number,
        "name": "count",
        "outcome": "success",
        **times,
        **changes,
    }
    return Record(**fields)


@pytest.fixture
def finished(tmp_path: Path) -> Captured:
    """A finished capture of one read, made of a record and no JVM."""
    attribute = {
        "class": "org.apache.spark.sql.catalyst.expressions.AttributeReference",
        "num-children": 0,
        "name": "id",
        "dataType": "long",
        "exprId": {"id": 7},
    }
    scan = {"class": "org.apache.spark.sql.execution.datasources.LogicalRelation", "num-children": 0}
    facts = [
        {"node": "LogicalRelation", "expr_id": 7, "probed": {"paths": ["file:/in/orders"], "format": "CSV"}}
    ]
    write_record(tmp_path, _record(1, plan=[{**scan, "output": [[attribute]]}], facts=facts))
    captured = Captured(directory=tmp_path)
    captured.finish()
    return captured


@pytest.mark.airflow
def test_facets_are_equal_on_every_call_and_share_nothing(finished: Captured):
    """The provider's redactor writes into what it is given, and other listeners ask again."""
    from airflow_provider_spark_lineage.task import TaskLineage

    lineage = TaskLineage(finished)
    first, second = lineage.operator_lineage(), lineage.operator_lineage()
    assert first == second
    assert [one.name for one in first.inputs] == ["/in/orders"]
    assert first.inputs[0] is not second.inputs[0]
    first.inputs[0].facets.clear()
    assert lineage.operator_lineage() == second


@pytest.mark.airflow
def test_facets_can_be_asked_in_a_forked_child(finished: Captured):
    """The provider asks in a child that has no JVM; what it reads must be plain objects."""
    from airflow_provider_spark_lineage.task import TaskLineage

    lineage = TaskLineage(finished)
    finished.run()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        names = ",".join(one.name for one in lineage.operator_lineage().inputs)
        os.write(writer, names.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"/in/orders"
