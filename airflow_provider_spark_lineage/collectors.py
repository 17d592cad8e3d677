"""Where the lineage of a task comes from: one row for each way to run Spark.

Operators of ours, and Airflow's own under an extractor or auto-capture, use the same collectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from airflow_provider_spark_lineage.extractors.operators import IN_PROCESS, driver_of

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.pipeline import Execution, Run


class Collector(Protocol):
    """Gets the lineage of one try of a task, from before its `execute` until after."""

    def start(self) -> None:
        """Start, before the operator runs."""

    def drain(self, timeout_seconds: float) -> list[str]:
        """Wait until Spark has reported what it did so far; return what is missing, a sentence each."""

    def finish(self) -> None:
        """Stop, after the operator ran; `run` returns everything from now on, also in a forked child."""

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Return what is known so far; `problems` are what is missing, a sentence each."""

    @property
    def agent_configured(self) -> bool:
        """Whether OpenLineage's Java agent sends events of the same executions."""


OnExecution = Callable[["Execution"], None]
"""Receives each execution as soon as it is known, on the collector's own thread."""


def collector_of(task: Any, on_execution: OnExecution | None) -> Collector:
    """Return the collector for a task, by the class of its operator."""
    return _COLLECTORS[driver_of(type(task)) or IN_PROCESS](on_execution)


def _in_process(on_execution: OnExecution | None) -> Collector:
    """Return a collector for Spark sessions of this process."""
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.captured import Captured

    return Captured(
        on_execution=on_execution,
        keep=False,
        drain_timeout_seconds=conf.drain_timeout_seconds(),
        max_plan_bytes=conf.max_plan_bytes(),
        sql_text=conf.sql_text(),
    )


_COLLECTORS: Mapping[str, Callable[[OnExecution | None], Collector]] = {
    IN_PROCESS: _in_process,
}
