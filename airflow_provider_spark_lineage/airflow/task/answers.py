"""Answers to OpenLineage's provider about a task: the same from operators, extractors and auto-capture.

The provider asks in a forked child without access to the JVM, kills it after `[openlineage]
execution_timeout`, and may ask again: answers only read what the task's process stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.airflow.task.annotation import annotated, joined
from airflow_provider_spark_lineage.spark.gaps import of_tasks
from airflow_provider_spark_lineage.spark.guard import harmless

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.spark.checks.assertion import Findings
    from airflow_provider_spark_lineage.spark.facets.size import Content
    from airflow_provider_spark_lineage.spark.lineage.model import Lineage
    from airflow_provider_spark_lineage.spark.runs.pipeline import Run

TOO_LARGE_TO_STORE = "the lineage is too large for the viewer's store"


def answer(
    task: Any,
    ours: Callable[[bool], OperatorLineage],
    task_instance: Any = None,
    *,
    has_failed: bool = False,
    hooks: bool = True,
) -> OperatorLineage:
    """Return the datasets that a task read and wrote, and those that its author and hooks state.

    `ours` is called with whether the work may be incomplete: the task failed, or skipped itself.
    `task_instance` is None at START; `hooks` is false if the provider has added their datasets already.
    """
    from airflow_provider_spark_lineage.airflow.task.provider import is_skipped, send_valid_json

    send_valid_json()
    failed = has_failed or is_skipped(task_instance)
    return annotated(ours(failed), task, task_instance, failed=failed, hooks=hooks)


def answer_at_start(task: Any) -> OperatorLineage:
    """Return the datasets in the text of a task's job, and those that its author states."""
    return answer(task, lambda _: _planned_operator_lineage(task))


def answer_at_start_of_query(task: Any, sql: str, settings: Mapping[str, str]) -> OperatorLineage:
    """Return the datasets in SQL that a session of the task will run, and those that its author states.

    `settings` are those of the session. None if the text leaves a name open: the end of the task has it.
    """
    from airflow.providers.openlineage.extractors import OperatorLineage

    def planned(_: bool) -> OperatorLineage:
        with harmless("the planned lineage of this task could not be computed"):
            from airflow_provider_spark_lineage.airflow import conf
            from airflow_provider_spark_lineage.airflow.submitted.planned import certain, planned_of_query

            # Names that the text leaves open are known to the session, so they are not a gap.
            if not conf.disabled() and certain(lineage := planned_of_query(task, sql, settings)):
                return rendered_plan(lineage)
        return OperatorLineage()

    return answer(task, planned)


def operator_lineage(
    lineage: Lineage, operator: Any, task_instance: Any = None, *, failed: bool = False
) -> OperatorLineage:
    """Return a lineage as an `OperatorLineage`, with the datasets of inlets, outlets and hooks.

    `task_instance` is the argument of `extract_on_complete` or `extract_on_failure`; None at START.
    """
    return annotated(rendered(content_of(lineage)), operator, task_instance, failed=failed)


def merged(first: OperatorLineage, second: OperatorLineage) -> OperatorLineage:
    """Return both lineages as one; the first wins if both have a dataset or a facet."""
    from airflow.providers.openlineage.extractors import OperatorLineage

    return OperatorLineage(
        inputs=joined(first.inputs, second.inputs),
        outputs=joined(first.outputs, second.outputs),
        run_facets={**second.run_facets, **first.run_facets},
        job_facets={**second.job_facets, **first.job_facets},
    )


def content_of(lineage: Lineage, used_bytes: int = 0, max_bytes: int | None = None) -> Content:
    """Return what an event can hold of a lineage beside facets of so many bytes.

    `max_bytes` is the limit of an event that is stored; None: of one that is sent.
    """
    from airflow_provider_spark_lineage.airflow import conf
    from airflow_provider_spark_lineage.spark.facets.size import Content, fitted

    content = Content(lineage, repeats_dataset_edges=conf.repeat_dataset_edges())
    if max_bytes is not None:
        return fitted(content, max_bytes, used_bytes, reason=TOO_LARGE_TO_STORE)
    return fitted(content, conf.max_event_bytes(), used_bytes)


