"""`custom_run_facets` functions: Spark's work in a task, or nothing; never an exception."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage import run_facets
from airflow_provider_spark_lineage.airflow.task import report, task_lineage
from airflow_provider_spark_lineage.airflow.task.answers import reported
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.airflow.task.run_facets import RUN_FACETS, unknown_functions
from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.facets.applications import (
    application_facets,
    environment_facets,
    properties_facets,
)
from airflow_provider_spark_lineage.spark.facets.executions import executions_facets
from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER
from airflow_provider_spark_lineage.spark.facets.resources import bottlenecks_facets, resources_facets
from airflow_provider_spark_lineage.spark.facets.streams import streams_facets
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import ExecutionSummary, Failure, Gap, Join, Lineage
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.streams import Progress, StreamRun, Streams, StreamSource
from airflow_provider_spark_lineage.spark.records.usage import StageUsage, Usage
from airflow_provider_spark_lineage.spark.runs.run import Run
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId

EACH = pytest.mark.parametrize("name", run_facets.__all__)

STAGE = StageUsage(3, tasks=8, elapsed_ms=60_000, slowest_ms=55_000, median_ms=900, run_ms=60_000)
STREAM = StreamRun(
    "the query",
    "the run",
    name="copy",
    started_at="2026-01-01T00:00:00.000Z",
    ended_at="2026-01-01T00:01:00.000Z",
    outcome="failure",
    batches=3,
    rows=9,
    error={"class": "E", "message": "no", "condition": "C"},
    last=Progress(
        2,
        "2026-01-01T00:00:50.000Z",
        80,
        "2026-01-01T00:00:00.000Z",
        "FileSink[/out]",
        (StreamSource("KafkaV2[Subscribe[t]]", "0", "9", 9, 2.5, 3.5, {"maxOffsetsBehindLatest": 4.0}),),
    ),
)
APPLICATION = Application(
    "application_1",
    "load",
    "4.1.0",
    master="yarn",
    deploy_mode="cluster",
    user="etl",
    ui_url="http://driver:4040",
    history_url="http://history:18080/history/application_1",
    properties={"spark.master": "yarn"},
    usage=Usage(jobs=1, stages=1, tasks=8, python_ms=5, longest_stages=(STAGE,)),
    streams=Streams(1, (STREAM,)),
)
EXECUTION = ExecutionSummary(
    1,
    "count",
    "2026-01-01T00:00:00+00:00",
    "2026-01-01T00:00:01+00:00",
    failed=True,
    reads=(DatasetId("file", "/in"),),
    rows=3,
    joins=(Join("application_1", "CartesianProduct", 0, 30_000, rows=9),),
    unread="the plan could not be read: ValueError: no",
)


def _task_instance(**changes: object) -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**{**fields, **changes})


@EACH
def test_a_task_without_spark_has_no_facet(name):
    """A task that captured nothing gets None, which the provider leaves out."""
    assert getattr(run_facets, name)(_task_instance(), None) is None


@pytest.fixture
def ran(monkeypatch):
    """A task that executed once on Spark has ended in this process."""
    lineage = Lineage(
        gaps=(Gap("records", Reason(GapKind.NOT_RECORDED, "one is missing")),), failures=(Failure("E", "no"),)
    )
    run = Run(lineage, applications=(APPLICATION,), executions=(EXECUTION,))
    captured = SimpleNamespace(run=lambda: run, planned=None, findings=())
    monkeypatch.setattr(TASK, "capture", None)
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__SPARK_ENVIRONMENT", "TEAM; DB_PASSWORD; MISSING")
    monkeypatch.setenv("TEAM", "sales")
    monkeypatch.setenv("DB_PASSWORD", "hunter2")
    TASK.set_capture(_task_instance(), task_lineage.TaskLineage(captured))


def _facets(name):
    return {
        key: Serde.to_dict(each) for key, each in getattr(run_facets, name)(_task_instance(), None).items()
    }


@EACH
@pytest.mark.usefixtures("ran")
def test_a_facet_is_valid_by_its_schema(name):
    """The schema that a facet names lies in the package, and the facet follows it."""
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "run": {"runId": "018cc778-5000-7a46-aca6-85a986a44f75", "facets": _facets(name)},
        "job": {"namespace": "n", "name": "j"},
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }
    assert problems_of(event) == []


@EACH
@pytest.mark.usefixtures("ran")
@pytest.mark.parametrize("wrong", [None, object()])
def test_never_raises(name, wrong):
    """A faulty argument costs the facet, not the event."""
    assert getattr(run_facets, name)(wrong, None) is None


@EACH
@pytest.mark.usefixtures("ran")
def test_another_try_is_another_task(name):
    """The lineage of one try is not reported for the next, nor for another mapped instance."""
    function = getattr(run_facets, name)
    assert function(_task_instance(), None) is not None
    assert function(_task_instance(try_number=2), None) is None
    assert function(_task_instance(map_index=1), None) is None


@pytest.mark.usefixtures("ran")
def test_all_facets_are_those_of_the_single_functions():
    """Whoever names `all_facets` misses nothing, and gets nothing twice."""
    single = [key for name in run_facets.__all__ if name != "all_facets" for key in _facets(name)]
    assert sorted(single) == sorted(_facets("all_facets"))
    assert len(single) == len(set(single))


@pytest.mark.usefixtures("ran")
def test_the_tasks_own_event_has_the_facets_without_the_option():
    """A user who sets no option sees which application ran, and why it was slow."""
    facets = reported(TASK.report_of(_task_instance()), failed=True).run_facets
    assert sorted(facets) == sorted(_facets("all_facets"))


@pytest.mark.usefixtures("ran")
def test_a_forked_child_does_not_measure_the_event_again(monkeypatch):
    """Each function is called in a child that is killed after a time: the parent has measured the event."""
    expected = _facets("all_facets")
    collector = TASK.capture._collector
    collector.stop = lambda: None
    TASK.set_capture(_task_instance(), task_lineage.TaskLineage(collector))
    TASK.capture.stop()
    monkeypatch.setattr(report, "fitted_lineage", None)
    assert _facets("all_facets") == expected


@pytest.mark.usefixtures("ran")
def test_only_named_variables_are_reported_and_no_secret():
    """The environment of a worker holds credentials: nothing is reported unasked."""
    variables = _facets("spark_environment")["environmentVariables"]["environmentVariables"]
    assert variables == [{"name": "DB_PASSWORD", "value": "***"}, {"name": "TEAM", "value": "sales"}]


@pytest.mark.usefixtures("ran")
def test_a_plan_that_could_not_be_read_is_an_extraction_error():
    """Consumers that know the standard facet see which executions the lineage does not contain."""
    facet = _facets("spark_gaps")["extractionError"]
    assert (facet["totalTasks"], facet["failedTasks"]) == (1, 1)
    assert facet["errors"] == [
        {
            "errorMessage": "the plan could not be read: ValueError: no",
            "taskNumber": 0,
            "task": "execution 1 (count)",
        }
    ]


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("company.facet; airflow_provider_spark_lineage.run_facets.spark_gaps", ""),
        ("airflow_provider_spark_lineage.run_facets.spark_resource", "write {}.spark_resources."),
        ("airflow_provider_spark_lineage.spark.facets.all_facets", "write {}.all_facets."),
    ],
)
def test_a_function_that_does_not_exist_is_named(option, sentence):
    """The provider only skips it: one sentence says so, with the name that was meant."""
    sentences = [text for _, text in unknown_functions(option)]
    assert len(sentences) == bool(sentence)
    for text in sentences:
        assert option in text
        assert text.endswith(sentence.format("airflow_provider_spark_lineage.run_facets"))


def test_an_event_lists_a_hundred_executions_and_counts_all():
    """An event must not grow with the loop inside a task."""
    executions = [ExecutionSummary(n, "count", "2026-01-01", "2026-01-01", n % 2 == 0) for n in range(1, 251)]
    facet = executions_facets(executions)["sparkLineage_executions"]
    assert (facet.count, facet.failedCount, len(facet.executions)) == (250, 125, 100)


def test_every_function_has_a_row():
    """A function that is not in the table of functions would create all facets."""
    assert sorted(RUN_FACETS) == sorted(set(run_facets.__all__) - {"all_facets"})


def test_nothing_captured_gives_no_facet():
    """No application and no execution: no facet at all."""
    assert application_facets(()) == executions_facets(()) == properties_facets(()) == {}
    assert (
        resources_facets(()) == bottlenecks_facets(()) == environment_facets({}) == streams_facets(()) == {}
    )
