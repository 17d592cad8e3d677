"""The report of a task: made once, and all that is said of the task is made from it."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from types import SimpleNamespace
from typing import Any

import pytest
from gap_kinds import gap_kinds
from openlineage.client.serde import Serde
from openlineage_client import needs_fields_of_results
from task_instances import instance, operator, record

from airflow_provider_spark_lineage.airflow.launch.application import Launch, LaunchedApplication
from airflow_provider_spark_lineage.airflow.task.answers import answer, reported
from airflow_provider_spark_lineage.airflow.task.report import TaskReport, excerpt_of
from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage
from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, Findings
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Field,
    Input,
    Lineage,
    Mode,
    Output,
)
from airflow_provider_spark_lineage.spark.plan.algebra import Kind
from airflow_provider_spark_lineage.spark.runs.captured import Captured
from airflow_provider_spark_lineage.spark.runs.run import Run
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

pytestmark = pytest.mark.airflow

READ, WRITTEN = DatasetId("file", "/in/orders"), DatasetId("file", "/out")
LIMIT_BYTES = 200_000


def size_of(lineage: Any) -> int:
    """The bytes of an answer, as far as it is ours."""
    parts = [*lineage.inputs, *lineage.outputs, *lineage.run_facets.values(), *lineage.job_facets.values()]
    return sum(len(json.dumps(Serde.to_dict(part))) for part in parts)


def wide(columns: int) -> Lineage:
    """A copy of columns with long names."""
    names = [f"{number:03}" + "x" * 60 for number in range(columns)]
    fields = tuple(Field(name, "string") for name in names)
    edges = tuple(Edge(READ, name, Kind.IDENTITY, column=name) for name in names)
    write = Output(Dataset(Identity(WRITTEN), fields), Mode.OVERWRITE, edges=edges, inputs=(READ,))
    return Lineage((Input(Dataset(Identity(READ), fields)),), (write,))


def checked(count: int) -> Findings:
    """Results of a table with as many checks as a facet has at most; one of a hundred failed."""
    rules = [
        Assertion(f"rule {n}", n % 100 > 0, f"rule {n}", "rule", content="x" * 600, description="y" * 600)
        for n in range(count)
    ]
    return Findings(tuple(rules), of_dataset="/in/orders")


@needs_fields_of_results
def test_results_of_an_operator_that_checks_data_are_measured(monkeypatch):
    """A broker that refuses a large event loses all of it: its lineage leaves room for the results."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__MAX_EVENT_BYTES", str(LIMIT_BYTES))
    run = Run(wide(180))
    lineage = TaskLineage(SimpleNamespace(run=lambda: run, planned=None, findings=(), stop=lambda: None))
    lineage.add_findings([checked(500)])
    lineage.stop()
    sent = answer(lineage.report, operator(), instance())
    assert size_of(sent) <= LIMIT_BYTES
    [read] = sent.inputs
    results = read.inputFacets["dataQualityAssertions"].assertions
    assert sum(not each.success for each in results) == 5
    assert len(results) < 500
    assert gap_kinds(sent.run_facets) == ["event_too_large", "event_too_large"], "results, and columns"


@needs_fields_of_results
def test_results_of_all_checks_are_joined_once():
    """Those of an operator and those of written frames: each is at its dataset, and none is there twice."""
    of_read = Assertion("not_null", True, "id.not_null", "not_null", column="id")
    of_write = Assertion("unique", True, "id.unique", "unique", column="id")
    in_flight = Findings((of_write,), output=(WRITTEN.namespace, WRITTEN.name))
    run = Run(wide(1))
    collector = SimpleNamespace(run=lambda: run, planned=None, findings=(in_flight,), stop=lambda: None)
    lineage = TaskLineage(collector)
    lineage.add_findings([Findings((of_read,), of_dataset="/in/orders")])
    lineage.stop()
    for _ in range(2):
        sent = reported(lineage.report)
        at_datasets = [
            [each.assertion for each in dataset.facets["dataQualityAssertions"].assertions]
            for dataset in (*sent.inputs, *sent.outputs)
        ]
        assert at_datasets == [["not_null"], ["unique"]]
        assert "test" not in sent.run_facets


def test_a_report_is_made_once():
    """The provider asks several times, in children that are killed after a time: it is there before them."""
    captured = Captured()
    captured.write(record(1))
    lineage = TaskLineage(captured)
    assert lineage.report is not lineage.report
    lineage.stop()
    report = lineage.report
    lineage.stop()
    assert lineage.report is report
    assert excerpt_of(report) is excerpt_of(report) is excerpt_of(report, failed=True)
    with pytest.raises(FrozenInstanceError):
        report.findings = ()


def test_a_failure_does_not_measure_the_event_again():
    """The store has a second for all, and a large lineage takes long."""
    report = TaskReport(Run(wide(3))).measure()
    failed = report.failed(ValueError("no"))
    assert failed.failure is not None
    assert failed.failure.error_class == "ValueError"
    assert excerpt_of(failed) is report.measured


def test_a_text_says_nothing_of_a_job_that_failed():
    """It is unknown which part of the job ran; one that ended well did what its text says."""
    report = TaskReport(planned=wide(1)).measure()
    assert [each.name for each in reported(report).outputs] == ["/out"]
    failed = reported(report, failed=True)
    assert (failed.inputs, failed.outputs) == ([], [])
    assert gap_kinds(failed.run_facets)


def test_launched_applications_take_their_share_of_an_event(monkeypatch):
    """A hundred commands with long arguments must not make the event so large that it is refused."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__MAX_EVENT_BYTES", str(LIMIT_BYTES))
    application = LaunchedApplication("python", "a.py", arguments=("x" * 3_000,))
    report = TaskReport(Run(wide(1)), launch=Launch((application,) * 100))
    assert size_of(reported(report)) <= LIMIT_BYTES
    assert gap_kinds(reported(report).run_facets) == ["event_too_large"]
    assert "sparkLineage_launch" not in reported(report).run_facets
    few = replace(report, launch=Launch((application,)))
    assert "sparkLineage_launch" in reported(few).run_facets


def test_a_query_that_spark_could_not_analyze_is_a_failure_only_of_a_task_that_failed():
    """Since Spark 4.2 it is an execution; a task that ends well has caught the error."""
    captured = Captured()
    captured.write(record(1))
    error = {"class": "AnalysisException", "message": "[TABLE_OR_VIEW_NOT_FOUND] no table"}
    captured.write(
        replace(
            record(2), name="analyze", plan_kind="none", plan=[], facts=[], outcome="failure", error=error
        )
    )
    lineage = TaskLineage(captured)
    lineage.stop()
    failed = answer(lineage.report, operator(), instance(), has_failed=True).run_facets
    assert [failure.message for failure in failed["sparkLineage_failures"].failures] == [error["message"]]
    assert failed["sparkLineage_executions"].failedCount == 1
    ended = answer(lineage.report, operator(), instance()).run_facets
    assert "sparkLineage_failures" not in ended
    assert (ended["sparkLineage_executions"].count, ended["sparkLineage_executions"].failedCount) == (1, 0)
