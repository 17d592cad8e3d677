"""Base of collectors whose driver is another process: it writes files, which are read after the task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.spark.capture.replaced import Replacements
from airflow_provider_spark_lineage.spark.records.status import DriverNote
from airflow_provider_spark_lineage.spark.runs.collector import Collector, OnExecution
from airflow_provider_spark_lineage.spark.runs.driver_files import DriverFolder, FoundFiles
from airflow_provider_spark_lineage.spark.runs.executions import Execution
from airflow_provider_spark_lineage.spark.runs.live_records import LiveRecords
from airflow_provider_spark_lineage.spark.runs.recorded import RunBuilder
from airflow_provider_spark_lineage.spark.runs.run import Run


class OtherProcess(Collector):
    """State of a collector that reads files of drivers; its `stop` sets the final run."""

    def __init__(self) -> None:
        self._notes: list[DriverNote] = []
        self._final: Run | None = None
        self._has_returned = False
        """The call that starts the driver has ended. A driver may still run if the task is stopped before."""

        self._methods = Replacements()
        """Replaced methods of what starts the driver."""

        self._live: LiveRecords | None = None
        self._files: DriverFolder | None = None
        """Files that the driver wrote, if it has a folder of its own."""

    @property
    def agent_configured(self) -> bool:
        """Return whether OpenLineage's Java agent sends events of the same executions."""
        files = self._files
        return any(note.agent_configured for note in self._notes) or bool(files and files.agent_configured)

    def _until_returned(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run the function that starts the driver; set `_has_returned` unless the task is stopped before."""
        try:
            result = run(*args, **kwargs)
        except Exception:  # The job's own failure. A stopped task raises a BaseException.
            self._has_returned = True
            raise
        self._has_returned = True
        return result

    def _open(self, folder: Path, settings: Mapping[str, str], problems: list[str]) -> DriverFolder:
        """Read the status files in a folder of one driver, whose job has these settings of the agent."""
        self._files = files = DriverFolder(folder, settings, problems)
        self._notes = files.notes
        return files

    def _open_shared(
        self,
        folder: Path,
        problems: list[str],
        is_of_run: Callable[[Path], bool],
        is_earlier: Callable[[str], bool] | None,
    ) -> FoundFiles:
        """Read what drivers of this run wrote into a folder that other runs may use; see `FoundFiles`."""
        return FoundFiles(folder, problems, is_of_run, is_earlier)

    def _so_far(self, folder: Path) -> Run | None:
        """Return the run so far, from records in a folder of this machine; None without one."""
        files, builder = DriverFolder(folder), RunBuilder()
        if not files.has_records:
            return None
        builder.read(files.executions(), files.applications())
        return builder.run()

    def _follow(self, folder: Path, on_execution: OnExecution, on_begin: OnExecution | None) -> None:
        """Pass on executions while the driver runs, from a folder of this machine; once."""
        if self._live is None:
            self._live = LiveRecords(folder, self._noted, on_execution, on_begin)

    def _noted(self, notes: list[DriverNote]) -> None:
        self._notes = notes

    def _end_following(self, timeout_seconds: float) -> None:
        if self._live is not None:
            self._live.end(timeout_seconds)

    def _unless_sent(self, on_execution: OnExecution) -> OnExecution:
        """Return a function that passes on only executions that were not passed on while the driver ran."""

        def pass_on(execution: Execution) -> None:
            if not (self._live and self._live.has(execution)):
                on_execution(execution)

        return pass_on
