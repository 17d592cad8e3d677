"""Base of collectors whose driver is another process: it writes files, which are read after the task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_provider_spark_lineage.spark.records.status import DriverNote
from airflow_provider_spark_lineage.spark.runs.collector import Collector
from airflow_provider_spark_lineage.spark.runs.run import Run


class OtherProcess(Collector):
    """State of a collector that reads files of drivers; its `stop` sets the final run."""

    def __init__(self) -> None:
        self._notes: list[DriverNote] = []
        self._final: Run | None = None
        self._has_returned = False
        """The call that starts the driver has ended. A driver may still run if the task is stopped before."""

    @property
    def agent_configured(self) -> bool:
        """Return whether OpenLineage's Java agent sends events of the same executions."""
        return any(note.agent_configured for note in self._notes)

    def _until_returned(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run the function that starts the driver; set `_has_returned` unless the task is stopped before."""
        try:
            result = run(*args, **kwargs)
        except Exception:  # The job's own failure. A stopped task raises a BaseException.
            self._has_returned = True
            raise
        self._has_returned = True
        return result
