"""Attaches capture to the Spark applications of this process, and lets go of them again.

All sessions of an application count, whoever makes them: the builder, `newSession()`, a library. Records are
complete when `drain` returned; draining happens by itself before a Spark context stops, whoever stops it.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, List, Optional

from airflow_provider_spark_lineage.capture.application import Application
from airflow_provider_spark_lineage.capture.calls import record_of
from airflow_provider_spark_lineage.capture.guard import alarm_paused, harmless, tell, withhold
from airflow_provider_spark_lineage.capture.hooks import hooks
from airflow_provider_spark_lineage.capture.watched import Call
from airflow_provider_spark_lineage.record import FULL, Record

DRAIN_TIMEOUT_SECONDS = 30.0
MAX_PLAN_BYTES = 50_000_000
CONNECT = "Spark Connect sessions are not captured yet"


class Capture:
    """Makes a record of every Spark execution of this process that ends between `arm` and `disarm`.

    `sink` receives each record, on a thread of capture's own.

    `sql_text` is one of `record.SQL_TEXTS`.

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
    ) -> None:
        self.problems: List[str] = []
        """What was lost outside any single record, a sentence each."""
        self.agent_configured = False
        """OpenLineage's Java agent listens to the same application."""
        self._sink = sink
        self._drain_timeout_seconds = drain_timeout_seconds
        self._max_plan_bytes = max_plan_bytes
        self._sql_text = sql_text
        self._lock = threading.Lock()
        self._application: Optional[Application] = None
        self._context: Any = None
        self._dropped_before = 0
        self._withholds = False
        self._process = os.getpid()

    def arm(self) -> None:
        """Listen to the application that there is, or to the one that will be made."""
        if self._sql_text != FULL and not self._withholds:
            self._withholds = True
            withhold(1)
        with harmless("capture could not be armed", self.problems):
            self._tell_of_connect()
            if _is_connect_only():
                return
            hooks().add(self)
            from pyspark import SparkContext

            context = SparkContext._active_spark_context
            if context is not None and context._jsc is not None:
                self._listen(context)

    def attach(self, spark: Any) -> None:
        """Listen to the application of a classic session; one that is listened to already is left alone."""
        with harmless("a Spark session could not be listened to", self.problems):
            if getattr(spark, "_jsparkSession", None) is None:
                tell(CONNECT, self.problems)
            elif spark.sparkContext._jsc is None:
                tell("the Spark session had been stopped before the capture began", self.problems)
            else:
                self._listen(spark.sparkContext)

    def called(self, call: Call) -> None:
        """Record what Spark tells no listener; told of each call before it begins and when it has ended."""
        context = call.context
        if context is None or context._jsc is None or self._is_forked():
            return
        application = self._listen(context)
        record = record_of(call, application) if application is not None else None
        if application is not None and record is not None:
            application.add(record, call.number)

    def _listen(self, context: Any) -> Optional[Application]:
        """Return the application of a context, listened to from now on; None if that failed before."""
        with self._lock:
            if self._context is not context:
                # Tried once: a Spark that cannot be listened to must not cost every call of the program.
                self._context, self._application = context, None
                self._application = Application(
                    context, self._sink, self._max_plan_bytes, self._sql_text, self.problems
                )
                self._dropped_before = _dropped_events(context)
                listeners = context.getConf().get("spark.extraListeners", "")
                self.agent_configured = "OpenLineageSparkListener" in listeners
            return self._application

    def drain(self, timeout_seconds: Optional[float] = None, problems: Optional[List[str]] = None) -> None:
        """Wait until Spark has reported every execution that ended before this call.

        Gives up after the time given, or the drain timeout. What was not reported is said in `problems`,
        by default those of the capture: a list of the caller's where the capture goes on, and may be told
        later what is missing now.
        """
        problems = self.problems if problems is None else problems
        context, application = self._context, self._application
        if application is None or context._jsc is None or self._is_forked():
            return
        timeout = self._drain_timeout_seconds if timeout_seconds is None else timeout_seconds
        with alarm_paused(), harmless("the last executions were not all reported in time", problems):
            application.drain(timeout, problems)
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
        """Drain, let go of Spark, and leave pyspark as it was found."""
        self._release()
        with harmless("pyspark could not be left as it was found", self.problems):
            hooks().remove(self)
        # A session may have appeared meanwhile.
        self._release()
        if self._withholds:
            self._withholds = False
            withhold(-1)
        self._tell_of_connect()

    def context_stops(self, context: Any) -> None:
        """Let go of a Spark context that is about to stop."""
        if context is self._context:
            self._release()

    def _release(self) -> None:
        """Drain and forget the current context."""
        self.drain()
        with self._lock:
            application, self._application = self._application, None
            alive = self._context is not None and self._context._jsc is not None and not self._is_forked()
            self._context = None
        if application is not None:
            with harmless("Spark could not be let go of", self.problems):
                application.close(alive=alive)

    def _is_forked(self) -> bool:
        """Say whether this is a child of the process that captures, whose connection is not its own."""
        return os.getpid() != self._process

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


def _dropped_events(context: Any) -> int:
    """Return how many events Spark has thrown away because our queue's listeners were too slow."""
    registry = context._jsc.sc().listenerBus().metrics().metricRegistry()
    return int(registry.counter("queue.shared.numDroppedEvents").getCount())
