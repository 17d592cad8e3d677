"""A run: the lineage of all records of a program, with a summary."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_provider_spark_lineage.spark.lineage.model import ExecutionSummary, Lineage
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.streams import StreamRun


@dataclass(frozen=True)
class Run:
    """Lineage and summary of all records of one run."""

    lineage: Lineage
    applications: tuple[Application, ...] = ()
    executions: tuple[ExecutionSummary, ...] = ()
    started_at: str = ""
    ended_at: str = ""
    problems: tuple[str, ...] = ()
    """Sentences about unreadable records and about losses of capture."""

    @property
    def stream_runs(self) -> tuple[StreamRun, ...]:
        """The known runs of streaming queries."""
        return tuple(run for each in self.applications if each.streams for run in each.streams.runs)
