"""A run: the lineage of all records of a program, with a summary."""

from __future__ import annotations

from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.spark.lineage.model import ANALYSIS, ExecutionSummary, Lineage
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

    def succeeded(self) -> Run:
        """Return the run of a program that ended well: a query that Spark could not analyze did not fail it.

        The program caught the error. `RunBuilder` keeps such a query only if no execution follows it.
        """
        if not self.executions or self.executions[-1].name != ANALYSIS or not self.executions[-1].failed:
            return self
        lineage = replace(self.lineage, failures=self.lineage.failures[:-1])
        return replace(self, lineage=lineage, executions=self.executions[:-1])
