"""Spark's `QueryExecutionListener`, in Python: turns each finished execution into a record.

Spark calls it on its listener bus, after the action and beside the user's code. It asks the JVM
while the execution is still there, and hands the record to a sink; it never touches the session's
configuration and never runs a query.
"""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Dict, List, Tuple

from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.capture.literals import without_literals
from airflow_provider_spark_lineage.capture.metrics import MetricsReader
from airflow_provider_spark_lineage.capture.probe import probe_plan
from airflow_provider_spark_lineage.record import Record, without_secrets

AGENT_VERSION = "0.1.0"
MAX_MESSAGE_CHARS = 4000
"""A Java exception's message may carry a whole Python traceback or a plan."""


class Application:
    """What all records of one Spark application share, and the count of its executions."""

    def __init__(self, spark: Any) -> None:
        context = spark.sparkContext
        self.id = str(context.applicationId)
        self.name = str(context.appName)
        self.spark_version = str(context.version)
        self.jvm = context._jvm
        self.metrics = MetricsReader(self.jvm)
        self._lock = threading.Lock()
        self._count = 0

    def next_number(self) -> int:
        """Return the position of the execution that just ended, from 1."""
        with self._lock:
            self._count += 1
            return self._count


class ExecutionListener:
    """Implements `org.apache.spark.sql.util.QueryExecutionListener` for one JVM session."""

    def __init__(
        self,
        application: Application,
        session: Any,
        sink: Callable[[Record], None],
        max_plan_bytes: int,
        problems: List[str],
    ) -> None:
        self._application = application
        self._session = session
        self._sink = sink
        self._max_plan_bytes = max_plan_bytes
        self._problems = problems
        """Of the capture: what costs a whole record."""
        self._closed = False

    def close(self) -> None:
        """Record nothing more: what Spark still reports comes too late."""
        self._closed = True

    def onSuccess(self, name: str, execution: Any, duration_ns: int) -> None:  # noqa: N802  Spark's name
        """Record an execution that finished."""
        if self._closed:
            return
        with harmless(f"the execution `{name}` could not be recorded", self._problems):
            record = self._record(name, execution, duration_ns, failed=False)
            with harmless("row counts could not be read", record.problems):
                if record.facts:
                    record.metrics = self._application.metrics.read(execution.executedPlan())
            self._keep(record)

    def onFailure(self, name: str, execution: Any, exception: Any) -> None:  # noqa: N802  Spark's name
        """Record an execution that failed, with Spark's own reason."""
        if self._closed:
            return
        with harmless(f"the failed execution `{name}` could not be recorded", self._problems):
            record = self._record(name, execution, 0, failed=True)
            with harmless("the error could not be read", record.problems):
                record.error = read_error(exception)
            with harmless("the start could not be read", record.problems):
                record.started_at = _start_of(execution) or record.started_at
            self._keep(record)

    def _keep(self, record: Record) -> None:
        # The capture may have given up waiting while this record was made.
        if not self._closed:
            self._sink(record)

    # Spark compares listeners when one of several is unregistered, and logs them.

    def equals(self, other: Any) -> bool:
        """Say that no other listener equals this one: the JVM has found out before whether it is the same."""
        return False

    def hashCode(self) -> int:  # noqa: N802  Java's name
        """Return Java's hash of this object."""
        return id(self) % 2**31

    def toString(self) -> str:  # noqa: N802  Java's name
        """Return what Spark's log shows."""
        return "spark-lineage"

    class Java:
        """What py4j needs to know to pass this object to the JVM."""

        implements = ["org.apache.spark.sql.util.QueryExecutionListener"]  # noqa: RUF012  py4j's protocol

    def _record(self, name: str, execution: Any, duration_ns: int, *, failed: bool) -> Record:
        """Write down everything that does not depend on the outcome."""
        ended = datetime.now(timezone.utc)
        started = ended - timedelta(microseconds=duration_ns / 1000)
        application = self._application
        record = Record(
            application_id=application.id,
            application_name=application.name,
            spark_version=application.spark_version,
            agent_version=AGENT_VERSION,
            number=application.next_number(),
            name=name,
            started_at=started.isoformat(),
            ended_at=ended.isoformat(),
            outcome="failure" if failed else "success",
        )
        with harmless("the plan could not be read", record.problems):
            record.sql = _sql_text(execution)
            try:
                plan = execution.analyzed()
            except Exception:  # PySpark turns Spark's errors into classes of its own, py4j raises others.
                if not failed:
                    raise
                # The query was not understood, which is the error that Spark reports: it read nothing.
                record.plan_kind = "none"
                return record
            record.plan_kind, record.plan = self._plan(execution, plan, record.problems)
            if record.plan_kind == "optimized":
                plan = execution.optimizedPlan()
            record.facts = probe_plan(self._session, plan, record.plan, record.problems)
        return record

    def _plan(self, execution: Any, analyzed: Any, problems: List[str]) -> Tuple[str, List[Any]]:
        """Return the analyzed plan's JSON, or the optimized plan's when the former is too large."""
        text = analyzed.toJSON()
        if len(text) <= self._max_plan_bytes:
            return "analyzed", json.loads(text, object_hook=without_literals)
        size = len(text)
        text = execution.optimizedPlan().toJSON()
        limit = f"larger than the limit of {self._max_plan_bytes}"
        if len(text) <= self._max_plan_bytes:
            problems.append(
                f"the analyzed plan has {size} bytes, {limit}: the optimized plan was read instead"
            )
            return "optimized", json.loads(text, object_hook=without_literals)
        problems.append(f"the plan has {size} bytes, {limit}: it was not read")
        return "none", []


def _sql_text(execution: Any) -> str:
    """Return the SQL text that an execution came from; empty for the DataFrame API."""
    text = execution.logical().origin().sqlText()
    return without_secrets(text.get()) if text.isDefined() else ""


def _start_of(execution: Any) -> str:
    """Return when Spark began to plan an execution, which stands for its start where no duration is told."""
    phases = execution.tracker().phases()
    for name in ("optimization", "planning"):
        phase = phases.get(name)
        if phase.isDefined():
            return datetime.fromtimestamp(phase.get().startTimeMs() / 1000, timezone.utc).isoformat()
    return ""


def read_error(exception: Any) -> Dict[str, str]:
    """Return class, message and SQLSTATE of a Java exception.

    Spark wraps the reason: the innermost error that has an SQLSTATE says best what went wrong, and
    without one the innermost error does.
    """
    best = current = exception
    state = ""
    for _ in range(20):
        found = _sql_state(current)
        if found or not state:
            best, state = current, found or state
        current = current.getCause()
        if current is None:
            break
    message = without_secrets(str(best.getMessage() or ""))
    error = {"class": best.getClass().getName(), "message": message[:MAX_MESSAGE_CHARS]}
    if state:
        error["sql_state"] = state
    return error


def _sql_state(exception: Any) -> str:
    """Return the SQLSTATE of an exception, empty if it is none of Spark's own."""
    try:
        return str(exception.getSqlState() or "")
    except Exception:  # py4j raises several types for a method that is not there.
        return ""
