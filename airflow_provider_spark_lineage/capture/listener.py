"""Spark's `QueryExecutionListener`, in Python: turns each finished execution into a record.

Spark calls it on its listener bus, after the action and beside the user's code. It asks the JVM
while the execution is still there, and hands the record to a sink; it never touches the session's
configuration and never runs a query.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, List

from airflow_provider_spark_lineage.capture.application import Application, new_record, read_error, read_query
from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.capture.replies import prompt_replies
from airflow_provider_spark_lineage.capture.unlogged import unlogged
from airflow_provider_spark_lineage.record import Record

_RUN_LATER = frozenset({"rdd", "toLocalIterator"})
"""What is reported when it is made, before its rows were read."""


class ExecutionListener:
    """Implements `org.apache.spark.sql.util.QueryExecutionListener` for one JVM session."""

    def __init__(self, application: Application, session: Any, problems: List[str]) -> None:
        self._application = application
        self._session = session
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
        what = f"the execution `{name}` could not be recorded"
        with unlogged(), harmless(what, self._problems), prompt_replies(self._application.gateway):
            self._keep(self._record(name, execution, duration_ns, failed=False))

    def onFailure(self, name: str, execution: Any, exception: Any) -> None:  # noqa: N802  Spark's name
        """Record an execution that failed, with Spark's own reason."""
        if self._closed:
            return
        what = f"the failed execution `{name}` could not be recorded"
        with unlogged(), harmless(what, self._problems), prompt_replies(self._application.gateway):
            record = self._record(name, execution, 0, failed=True)
            with harmless("the error could not be read", record.problems):
                record.error = read_error(exception)
            with harmless("the start could not be read", record.problems):
                record.started_at = _start_of(execution) or record.started_at
            self._keep(record)

    def _keep(self, record: Record) -> None:
        # The capture may have given up waiting while this record was made.
        if not self._closed:
            self._application.keep(record)

    def _record(self, name: str, execution: Any, duration_ns: int, *, failed: bool) -> Record:
        """Write an execution down, but for its error."""
        application = self._application
        application.journal.catch_up()
        for batch in application.batches(self._problems):
            application.keep(batch)
        ended = datetime.now(timezone.utc)
        started = ended - timedelta(microseconds=duration_ns / 1000)
        record = new_record(application, name, started, ended, failed=failed)
        counted = not failed and name not in _RUN_LATER
        read_query(record, application, self._session, execution, counted=counted)
        return record

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


def _start_of(execution: Any) -> str:
    """Return when Spark began to plan an execution, which stands for its start where no duration is told."""
    phases = execution.tracker().phases()
    for name in ("optimization", "planning"):
        phase = phases.get(name)
        if phase.isDefined():
            return datetime.fromtimestamp(phase.get().startTimeMs() / 1000, timezone.utc).isoformat()
    return ""
