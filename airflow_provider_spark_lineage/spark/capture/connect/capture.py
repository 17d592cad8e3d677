"""Starts and stops capture for the Spark Connect sessions of this process."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional

from airflow_provider_spark_lineage.spark.capture.connect.actions import action_of
from airflow_provider_spark_lineage.spark.capture.connect.client import client_hooks
from airflow_provider_spark_lineage.spark.capture.connect.execution import ConnectExecution
from airflow_provider_spark_lineage.spark.capture.connect.script import ScriptExecution
from airflow_provider_spark_lineage.spark.capture.connect.session import ConnectSession
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.record import Record


class ConnectCapture:
    """Records the executions of Spark Connect clients between `arm` and `disarm`.

    `sink` receives each record, on the worker of its session, and `describe` each application with all of its
    settings. `on_begin` receives the beginning of each action that takes long. `problems` receives a sentence
    for each loss.
    """

    def __init__(
        self,
        sink: Callable[[Record], None],
        describe: Callable[[Application, Mapping[str, str]], None],
        max_plan_bytes: int,
        sql_text: str,
        problems: List[str],
        *,
        on_begin: Optional[Callable[[Record], None]] = None,
    ) -> None:
        self.problems = problems
        self._on_begin = on_begin
        self._sink = sink
        self._describe = describe
        self._max_plan_bytes = max_plan_bytes
        self._sql_text = sql_text
        self._sessions: Dict[str, ConnectSession] = {}
        self._counts: Dict[str, int] = {}
        """Application id -> number of its records."""
        self._lock = threading.Lock()
        self._emitting = threading.Lock()

    def arm(self) -> None:
        """Record all executions of clients from now on."""
        client_hooks().add(self)

    def begins(self, client: Any, plan: Any) -> Optional[ConnectExecution]:
        """Return the execution of a plan before a client sends it; None if it does not touch data."""
        action = action_of(plan, lambda data: _decompressed(client, data))
        if action is None:
            return None
        session = self._session(client)
        if action.view:
            session.views[action.view] = action
            return None
        kind = ScriptExecution if action.is_script else ConnectExecution
        execution = kind(session, action)
        execution.begin()
        return execution

    def closes(self, client: Any) -> None:
        """Record all executions of a client before it closes."""
        session = self._sessions.get(client._session_id)
        if session is not None:
            _finish_streams(session)
            session.settle()

    def drain(self, timeout_seconds: float) -> None:
        """Wait until all ended executions are recorded; raise `TimeoutError` if that takes too long."""
        until = time.monotonic() + timeout_seconds
        for session in tuple(self._sessions.values()):
            if not session.worker.wait(max(0.0, until - time.monotonic())):
                raise TimeoutError(f"recording the executions takes more than {timeout_seconds:g} seconds")

    def disarm(self) -> None:
        """Stop recording new executions."""
        client_hooks().remove(self)
        for session in tuple(self._sessions.values()):
            _finish_streams(session)

    def close(self) -> None:
        """End the workers; call `drain` before."""
        with self._lock:
            sessions, self._sessions = tuple(self._sessions.values()), {}
        for session in sessions:
            session.worker.submit(session.channel.close)
            session.worker.close()

    def _session(self, client: Any) -> ConnectSession:
        with self._lock:
            identifier = client._session_id
            if identifier not in self._sessions:
                self._sessions[identifier] = ConnectSession(
                    client,
                    max_plan_bytes=self._max_plan_bytes,
                    sql_text=self._sql_text,
                    emit=self._emit,
                    on_begin=self._on_begin,
                    describe=self._describe,
                    problems=self.problems,
                )
            return self._sessions[identifier]

    def _emit(self, record: Record) -> None:
        """Number a record and pass it to the sink."""
        with self._emitting:
            number = self._counts.get(record.application_id, 0) + 1
            self._counts[record.application_id] = record.number = number
            self._sink(record)


def _finish_streams(session: ConnectSession) -> None:
    """Record the streaming queries of a session."""
    streams, session.streams = session.streams, []
    for execution in streams:
        execution.finish_stream()


def _decompressed(client: Any, data: bytes) -> bytes:
    """Return the original of compressed data, with the client's own compression module."""
    module = getattr(client, "_zstd_module", None) or sys.modules["zstandard"]
    return bytes(module.decompress(data))
