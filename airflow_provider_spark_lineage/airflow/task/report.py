"""The report of a task: all that is known of its work on Spark, in one frozen object.

It is made once, in the task's own process, when the work of the task has ended. All that is said of the task
is made from it by functions that change nothing: answers to OpenLineage's provider (`answers`), events that
the task sends itself (`interim`), the stored form (`store`) and asset events (`assets`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.launch.application import Launch
from airflow_provider_spark_lineage.airflow.launch.facets import launch_facets
from airflow_provider_spark_lineage.airflow.task.hook_reports import Reported
from airflow_provider_spark_lineage.airflow.task.run_facets import all_run_facets
from airflow_provider_spark_lineage.spark import (
    Failure,
    Findings,
    Gap,
    Lineage,
    Run,
    fitted_lineage,
    of_tasks,
    without_secrets,
)

TOO_LARGE_TO_STORE = "the lineage is too large for the viewer's store"

_MAX_MESSAGE = 2_000
"""Limit of the letters of an exception in a stored event."""

_NO_RUN = Run(Lineage())


@dataclass(frozen=True)
class Excerpt:
    """As much of a report as one event can hold; its first gaps list the missing parts."""

    run: Run
    findings: Sequence[Findings]
    launch: Launch | None
    left_out: Sequence[str]
    """Keys of the run facets that are too large."""

    repeats_dataset_edges: bool
    """Edges of whole datasets are repeated for each column."""

    def run_facets(self) -> dict[str, Any]:
        """Return new facets of applications and executions; gaps and failures are facets of the lineage."""
        facets = _facets_of(self.run, self.launch)
        return {key: facet for key, facet in facets.items() if key not in self.left_out}


@dataclass(frozen=True)
class TaskReport:
    """Work of a task on Spark: complete, and never changed."""

    run: Run = _NO_RUN
    """Executions with their lineage, and the applications; empty if Spark did nothing."""

    findings: tuple[Findings, ...] = ()
    """Results of all checks: of written frames, and of operators that check data."""

    launch: Launch | None = None
    """Applications that another system ran for the task."""

    planned: Lineage | None = None
    """Lineage in the text of the job, if nothing was captured of it, or if it has not run."""

    failure: Failure | None = None
    """Why the task failed: Spark's last failure, else the task's exception, as far as texts are shown."""

    leaves_datasets: bool = False
    """Events of the task have no datasets, because events of its executions have them."""

    hooks_before: Reported | None = None
    """Numbers of hooks' reports in this process before the task began."""

    measured: Excerpt | None = field(default=None, compare=False, repr=False)
    """The excerpt for the task's last event, if `measure` has made it."""

    @property
    def is_empty(self) -> bool:
        """Return whether Spark did nothing for the task, as far as it is known."""
        lineage = self.run.lineage
        did = self.run.executions or lineage or lineage.gaps or self.findings
        return not (did or self.planned is not None or self.launch)

    def failed(self, error: Any) -> TaskReport:
        """Return the report of the task after it failed with an exception, its text, or None."""
        failures = self.run.lineage.failures
        if failures:
            return replace(self, failure=failures[-1])
        if error is None:
            return self
        name = type(error).__name__ if isinstance(error, BaseException) else ""
        # Messages of exceptions may quote statements and values.
        message = without_secrets(str(error))[:_MAX_MESSAGE] if conf.sql_text() == conf.FULL else ""
        return replace(self, failure=Failure(name, message))

    def succeeded(self) -> TaskReport:
        """Return the report of the task after it ended well, without a failure that it survived."""
        run = self.run.succeeded()
        return self if run is self.run else replace(self, run=run, measured=None)

    def measure(self) -> TaskReport:
        """Return the report with the excerpt for the task's last event.

        Measuring a large lineage takes long, and facet methods run in a forked child that is killed after a
        time: so the task's process does it.
        """
        return replace(self, measured=excerpt_of(self))


def excerpt_of(
    report: TaskReport, *, failed: bool = False, whole: bool = False, max_bytes: int | None = None
) -> Excerpt:
    """Return as much of a report as an event of the task can hold.

    `failed` is true if the work may be incomplete: the task failed, or skipped itself. `whole` and
    `max_bytes` are for an event that is stored: with all datasets, in so many bytes.
    """
    failed = failed and report.planned is not None
    leaves_datasets = report.leaves_datasets and not whole
    is_usual = not failed and max_bytes is None and leaves_datasets == report.leaves_datasets
    if report.measured is not None and is_usual:
        return report.measured
    run = replace(report.run, lineage=_lineage_of(report, failed=failed, leaves_datasets=leaves_datasets))
    limit = conf.max_event_bytes() if max_bytes is None else max_bytes
    fitted = fitted_lineage(
        run.lineage,
        _facets_of(run, report.launch),
        report.findings,
        limit,
        sql_text=conf.sql_text(),
        repeats_dataset_edges=conf.repeat_dataset_edges(),
        reason=TOO_LARGE_TO_STORE if max_bytes is not None else "",
    )
    return Excerpt(
        replace(run, lineage=fitted.lineage),
        fitted.findings,
        report.launch,
        fitted.left_out,
        fitted.repeats_dataset_edges,
    )


def _lineage_of(report: TaskReport, *, failed: bool, leaves_datasets: bool) -> Lineage:
    """Return the lineage of a report.

    If nothing was captured of a task that has not failed, it is the planned lineage, with a gap.
    """
    lineage, planned = report.run.lineage, report.planned
    if leaves_datasets:
        lineage = replace(lineage, inputs=(), outputs=())
    if planned is None:
        return lineage
    if not failed:
        return replace(planned, gaps=(*lineage.gaps, *planned.gaps))
    if lineage or lineage.gaps:
        return lineage
    return replace(lineage, gaps=(Gap("task", of_tasks.ENDED_EARLY()),))


def _facets_of(run: Run, launch: Launch | None) -> dict[str, Any]:
    """Return new run facets of applications that another system ran, and of all applications' work."""
    launched = (
        launch_facets(launch, with_arguments=conf.sql_text() == conf.FULL) if launch is not None else {}
    )
    bare = replace(run, lineage=replace(run.lineage, gaps=(), failures=()))
    return {**launched, **all_run_facets(bare)}
