"""Starts and stops capture for the Spark applications of this process.

All sessions of an application are captured, also sessions of `newSession()` and of libraries, and sessions of
Spark Connect, whose application runs on the server. Records are complete when `drain` has returned; capture
drains by itself before a Spark context stops or a Connect session ends.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from airflow_provider_spark_lineage.spark.capture.application import LiveApplication, described
from airflow_provider_spark_lineage.spark.capture.calls import record_of
from airflow_provider_spark_lineage.spark.capture.connect.capture import ConnectCapture
from airflow_provider_spark_lineage.spark.capture.hooks import hooks
from airflow_provider_spark_lineage.spark.capture.new_contexts import NewContexts
from airflow_provider_spark_lineage.spark.capture.own_thread import is_interrupted, on_own_thread
from airflow_provider_spark_lineage.spark.capture.watched import WatchedCall
from airflow_provider_spark_lineage.spark.guard import alarm_paused, harmless, tell, withhold
from airflow_provider_spark_lineage.spark.records.application import (
    LISTENERS,
    PROPERTIES,
    Application,
    has_java_agent,
)
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.records.sql_text import FULL
from airflow_provider_spark_lineage.spark.records.streams import StreamRun

DRAIN_TIMEOUT_SECONDS = 30.0
MAX_PLAN_BYTES = 50_000_000

INTERRUPTED_SECONDS = 2.0
"""Limit of the wait for executions that run on after a signal interrupted the call that started them."""


class Capture:
    """Records every Spark execution of this process that ends between `arm` and `disarm`.

    `sink` receives each record, on capture's own thread. `on_begin` receives the beginning of each execution
    that takes long, see `LiveApplication`.

    `stream_ended` receives each run of a streaming query that ends, after the records of its batches.

    `sql_text` is one of `records.sql_text.SQL_TEXTS`; `properties` are names of Spark's properties to record,
    with `*` for any text.

    >>> records = []
    >>> capture = Capture(records.append)
    >>> capture.arm()
    >>> capture.disarm()
    """

    def __init__(
        self,
        sink: Callable[[Record], None],
        *,
        drain_timeout_seconds: float = DRAIN_TIMEOUT_SECONDS,
        max_plan_bytes: int = MAX_PLAN_BYTES,
        sql_text: str = FULL,
        properties: Sequence[str] = PROPERTIES,
        on_begin: Optional[Callable[[Record], None]] = None,
        stream_ended: Callable[[StreamRun], None] = lambda run: None,
    ) -> None:
        self.applications: Dict[str, Application] = {}
        """The applications so far, by their ids."""
        self.problems: List[str] = []
        """Losses that do not belong to a single record, one sentence each."""
        self.agent_configured = False
        """OpenLineage's Java agent listens to the same application."""
        self.added_properties: Optional[Callable[[Sequence[str]], Mapping[str, str]]] = None
        """Properties of the agent for new Spark contexts (`new_contexts`); set it before `arm`."""
        self._new_contexts: Optional[NewContexts] = None
        self._sink = sink
        self._on_begin = on_begin
        self._stream_ended = stream_ended
        self._drain_timeout_seconds = drain_timeout_seconds
        self._max_plan_bytes = max_plan_bytes
        self._sql_text = sql_text
        self._properties = properties
        self._lock = threading.Lock()
        self._application: Optional[LiveApplication] = None
        self._context: Any = None
        self._dropped_before = 0
        self._withholds = False
        self._process = os.getpid()
        self._connect = ConnectCapture(
            sink, self._describe, max_plan_bytes, sql_text, self.problems, on_begin=on_begin
        )

    def arm(self) -> None:
        """Capture the running application, or the next one."""
        if self._sql_text != FULL and not self._withholds:
            self._withholds = True
            withhold(1)
        with harmless("capture could not be armed", self.problems):
            self._connect.arm()
            if _is_connect_only():
                return
            hooks().add(self)
            if self.added_properties is not None:
                self._new_contexts = NewContexts(self.added_properties)
                self._new_contexts.arm()
            from pyspark import SparkContext

            context = SparkContext._active_spark_context
            if context is not None and context._jsc is not None and not _is_server():
                self._listen(context)

    def attach(self, spark: Any) -> None:
        """Capture the application of a classic session, unless it already is."""
        with harmless("a Spark session could not be listened to", self.problems):
            if getattr(spark, "_jsparkSession", None) is None or _is_server():
                return
            if spark.sparkContext._jsc is None:
                tell("the Spark session was stopped before the capture began", self.problems)
            else:
                self._listen(spark.sparkContext)

    def called(self, call: WatchedCall) -> None:
        """Record a call of a watched method; called before its start and after its end."""
        context = call.context
        if context is None or context._jsc is None or self._is_forked():
            return
        application = self._listen(context)
        record = record_of(call, application) if application is not None else None
        if application is not None and record is not None:
            application.add(record, call.tag)

    def _listen(self, context: Any) -> Optional[LiveApplication]:
        """Return the application of a context, and capture it from now on; None if that failed earlier."""
        with self._lock:
            if self._context is not context:
                # Try only once: do not repeat a failure at every call of the program.
                self._context, self._application = context, None
                self._application = LiveApplication(
                    context,
                    self._sink,
                    self._max_plan_bytes,
                    self._sql_text,
                    self.problems,
                    on_begin=self._on_begin,
                    stream_ended=self._stream_ended,
                )
                self._dropped_before = _dropped_events(context)
                with harmless("the Spark application could not be described", self.problems):
                    application, settings = described(context)
                    self._describe(application, settings)
                self.agent_configured |= has_java_agent({LISTENERS: context._conf.get(LISTENERS, "")})
            return self._application

    def _describe(self, application: Application, settings: Mapping[str, str]) -> None:
        """Store an application, with the allowed ones among its Spark properties."""
        # A server of Spark Connect has its own listeners.
        self.agent_configured |= has_java_agent(settings)
        self.applications[application.id] = application.with_settings(settings, self._properties)

    def drain(
        self,
        timeout_seconds: Optional[float] = None,
        problems: Optional[List[str]] = None,
        running_seconds: float = 0,
    ) -> None:
        """Wait until every execution that ended before this call is recorded.

        Give up after `timeout_seconds`, by default the drain timeout, and add the losses to `problems`. A
        caller that continues to capture passes its own list, because missing executions may come later.
        `running_seconds` is the limit of the wait for executions that are still running.
        """
        problems = self.problems if problems is None else problems
        if self._is_forked():
            return
        timeout = self._drain_timeout_seconds if timeout_seconds is None else timeout_seconds
        with alarm_paused(), harmless("the last executions were not recorded in time", problems):
            self._connect.drain(timeout)
        context, application = self._context, self._application
        if application is None or context._jsc is None:
            return
        with alarm_paused(), harmless("the last executions were not recorded in time", problems):
            application.drain(timeout, problems, running_seconds)
        self._add_usage(application)
        with harmless("the number of events that Spark dropped could not be read", self.problems):
            dropped = _dropped_events(context) - self._dropped_before
            if dropped > 0:
                self._dropped_before += dropped
                tell(
                    f"Spark dropped {dropped} events of its listener queue `shared`, executions may be "
                    "missing: increase spark.scheduler.listenerbus.eventqueue.shared.capacity",
                    self.problems,
                )

    def ask_usage(self) -> None:
        """Add the usage as of the last such call to `applications`, and ask Spark again; do not wait."""
        application = self._application
        if application is not None and not self._is_forked():
            self._add_usage(application)
            application.ask_usage()

    def _add_usage(self, application: LiveApplication) -> None:
        if application.id in self.applications:
            known = self.applications[application.id]
            self.applications[application.id] = replace(
                known, usage=application.usage, streams=application.streams
            )

    def disarm(self) -> None:
        """Drain, remove the listener from Spark, and restore the methods of pyspark."""
        self._release()
        with harmless("the methods of pyspark could not be restored", self.problems):
            hooks().remove(self)
            if self._new_contexts is not None:
                self._new_contexts.disarm()
            self._connect.disarm()
        # A session may have been created before the hooks were removed.
        self._release()
        self._connect.close()
        if self._withholds:
            self._withholds = False
            withhold(-1)

    def context_stops(self, context: Any) -> None:
        """End the capture of a Spark context before it stops."""
        if context is self._context:
            # The program's own call to stop the context waits for an interrupted call, too.
            self._release(self._drain_timeout_seconds)

    def _release(self, interrupted_seconds: Optional[float] = None) -> None:
        """Drain and forget the current context.

        If a signal has interrupted a call of the JVM, wait for executions that run on, for
        `interrupted_seconds` at most.
        """
        application = self._application
        if application is None or self._is_forked():
            self._end()
            return
        client = application.client
        seconds = 0.0
        if is_interrupted(client):
            seconds = INTERRUPTED_SECONDS if interrupted_seconds is None else interrupted_seconds
        on_own_thread(client, lambda: self._end(seconds))

    def _end(self, running_seconds: float = 0) -> None:
        self.drain(running_seconds=running_seconds)
        with self._lock:
            application, self._application = self._application, None
            alive = self._context is not None and self._context._jsc is not None and not self._is_forked()
            self._context = None
        if application is not None:
            with harmless("the listener could not be removed from Spark", self.problems):
                application.close(alive=alive)

    def _is_forked(self) -> bool:
        """Return whether this is a forked child: the connection to the JVM belongs to its parent."""
        return os.getpid() != self._process


def _is_server() -> bool:
    """Return whether this process started the server of its own Connect sessions: `remote("local[2]")`.

    Such sessions are captured like sessions of any server, so that a program has the same lineage with each.
    """
    return "SPARK_LOCAL_REMOTE" in os.environ


def _is_connect_only() -> bool:
    """Return whether pyspark is `pyspark-client`, which has no classic session."""
    try:
        from pyspark.util import is_remote_only
    except ImportError:  # Spark 3.5
        return False
    return bool(is_remote_only())


def _dropped_events(context: Any) -> int:
    """Return the number of events that Spark has dropped because the listeners of our queue were too slow."""
    registry = context._jsc.sc().listenerBus().metrics().metricRegistry()
    return int(registry.counter("queue.shared.numDroppedEvents").getCount())
