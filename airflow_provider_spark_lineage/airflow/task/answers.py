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
from airflow_provider_spark_lineage.airflow.task.annotation import annotated
from airflow_provider_spark_lineage.airflow.task.planning import planned_by
from airflow_provider_spark_lineage.airflow.task.provider import is_skipped, send_valid_json
from airflow_provider_spark_lineage.airflow.task.report import Excerpt, TaskReport, excerpt_of
from airflow_provider_spark_lineage.airflow.task.selection import is_selected
from airflow_provider_spark_lineage.spark import EventParts, Findings, Gap, Lineage, Run, harmless, of_tasks


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
        datasets = EventParts.of_lineage(lineage)
        ours.inputs, ours.outputs = [*datasets.inputs], [*datasets.outputs]
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
    parts = EventParts.of_report(first).merged(EventParts.of_report(second))
    return OperatorLineage(**parts.lists())


def rendered(excerpt: Excerpt, own: OperatorLineage | None = None) -> OperatorLineage:
    """Return an excerpt as OpenLineage objects, behind those of `own`; results of checks are joined last."""
    facets: dict[str, Any] = {}
    with harmless("the run facets of this task could not be created"):
        facets = excerpt.run_facets()
    parts = EventParts.of_lineage(excerpt.run.lineage, facets, per_field=excerpt.repeats_dataset_edges)
    if own is not None:
        parts = EventParts.of_report(own).merged(parts)
    return OperatorLineage(**_with_results(parts, excerpt.findings).lists())


def _with_results(parts: EventParts, findings: Sequence[Findings]) -> EventParts:
    """Return an event with results of checks, by `assertion_names`."""
    if findings:
        with harmless("the results of checks are not in the event of this task"):
            if conf.assertion_names() == "class":
                findings = [_with_classes(each) for each in findings]
            return parts.with_findings(findings, conf.sql_text())
    return parts


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
