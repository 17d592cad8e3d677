"""Attaches capture to the Spark sessions of this process, and lets go of them again.

A session counts whoever makes it: the builder, `newSession()`, a library. Records are complete when
`drain` returned; draining happens by itself before a Spark context stops, whoever stops it.
"""

from __future__ import annotations

import gc
import os
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from airflow_provider_spark_lineage.capture.application import Application
from airflow_provider_spark_lineage.capture.calls import Call, record_of
from airflow_provider_spark_lineage.capture.guard import harmless, tell
from airflow_provider_spark_lineage.capture.hooks import hooks
from airflow_provider_spark_lineage.capture.listener import ExecutionListener
from airflow_provider_spark_lineage.record import Record

DRAIN_TIMEOUT_SECONDS = 30.0
ARM_TIMEOUT_SECONDS = 5.0
MAX_PLAN_BYTES = 50_000_000
CONNECT = "Spark Connect sessions are not captured yet"


class Capture:
    """Writes a record for every Spark execution of this process between `arm` and `disarm`.

    `sink` receives each record, on one of Spark's threads.

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
    ) -> None:
        self.problems: List[str] = []
        """What was lost outside any single record, a sentence each."""
        self.agent_configured = False
        """OpenLineage's Java agent listens to the same application."""
        self._sink = sink
        self._drain_timeout_seconds = drain_timeout_seconds
        self._max_plan_bytes = max_plan_bytes
        self._lock = threading.Lock()
        self._application: Optional[Application] = None
        self._context: Any = None
        self._sessions: Dict[str, Tuple[Any, ExecutionListener, Any]] = {}
        """Session id -> the JVM's session, our listener, and the JVM's proxy of it."""
        self._dropped_before = 0

    def arm(self) -> None:
        """Attach to the sessions that there are, and to all that will be made."""
        with harmless("capture could not be armed", self.problems):
            self._tell_of_connect()
            if _is_connect_only():
                return
            hooks().add(self)
            from pyspark import SparkContext

            context = SparkContext._active_spark_context
            if context is not None and context._jsc is not None:
                # What ran before is not this task's, though the bus may not have reported it yet.
                with harmless(
                    "executions from before the capture may be among those recorded", self.problems
                ):
                    _wait_for_bus(context, min(ARM_TIMEOUT_SECONDS, self._drain_timeout_seconds))
                for session in _sessions_of(context):
                    self.attach(session)

    def attach(self, spark: Any) -> None:
        """Listen to one classic session; a session that is listened to already is left alone."""
        with harmless("a Spark session could not be listened to", self.problems), self._lock:
            session = getattr(spark, "_jsparkSession", None)
            if session is None:
                tell(CONNECT, self.problems)
                return
            key = session.sessionUUID()
            if key in self._sessions:
                return
            application = self._application_of(spark.sparkContext)
            # Spark runs a streaming query in a clone of its session, which has the same listeners.
            which = application.jvm.java.lang.System.identityHashCode
            listening = {which(one) for one in session.listenerManager().listListeners()}
            for _, listener, proxy in tuple(self._sessions.values()) if listening else ():
                if which(proxy) in listening:
                    self._sessions[key] = (session, listener, proxy)
                    return
            from pyspark.java_gateway import ensure_callback_server_started

            # Leaves a callback server alone that somebody started before.
            ensure_callback_server_started(spark.sparkContext._gateway)
            listener = ExecutionListener(application, session, self.problems)
            # Spark finds a listener to unregister by its identity, and py4j makes a new proxy of a Python
            # object each time it is passed on: keep the JVM's own reference to this one.
            holder = application.jvm.java.util.ArrayList(1)
            holder.add(listener)
            proxy = holder.get(0)
            session.listenerManager().register(proxy)
            application.journal.listen()
            self._sessions[key] = (session, listener, proxy)
            for query in session.streams().active():
                application.streams.watch(query, from_now=True)

    def called(self, call: Call) -> None:
        """Record what no query listener sees; told of each call before it begins and when it has ended."""
        context = call.context
        if context is None or context._jsc is None:
            return
        with self._lock:
            application = self._application_of(context)
        record = record_of(call, application)
        if record is not None:
            for batch in application.batches(self.problems):
                application.journal.add(batch)
            application.journal.add(record)

    def _application_of(self, context: Any) -> Application:
        """Return what the records of a context share; the caller holds the lock."""
        if self._application is None or self._context is not context:
            self._application = Application(context, self._sink, self._max_plan_bytes)
            self._context = context
            self._dropped_before = _dropped_events(context)
            listeners = context.getConf().get("spark.extraListeners", "")
            self.agent_configured = "OpenLineageSparkListener" in listeners
        return self._application

    def drain(self) -> None:
        """Wait until Spark has reported every execution that ended before this call.

        Gives up after the drain timeout. What was lost is said in `problems`.
        """
        context = self._context
        if context is None or context._jsc is None:
            return
        with harmless("the last executions were not all reported in time", self.problems):
            _wait_for_bus(context, self._drain_timeout_seconds)
        if self._application is not None:
            with harmless("the last calls could not be recorded", self.problems):
                self._application.journal.flush()
                for batch in self._application.batches(self.problems):
                    self._application.keep(batch)
        with harmless("it could not be read whether Spark dropped events", self.problems):
            dropped = _dropped_events(context) - self._dropped_before
            if dropped > 0:
                self._dropped_before += dropped
                tell(
                    f"Spark dropped {dropped} events of its listener queue `shared`, executions may be "
                    "missing: spark.scheduler.listenerbus.eventqueue.shared.capacity makes it longer",
                    self.problems,
                )

    def disarm(self) -> None:
        """Drain, unregister every listener, and leave pyspark as it was found."""
        # Before the hooks are taken away, which keep py4j's notes of the last callbacks out of the log.
        self._release()
        with harmless("pyspark could not be left as it was found", self.problems):
            hooks().remove(self)
        # A session may have appeared meanwhile.
        self._release()
        self._tell_of_connect()

    def context_stops(self, context: Any) -> None:
        """Let go of a Spark context that is about to stop."""
        if context is self._context:
            self._release()

    def _release(self) -> None:
        """Drain and forget the current context with all its sessions."""
        self.drain()
        with self._lock:
            sessions, self._sessions = self._sessions, {}
            alive = self._context is not None and self._context._jsc is not None
            self._context = self._application = None
        for session, listener, proxy in sessions.values():
            listener.close()
            if alive:
                with harmless("a listener could not be unregistered", self.problems):
                    session.listenerManager().unregister(proxy)

    def _tell_of_connect(self) -> None:
        if os.environ.get("SPARK_CONNECT_MODE_ENABLED") or os.environ.get("SPARK_REMOTE"):
            tell(CONNECT, self.problems)


def _is_connect_only() -> bool:
    """Say whether pyspark is `pyspark-client`, which has no classic session."""
    try:
        from pyspark.util import is_remote_only
    except ImportError:  # Spark 3.5
        return False
    return bool(is_remote_only())


def _sessions_of(context: Any) -> List[Any]:
    """Return the classic sessions of a context that this process holds.

    pyspark remembers only the first; those of `newSession()` are known to nobody but their users.
    """
    from pyspark.sql import SparkSession

    return [one for one in gc.get_objects() if type(one) is SparkSession and one._sc is context]


def _wait_for_bus(context: Any, timeout_seconds: float) -> None:
    context._jsc.sc().listenerBus().waitUntilEmpty(int(timeout_seconds * 1000))


def _dropped_events(context: Any) -> int:
    """Return how many events Spark has thrown away because our queue's listeners were too slow."""
    registry = context._jsc.sc().listenerBus().metrics().metricRegistry()
    return int(registry.counter("queue.shared.numDroppedEvents").getCount())
