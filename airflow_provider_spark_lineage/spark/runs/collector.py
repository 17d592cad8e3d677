"""Interface of a collector of a task's lineage: of this process, or of another process's files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence

from airflow_provider_spark_lineage.spark.checks.assertion import Findings
from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.records.streams import StreamRun
from airflow_provider_spark_lineage.spark.runs.executions import Execution
from airflow_provider_spark_lineage.spark.runs.run import Run

AddedProperties = Callable[[Iterable[str]], Mapping[str, str]]
"""Returns properties to add to a new application, given the names of properties that it has."""

OnExecution = Callable[[Execution], None]
"""Receives each execution as soon as it is known, on the collector's own thread."""


class Collector(ABC):
    """Gets the lineage of one try of a task, from before its `execute` until after."""

    on_stream_end: Callable[[Sequence[StreamRun]], None] | None = None
    """Receives runs of streaming queries that ended, after the executions of their batches.

    A collector that reads files does not call it: `run` has these runs.
    """

    planned: Lineage | None = None
    """Planned lineage from the job's text, if nothing was captured."""

    added_properties: AddedProperties | None = None
    """Properties of OpenLineage's Java agent for applications of this task; set it before `start`."""

    @property
    def findings(self) -> tuple[Findings, ...]:
        """Results of the checks of written frames so far."""
        return ()

    @property
    def agent_configured(self) -> bool:
        """Return whether OpenLineage's Java agent sends events of the same executions."""
        return False

    @abstractmethod
    def start(self) -> None:
        """Start, before the operator runs."""

    def drain(self, timeout_seconds: float) -> list[str]:
        """Wait until Spark has reported its executions so far; return sentences about missing ones.

        A driver in another process writes each execution by itself when it ends: no wait.
        """
        return []

    def progress(self) -> Run | None:
        """Return the run so far; None if nothing is known yet, or only after the end.

        What is still missing is not a loss: it has no gaps for it.
        """
        return None

    @abstractmethod
    def stop(self) -> None:
        """Stop, after the operator ran; from now on, `run` returns everything, also in a forked child."""

    @abstractmethod
    def run(self, problems: Sequence[str] = ()) -> Run:
        """Return the run so far; `problems` are sentences about losses."""
