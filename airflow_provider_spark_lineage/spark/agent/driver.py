"""Captures the Spark contexts of a driver, and writes their records and a status note to a folder.

Its settings are `spark.lineage.*` properties of the job.
"""

from __future__ import annotations

import atexit
import threading
from typing import Any, Callable, List, Optional

from airflow_provider_spark_lineage.spark.agent.folder import Write, local_path, writer_of
from airflow_provider_spark_lineage.spark.agent.settings import (
    DRAIN_TIMEOUT,
    MAX_PLAN,
    RECORDS,
    number,
    properties,
    sql_text,
)
from airflow_provider_spark_lineage.spark.capture.jvm import prepare_jvm
from airflow_provider_spark_lineage.spark.capture.this_process import (
    DRAIN_TIMEOUT_SECONDS,
    MAX_PLAN_BYTES,
    Capture,
)
from airflow_provider_spark_lineage.spark.capture.watched import sites
from airflow_provider_spark_lineage.spark.guard import harmless, tell
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.record import Record, encode_record
from airflow_provider_spark_lineage.spark.records.status import DriverNote


def prepare(context_class: Any) -> None:
    """Load what capture needs, in this process and in the JVM, if `spark.lineage.records` is set."""
    if not context_class._jvm.System.getProperty(RECORDS):
        return
    # It imports pyspark's classes.
    sites()
    prepare_jvm(context_class._gateway, context_class._jvm)


def begin(context: Any) -> None:
    """Capture a context that has just been created."""
    conf = context._conf
    place = conf.get(RECORDS, "")
    if not place:
        tell(f"nothing is captured: set {RECORDS} to the folder or URI for the records")
        return
    agent = Agent(writer_of(place, context), context, conf.get)
    atexit.register(agent.end)
    agent.begin()


class Agent(Capture):
    """Captures one Spark context, and writes its records and a status note to a folder."""

    def __init__(self, write: Write, context: Any, conf: Callable[..., Optional[str]]) -> None:
        unreadable: List[str] = []
        super().__init__(
            self._write,
            drain_timeout_seconds=number(conf, DRAIN_TIMEOUT, DRAIN_TIMEOUT_SECONDS, unreadable),
            max_plan_bytes=int(number(conf, MAX_PLAN, MAX_PLAN_BYTES, unreadable)),
            sql_text=sql_text(conf, unreadable),
            properties=properties(conf),
            # For a worker that follows the folder; elsewhere nobody reads it before the end.
            on_begin=self._write if local_path(conf(RECORDS) or "") is not None else None,
        )
        self.problems.extend(unreadable)
        self._write_file = write
        self._attempt = _attempt(context)
        self._note = DriverNote(
            application_id=str(context.applicationId),
            application_name=without_secrets(str(context.appName)),
            spark_version=str(context.version),
            tracking_url=str(context.uiWebUrl or ""),
        )
        self._writing = threading.Lock()
        self._is_open = True
        self._ends = threading.Event()
        # Created now and started in `begin`, because Python 3.12 cannot start threads at exit.
        self._ending = threading.Thread(target=self._end_when_asked, daemon=True)

    def begin(self) -> None:
        """Write the note that the driver has begun, and start capture."""
        # On a thread: a file system that does not answer must not delay the driver.
        threading.Thread(target=self._write_note, daemon=True).start()
        self._ending.start()
        self.arm()
        # Again, because the application is described now.
        threading.Thread(target=self._write_note, daemon=True).start()

    def context_stops(self, context: Any) -> None:
        """End the capture of a context that is about to stop, and the agent with it."""
        if context is self._context:
            self.end()

    def end(self) -> None:
        """Finish capture, and write the note that it is complete; wait for that for a limited time."""
        if not self._is_open or self._is_forked():
            return
        self._is_open = False
        with harmless("the agent could not be ended", self.problems):
            self._ends.set()
            # A file system that does not answer must not block the driver's exit.
            self._ending.join(2 * self._drain_timeout_seconds)

    def _end_when_asked(self) -> None:
        self._ends.wait()
        with harmless("the agent could not be ended"):
            self.disarm()
            self._note.is_complete = True
            self._write_note()

    def _write(self, record: Record) -> None:
        with harmless("a record could not be written", self.problems):
            self._write_file(*encode_record(record, self._attempt))

    def _write_note(self) -> None:
        with self._writing, harmless("the driver's note could not be written", self.problems):
            self._note.problems = self.problems
            self._note.agent_configured = self.agent_configured
            if self._note.application_id in self.applications:
                self._note.details = self.applications[self._note.application_id].details
            self._write_file(*self._note.encode(self._attempt))


def _attempt(context: Any) -> str:
    """Return the id of YARN's application attempt, which differs for each restart; empty elsewhere."""
    attempt = context._jsc.sc().applicationAttemptId()
    return str(attempt.get()) if attempt.isDefined() else ""
