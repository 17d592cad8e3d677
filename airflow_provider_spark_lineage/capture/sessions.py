"""Attaches capture to the Spark sessions of this process, and lets go of them again.

A session counts whoever makes it: the builder, `newSession()`, a library. Records are complete when
`drain` returned; draining happens by itself before a Spark context stops, whoever stops it.
"""

from __future__ import annotations

import functools
import logging
import os
import threading
from typing import Any, Callable, Dict, List, Optional

from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.capture.listener import Application, ExecutionListener
from airflow_provider_spark_lineage.record import Record

DRAIN_TIMEOUT_SECONDS = 30.0
MAX_PLAN_BYTES = 50_000_000


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
        self._listeners: Dict[str, Any] = {}

    def arm(self) -> None:
        """Attach to the session that is active now, if there is one, and to all that will be made."""
        with harmless("capture could not be armed", self.problems):
            _hooks().add(self)
            from pyspark.sql import SparkSession

            active = SparkSession._instantiatedSession
            if active is not None and active.sparkContext._jsc is not None:
                # What ran before is not this task's, though the bus may not have reported it yet.
                self._wait_for_bus(active.sparkContext)
                self.attach(active)

    def attach(self, spark: Any) -> None:
        """Listen to one classic session; a session that is listened to already is left alone."""
        with harmless("a Spark session could not be listened to", self.problems), self._lock:
            session = spark._jsparkSession
            key = session.sessionUUID()
            if key in self._listeners:
                return
            if self._application is None or self._application.id != spark.sparkContext.applicationId:
                self._application = Application(spark)
                self._context = spark.sparkContext
                listeners = spark.sparkContext.getConf().get("spark.extraListeners", "")
                self.agent_configured = "OpenLineageSparkListener" in listeners
            from pyspark.java_gateway import ensure_callback_server_started

            # Leaves a callback server alone that somebody started before.
            ensure_callback_server_started(spark.sparkContext._gateway)
            listener = ExecutionListener(self._application, session, self._sink, self._max_plan_bytes)
            session.listenerManager().register(listener)
            self._listeners[key] = (session, listener)

    def drain(self) -> None:
        """Wait until Spark has reported every execution that ended before this call.

        Gives up after the drain timeout, and says so in `problems`.
        """
        with harmless("the last executions were not all reported in time", self.problems):
            if self._context is None or self._context._jsc is None:
                return
            self._wait_for_bus(self._context)

    def _wait_for_bus(self, context: Any) -> None:
        context._jsc.sc().listenerBus().waitUntilEmpty(int(self._drain_timeout_seconds * 1000))

    def disarm(self) -> None:
        """Drain, unregister every listener, and leave pyspark as it was found."""
        _hooks().remove(self)
        self._release()

    def _release(self) -> None:
        """Drain and forget the current context with all its sessions."""
        self.drain()
        with self._lock:
            listeners, self._listeners = self._listeners, {}
            alive = self._context is not None and self._context._jsc is not None
            self._context = self._application = None
        for session, listener in listeners.values() if alive else ():
            with harmless("a listener could not be unregistered", self.problems):
                session.listenerManager().unregister(listener)

    def context_stops(self, context: Any) -> None:
        """Let go of a Spark context that is about to stop."""
        if context is self._context:
            self._release()


class _Hooks:
    """The two places where pyspark tells that a session appears and that a context stops.

    Both methods are replaced while at least one capture is armed, call the original first and last
    respectively, and are put back afterwards.
    """

    def __init__(self) -> None:
        self._captures: List[Capture] = []
        self._lock = threading.Lock()
        self._originals: Dict[Any, Any] = {}

    def add(self, capture: Capture) -> None:
        with self._lock:
            self._captures.append(capture)
            if len(self._captures) == 1:
                self._install()

    def remove(self, capture: Capture) -> None:
        with self._lock:
            if capture in self._captures:
                self._captures.remove(capture)
                if not self._captures:
                    self._uninstall()

    def _install(self) -> None:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        make, stop = SparkSession.__init__, SparkContext.stop

        @functools.wraps(make)
        def session_appears(session: Any, *args: Any, **kwargs: Any) -> None:
            make(session, *args, **kwargs)
            for capture in tuple(self._captures):
                capture.attach(session)

        @functools.wraps(stop)
        def context_stops(context: Any) -> None:
            for capture in tuple(self._captures):
                with harmless("a stopping Spark context could not be drained", capture.problems):
                    capture.context_stops(context)
            stop(context)

        logging.getLogger("py4j.clientserver").addFilter(_is_no_callback)
        self._originals = {SparkSession: ("__init__", make), SparkContext: ("stop", stop)}
        SparkSession.__init__, SparkContext.stop = session_appears, context_stops

    def _uninstall(self) -> None:
        for owner, (name, original) in self._originals.items():
            setattr(owner, name, original)
        logging.getLogger("py4j.clientserver").removeFilter(_is_no_callback)
        self._originals = {}


def _is_no_callback(entry: logging.LogRecord) -> bool:
    """Keep py4j's note about each callback, one for each execution, out of the task's log."""
    return not str(entry.msg).startswith("Received command")


@functools.lru_cache(maxsize=1)
def _hooks() -> _Hooks:
    os.register_at_fork(after_in_child=_let_go_of_gateway)
    return _Hooks()


def _let_go_of_gateway() -> None:
    """Keep a forked child from closing its parent's connections to the JVM.

    The child inherits py4j's connections. Its garbage collector would shut their sockets down, for the
    parent too, which then logs "Error while sending" at its next call. A child that only forgets the
    sockets leaves the parent's alone; py4j itself cannot be used over a fork.
    """
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    client = gateway._gateway_client
    client.is_connected = False
    connections = [*client.deque, *getattr(gateway.__dict__.get("_callback_server"), "connections", ())]
    own = getattr(client, "get_thread_connection", lambda: None)()
    for connection in (*connections, own):
        if connection is not None:
            connection.socket = connection.stream = None
