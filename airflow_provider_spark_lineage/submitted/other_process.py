"""What collectors share whose driver is another process: it writes, and is read when the task has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_provider_spark_lineage.lineage.model import Lineage
from airflow_provider_spark_lineage.records.status import DriverNote
from airflow_provider_spark_lineage.runs.pipeline import Run


class OtherProcess:
    """The state of a collector that reads what drivers have written; `finish` sets it."""

    def __init__(self) -> None:
        self._notes: list[DriverNote] = []
        self._final: Run | None = None
        self._planned: Lineage | None = None
        self._has_returned = False
        """Whether what starts the driver is done; where the task is stopped, its driver may still run."""

    def drain(self, timeout_seconds: float) -> list[str]:
        """Return what is missing: a driver elsewhere writes what has ended without being asked."""
        return []

    @property
    def planned(self) -> Lineage | None:
        """What the text of the job says, where its driver has written nothing."""
        return self._planned

    @property
    def agent_configured(self) -> bool:
        """Whether OpenLineage's Java agent sends events of the same executions."""
        return any(note.agent_configured for note in self._notes)

    def _until_returned(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run what starts the driver; remember that it has ended, unless the task is stopped before."""
        try:
            result = run(*args, **kwargs)
        except Exception:  # The job's own failure, raised again; what stops a task is no Exception.
            self._has_returned = True
            raise
        self._has_returned = True
        return result
