"""What all records of one Spark application share, and how a query is written down in one."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime
from typing import Any, Callable, Dict, List, Optional

from airflow_provider_spark_lineage.capture.guard import harmless, tell
from airflow_provider_spark_lineage.capture.journal import Journal
from airflow_provider_spark_lineage.capture.jvm import JvmReader
from airflow_provider_spark_lineage.capture.rdd import RddReader
from airflow_provider_spark_lineage.capture.streams import Streams
from airflow_provider_spark_lineage.capture.unlogged import unlogged
from airflow_provider_spark_lineage.record import Record, without_secrets

AGENT_VERSION = "0.1.0"
MAX_MESSAGE_CHARS = 4000
"""A Java exception's message may carry a whole Python traceback or a plan."""


class Application:
    """Numbers the records of one Spark application and gives them to `sink`."""

    def __init__(self, context: Any, sink: Callable[[Record], None], max_plan_bytes: int) -> None:
        self.id = str(context.applicationId)
        self.name = str(context.appName)
        self.spark_version = str(context.version)
        self.gateway = context._gateway
        self.jvm = context._jvm
        self.rdds = RddReader()
        self.reader = JvmReader(context, self.rdds)
        self.streams = Streams()
        self.journal = Journal(context, self.keep)
        self.max_plan_bytes = max_plan_bytes
        self._sink = sink
        self._lock = threading.Lock()
        self._count = 0

    def keep(self, record: Record) -> None:
        """Number a record, from 1 in the order in which the executions ended, and pass it on."""
        with self._lock:
            self._count += 1
            record.number = self._count
        self._sink(record)

    def batches(self, problems: List[str]) -> List[Record]:
        """Return the records of streaming batches that ended since this was asked last."""
        # What a query ran of late comes with one `QueryExecution`, whose plan is the same for all of it.
        read: Dict[int, Record] = {}
        found = []
        for batch in self.streams.ended(problems):
            failed = batch.error is not None
            record = new_record(self, "microBatch", batch.began, batch.ended, failed=failed)
            key = id(batch.query)
            if key not in read:
                read_query(record, self, batch.query.sparkSession(), batch.query, counted=True)
                read[key] = replace(record)
            record = replace(
                read[key],
                started_at=record.started_at,
                ended_at=record.ended_at,
                outcome=record.outcome,
                metrics=read[key].metrics if batch.is_own else [],
                problems=list(read[key].problems),
            )
            if failed:
                with harmless("the error could not be read", record.problems):
                    record.error = read_error(batch.error)
            found.append(record)
        return found


def new_record(
    application: Application, name: str, started: datetime, ended: datetime, *, failed: bool
) -> Record:
    """Return a record that says what ran when, and nothing yet of what it did; it has no number."""
    return Record(
        application_id=application.id,
        application_name=application.name,
        spark_version=application.spark_version,
        agent_version=AGENT_VERSION,
        number=0,
        name=name,
        started_at=started.isoformat(),
        ended_at=ended.isoformat(),
        outcome="failure" if failed else "success",
    )


def read_query(
    record: Record, application: Application, session: Any, execution: Any, *, counted: bool = False
) -> None:
    """Write the plan of a query down, where its data lie, and with `counted` what Spark counted."""
    with unlogged(), harmless("the plan could not be read", record.problems):
        found = application.reader.read(
            session,
            execution,
            failed=record.failed,
            counted=counted,
            max_plan_bytes=application.max_plan_bytes,
        )
        record.sql = found.get("sql", "")
        record.plan_kind, record.plan = found["plan_kind"], found.get("plan", [])
        record.facts = found.get("facts", [])
        record.metrics = [one for entry in found.get("metrics", ()) if (one := _counted(entry))]
        for problem in found["problems"]:
            tell(problem, record.problems)


def _counted(entry: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """Return what a physical scan or write counted; None where it counted nothing."""
    if entry.get("rows") and entry.get("files") == 0:
        # A plan that runs again counts its rows anew, and its files only the first time.
        entry = {key: value for key, value in entry.items() if key not in ("files", "size_bytes")}
    return entry if entry.keys() - {"node", "location"} else None


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
