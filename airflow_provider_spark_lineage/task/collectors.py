"""Table of the collectors of a task's lineage: one row for each way to run Spark.

Our operators, and Airflow's own with an extractor or auto-capture, use the same collectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from airflow_provider_spark_lineage.known_operators import (
    COMMAND,
    IN_PROCESS,
    PYTHON,
    SPARK_PIPELINES,
    SPARK_SQL,
    SPARK_SUBMIT,
    driver_kind,
)

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.lineage.model import Lineage
    from airflow_provider_spark_lineage.runs.executions import Execution
    from airflow_provider_spark_lineage.runs.pipeline import Run
    from airflow_provider_spark_lineage.submitted.jobs import Job


class Collector(Protocol):
    """Gets the lineage of one try of a task, from before its `execute` until after."""

    def start(self) -> None:
        """Start, before the operator runs."""

    def drain(self, timeout_seconds: float) -> list[str]:
        """Wait until Spark has reported its executions so far; return sentences about missing ones."""

    def finish(self) -> None:
        """Stop, after the operator ran; from now on, `run` returns everything, also in a forked child."""

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Return the run so far; `problems` are sentences about losses."""

    @property
    def planned(self) -> Lineage | None:
        """Planned lineage from the job's text, if nothing was captured; None otherwise."""

    @property
    def agent_configured(self) -> bool:
        """Return whether OpenLineage's Java agent sends events of the same executions."""


OnExecution = Callable[["Execution"], None]
"""Receives each execution as soon as it is known, on the collector's own thread."""


def collector_of(task_instance: Any, on_execution: OnExecution | None) -> Collector:
    """Return the collector for a task instance, by the class of its operator."""
    from airflow_provider_spark_lineage import conf

    driver = driver_kind(type(task_instance.task), conf.extra_operators())
    return _COLLECTORS[driver or IN_PROCESS](task_instance, on_execution)


def _in_process(task_instance: Any, on_execution: OnExecution | None) -> Collector:
    """Return a collector for Spark sessions of this process."""
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.runs.captured import Captured

    return Captured(
        on_execution=on_execution,
        keep=False,
        drain_timeout_seconds=conf.drain_timeout_seconds(),
        max_plan_bytes=conf.max_plan_bytes(),
        sql_text=conf.sql_text(),
    )


def _spark_submit(task_instance: Any, on_execution: OnExecution | None) -> Collector:
    """Return a collector for an application that `spark-submit` runs."""
    from airflow_provider_spark_lineage.submitted.jobs import SparkSubmitJob

    return _submitted(task_instance, on_execution, SPARK_SUBMIT, SparkSubmitJob, "submit")


def _spark_sql(task_instance: Any, on_execution: OnExecution | None) -> Collector:
    """Return a collector for statements that `spark-sql` runs."""
    from airflow_provider_spark_lineage.submitted.jobs import SparkSqlJob

    return _submitted(task_instance, on_execution, SPARK_SQL, SparkSqlJob, "run_query")


def _spark_pipelines(task_instance: Any, on_execution: OnExecution | None) -> Collector:
    """Return a collector for a declarative pipeline that `spark-pipelines` runs."""
    from airflow_provider_spark_lineage.submitted.jobs import SparkPipelinesJob

    return _submitted(task_instance, on_execution, SPARK_PIPELINES, SparkPipelinesJob, "submit_pipeline")


def _command(task_instance: Any, on_execution: OnExecution | None) -> Collector:
    """Return a collector for the applications that a shell command submits."""
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.launch.shell.armed import Armed
    from airflow_provider_spark_lineage.submitted.records_folder import RecordsFolder

    return Armed(
        task_instance.task,
        RecordsFolder(conf.records(), task_instance),
        settings=_agent_settings(),
        base=conf.records(),
        since=getattr(task_instance, "start_date", None),
        run_id=str(getattr(task_instance, "run_id", None) or ""),
        agent=conf.agent(),
        keep=conf.keep_records(),
        on_execution=on_execution,
    )


def _agent_settings() -> dict[str, str]:
    """Return the `spark.lineage.*` properties of all drivers."""
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.agent.settings import DRAIN_TIMEOUT, MAX_PLAN, SQL_TEXT

    return {
        DRAIN_TIMEOUT: f"{conf.drain_timeout_seconds():g}",
        MAX_PLAN: str(conf.max_plan_bytes()),
        SQL_TEXT: conf.sql_text(),
    }


def _submitted(
    task_instance: Any,
    on_execution: OnExecution | None,
    driver: str,
    job_class: type[Job],
    run_method: str,
) -> Collector:
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.submitted.collector import Submitted
    from airflow_provider_spark_lineage.submitted.records_folder import RecordsFolder

    return Submitted(
        task_instance.task,
        RecordsFolder(conf.records(), task_instance),
        job_class=job_class,
        run_method=run_method,
        driver=driver,
        settings=_agent_settings(),
        agent=conf.agent(),
        keep=conf.keep_records(),
        on_execution=on_execution,
    )


_COLLECTORS: Mapping[str, Callable[[Any, OnExecution | None], Collector]] = {
    IN_PROCESS: _in_process,
    PYTHON: _in_process,
    SPARK_SUBMIT: _spark_submit,
    SPARK_SQL: _spark_sql,
    SPARK_PIPELINES: _spark_pipelines,
    COMMAND: _command,
}
