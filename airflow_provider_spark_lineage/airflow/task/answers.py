"""Answers to OpenLineage's provider about a task: the same from operators, extractors and auto-capture.

The provider asks in a forked child without access to the JVM, kills it after `[openlineage]
execution_timeout`, and may ask again: answers only read a report, and are new objects on each call, because
the provider's redactor modifies them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from airflow.providers.openlineage.extractors import OperatorLineage

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.task.annotation import annotated, joined
from airflow_provider_spark_lineage.airflow.task.planning import planned_by
from airflow_provider_spark_lineage.airflow.task.provider import is_skipped, send_valid_json
from airflow_provider_spark_lineage.airflow.task.report import Excerpt, TaskReport, excerpt_of
from airflow_provider_spark_lineage.airflow.task.selection import is_selected
from airflow_provider_spark_lineage.spark.checks.assertion import Findings
from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.spark.facets.jobs import lineage_job_facets
from airflow_provider_spark_lineage.spark.facets.quality import with_findings
from airflow_provider_spark_lineage.spark.facets.runs import lineage_run_facets
from airflow_provider_spark_lineage.spark.gaps import of_tasks
from airflow_provider_spark_lineage.spark.guard import harmless
from airflow_provider_spark_lineage.spark.lineage.model import Gap, Lineage
from airflow_provider_spark_lineage.spark.runs.run import Run


def answer(
    report: TaskReport | None,
    task: Any,
    task_instance: Any,
    *,
    has_failed: bool = False,
    own: OperatorLineage | None = None,
    hooks: bool = True,
    whole: bool = False,
    max_bytes: int | None = None,
) -> OperatorLineage:
    """Return the datasets of a task at its end: of Spark, of its author, of its hooks.

    `own` is the result of the operator or of another extractor. `hooks` is false if the provider has added
    their datasets already; for `whole` and `max_bytes` see `excerpt_of`.
    """
    send_valid_json()
    failed = has_failed or is_skipped(task_instance)
    if report is not None and not has_failed:
        with harmless("the lineage of this task lists a failure that the task survived"):
            report = report.succeeded()
    result = reported(report, failed=failed, own=own, whole=whole, max_bytes=max_bytes)
    return annotated(result, task, task_instance, failed=failed, hooks=hooks)


def reported(
    report: TaskReport | None,
    *,
    failed: bool = False,
    own: OperatorLineage | None = None,
    whole: bool = False,
    max_bytes: int | None = None,
) -> OperatorLineage:
    """Return a report as OpenLineage objects, merged with `own`; for other arguments see `excerpt_of`."""
    if report is not None:
        with harmless("the lineage of this task could not be converted to OpenLineage"):
            return rendered(excerpt_of(report, failed=failed, whole=whole, max_bytes=max_bytes), own)
    return OperatorLineage() if own is None else own


def started(report: TaskReport, own: OperatorLineage | None = None) -> OperatorLineage:
    """Return START of a report's task: its planned datasets, or gaps where its text leaves names open."""
    planned = report.planned
    gaps: tuple[Gap, ...] = ()
    if planned is not None:
        from airflow_provider_spark_lineage.airflow.submitted.planned import (
            open_names,  # The parser of SQL takes long.
        )

        gaps = open_names(planned)
    ours = rendered(excerpt_of(replace(report, run=Run(Lineage(gaps=gaps)), planned=None)))
    if planned is not None and not gaps:
        lineage = excerpt_of(TaskReport(Run(planned))).run.lineage
        ours.inputs, ours.outputs = input_datasets(lineage), output_datasets(lineage)
    return ours if own is None else merged(own, ours)


def operator_lineage(
    lineage: Lineage, operator: Any, task_instance: Any = None, *, failed: bool = False
) -> OperatorLineage:
    """Return a lineage as an `OperatorLineage`, with the datasets of inlets, outlets and hooks.

    `task_instance` is the argument of `extract_on_complete` or `extract_on_failure`; None at START.
    """
    return annotated(rendered(excerpt_of(TaskReport(Run(lineage)))), operator, task_instance, failed=failed)


def merged(first: OperatorLineage, second: OperatorLineage) -> OperatorLineage:
    """Return both lineages as one; the first wins if both have a dataset or a facet."""
    return OperatorLineage(
        inputs=joined(first.inputs, second.inputs),
        outputs=joined(first.outputs, second.outputs),
        run_facets={**second.run_facets, **first.run_facets},
        job_facets={**second.job_facets, **first.job_facets},
    )


def rendered(excerpt: Excerpt, own: OperatorLineage | None = None) -> OperatorLineage:
    """Return an excerpt as OpenLineage objects, behind those of `own`; results of checks are joined last."""
    lineage = excerpt.run.lineage
    facets: dict[str, Any] = {}
    with harmless("the run facets of this task could not be created"):
        facets = excerpt.run_facets()
    ours = OperatorLineage(
        inputs=input_datasets(lineage),
        outputs=output_datasets(lineage, dataset_edges_per_field=excerpt.repeats_dataset_edges),
        run_facets={**facets, **lineage_run_facets(lineage)},
        job_facets=lineage_job_facets(lineage),
    )
    return _with_results(ours if own is None else merged(own, ours), excerpt.findings)


def _with_results(lineage: OperatorLineage, findings: Sequence[Findings]) -> OperatorLineage:
    """Return a lineage with results of checks, at its datasets or at the run, by `assertion_names`."""
    if not findings:
        return lineage
    with harmless("the results of checks are not in the event of this task"):
        if conf.assertion_names() == "class":
            findings = [_with_classes(each) for each in findings]
        lineage.inputs, lineage.run_facets = with_findings(
            lineage.inputs, lineage.run_facets or {}, findings, conf.sql_text(), lineage.outputs
        )
    return lineage


def _with_classes(findings: Findings) -> Findings:
    """Return results of checks with the classes of Airflow in place of the names of the assertions."""
    assertions = tuple(replace(each, assertion=each.check_type) for each in findings.assertions)
    return replace(findings, assertions=assertions)


def uncaptured(operator: Any) -> TaskReport | None:
    """Return the report of a job that has run, from its text, with a gap that says why it was not captured.

    None if the user has disabled capture or excluded the task.
    """
    with harmless("the lineage of this task could not be computed from its text"):
        if not conf.disabled() and is_selected(operator.dag_id, operator.task_id):
            reason = of_tasks.NOT_STARTED if conf.auto_capture() else of_tasks.SWITCHED_OFF
            gap = Gap("task", reason())
            return TaskReport(Run(Lineage(gaps=(gap,))), planned=planned_by(operator))
    return None