def rendered(content: Content) -> OperatorLineage:
    """Return new OpenLineage objects on each call, because the provider's redactor modifies them."""
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets, output_datasets
    from airflow_provider_spark_lineage.spark.facets.jobs import lineage_job_facets
    from airflow_provider_spark_lineage.spark.facets.runs import lineage_run_facets

    lineage = content.lineage
    return OperatorLineage(
        inputs=input_datasets(lineage),
        outputs=output_datasets(lineage, dataset_edges_per_field=content.repeats_dataset_edges),
        run_facets=lineage_run_facets(lineage),
        job_facets=lineage_job_facets(lineage),
    )


def with_run_facets(answer: OperatorLineage, run: Run, max_bytes: int | None = None) -> OperatorLineage:
    """Return an answer with the facets of the task's Spark applications and executions.

    Without the largest ones if they are too large for an event. Gaps and failures are facets of the lineage.
    """
    from airflow_provider_spark_lineage.airflow.task.run_facets import fitting_run_facets

    with harmless("the run facets of this task could not be created"):
        answer.run_facets = {**fitting_run_facets(run, max_bytes)[0], **answer.run_facets}
    return answer


def with_findings(
    answer: OperatorLineage, findings: Sequence[Findings], max_bytes: int | None = None
) -> OperatorLineage:
    """Return an answer with the results of checks, at its datasets or at the run."""
    if not findings:
        return answer
    with harmless("the results of checks are not in the event of this task"):
        from airflow_provider_spark_lineage.airflow.task.check_results import add_results

        add_results(answer, findings, max_bytes)
    return answer


def rendered_plan(lineage: Lineage) -> OperatorLineage:
    """Return the datasets of a job that has not run; only the gaps if its text leaves names open."""
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.airflow.submitted.planned import open_names
    from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets, output_datasets

    if gaps := open_names(lineage):
        return rendered(content_of(replace(lineage, inputs=(), outputs=(), gaps=gaps)))
    lineage = content_of(lineage).lineage
    return OperatorLineage(inputs=input_datasets(lineage), outputs=output_datasets(lineage))


def _planned_operator_lineage(operator: Any) -> OperatorLineage:
    from airflow.providers.openlineage.extractors import OperatorLineage

    with harmless("the planned lineage of this task could not be computed"):
        lineage = _planned(operator)
        if lineage is not None:
            return rendered_plan(lineage)
    return OperatorLineage()


def uncaptured_operator_lineage(operator: Any, failed: bool) -> OperatorLineage:
    """Return the planned lineage of a job that has run, with a gap that says why it was not captured.

    Empty if the user has disabled capture or excluded the task.
    """
    from airflow.providers.openlineage.extractors import OperatorLineage

    with harmless("the lineage of this task could not be computed from its text"):
        from airflow_provider_spark_lineage.airflow import conf
        from airflow_provider_spark_lineage.airflow.task.selection import is_selected
        from airflow_provider_spark_lineage.spark.lineage.model import Gap, Lineage

        if not conf.disabled() and is_selected(operator.dag_id, operator.task_id):
            reason = of_tasks.NOT_STARTED if conf.auto_capture() else of_tasks.SWITCHED_OFF
            gap = Gap("task", reason())
            planned = None if failed else _planned(operator)
            lineage = Lineage() if planned is None else planned
            return rendered(content_of(replace(lineage, gaps=(gap, *lineage.gaps))))
    return OperatorLineage()


def _planned(operator: Any) -> Lineage | None:
    from airflow_provider_spark_lineage.airflow import conf
    from airflow_provider_spark_lineage.airflow.known_operators import driver_kind
    from airflow_provider_spark_lineage.airflow.submitted.planned import planned_of

    if conf.disabled():
        return None
    return planned_of(operator, driver_kind(type(operator), conf.extra_operators()))
