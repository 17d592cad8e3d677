"""The executions of a driver in another process while it runs, from the files that it has written so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from airflow_provider_spark_lineage.spark.guard import harmless
from airflow_provider_spark_lineage.spark.records.record import (
    BEGUN,
    Record,
    RecordError,
    read_record,
    record_paths,
)
from airflow_provider_spark_lineage.spark.records.status import DriverNote, read_notes
from airflow_provider_spark_lineage.spark.runs.collector import OnExecution
from airflow_provider_spark_lineage.spark.runs.executions import Execution, Executions

PAUSE_SECONDS = 1.0
MOST_OF_TIME = 0.05
"""Limit of the share of time for reading: a folder may have thousands of records."""


class LiveRecords:
    """Passes each new execution in a folder to `on_execution`, on its own thread, until `end`.

    `on_begin`, if given, receives before it one that takes long, while it runs. Before both, `on_notes`
    receives the status files of the drivers. Files that cannot be read are left to the reader of the whole
    folder after the end.
    """

    def __init__(
        self,
        folder: Path,
        on_notes: Callable[[list[DriverNote]], None],
        on_execution: OnExecution,
        on_begin: OnExecution | None = None,
    ) -> None:
        self._folder = folder
        self._on_notes = on_notes
        self._on_execution = on_execution
        self._on_begin = on_begin
        self._executions = Executions()
        self._seen: set[Path] = set()
        self._passed: set[tuple[str, int, str]] = set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="spark-lineage-folder", daemon=True)
        self._thread.start()

    def end(self, timeout_seconds: float) -> None:
        """Pass on nothing more; wait for an execution that is being read, for a limited time."""
        self._ended.set()
        self._thread.join(timeout_seconds)

    def has(self, execution: Execution) -> bool:
        """Return whether an execution was passed on."""
        return _key(execution.record) in self._passed

    def _follow(self) -> None:
        pause = PAUSE_SECONDS
        with harmless("events of executions are sent when the job has ended, not while it runs"):
            while not self._ended.wait(pause):
                began = time.monotonic()
                self._read()
                pause = max(PAUSE_SECONDS, (time.monotonic() - began) / MOST_OF_TIME)

    def _read(self) -> None:
        notes = read_notes(self._folder, [])
        # Until the application is described, it is unknown whether OpenLineage's Java agent listens to it.
        if not notes or not all(note.details for note in notes):
            return
        self._on_notes(notes)
        ended: list[Path] = []
        with suppress(RecordError):
            ended = record_paths(self._folder)
        # Listed last: the beginning of every record in the list is there.
        begun = sorted(self._folder.glob("*" + BEGUN)) if self._on_begin is not None else []
        for path in (*begun, *ended):
            if path not in self._seen and not self._ended.is_set():
                self._seen.add(path)
                with suppress(RecordError):
                    self._pass_on(read_record(path))

    def _pass_on(self, record: Record) -> None:
        if not record.number:
            running = self._executions.begun(record)
            if running is not None and self._on_begin is not None:
                self._on_begin(running)
            return
        execution = self._executions.of(record)
        if execution is not None:
            self._passed.add(_key(record))
            self._on_execution(execution)


def _key(record: Record) -> tuple[str, int, str]:
    # Attempts of a driver have the same numbers.
    return record.application_id, record.number, record.started_at
