"""What all records of one Spark application share, and how a query is written down in one."""

from __future__ import annotations

import contextlib
import json
import threading
from datetime import datetime
from typing import Any, Callable, Dict, List, Optional, Tuple

from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.capture.journal import Journal
from airflow_provider_spark_lineage.capture.literals import without_literals
from airflow_provider_spark_lineage.capture.metrics import MetricsReader
from airflow_provider_spark_lineage.capture.probe import probe_plan
from airflow_provider_spark_lineage.capture.rdd import RddReader
from airflow_provider_spark_lineage.capture.streams import Batch, Streams
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
        self.metrics = MetricsReader(self.jvm)
        self.rdds = RddReader()
        self.settings: Dict[str, Any] = {}
        """What accessor paths lead to that are the same for every plan of the application."""

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
            record = _record_of_batch(self, batch, read.get(id(batch.query)))
            read.setdefault(id(batch.query), record)
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


def read_query(record: Record, application: Application, session: Any, execution: Any) -> None:
    """Write the plan of a query down, and where its data lie."""
    with unlogged(), harmless("the plan could not be read", record.problems):
        record.sql = _sql_text(execution)
        try:
            plan = execution.analyzed()
        except Exception:  # PySpark turns Spark's errors into classes of its own, py4j raises others.
            if not record.failed:
                raise
            # The query was not understood, which is the error that Spark reports: it read nothing.
            record.plan_kind = "none"
            return
        record.plan_kind, record.plan = _plan(execution, plan, application, record.problems)
        if record.plan_kind == "optimized":
            plan = execution.optimizedPlan()
        record.facts = probe_plan(
            session,
            plan,
            record.plan,
            record.problems,
            rdds=application.rdds,
            settings=application.settings,
        )


def _record_of_batch(application: Application, batch: Batch, same: Optional[Record]) -> Record:
    """Return the record of a batch; `same` is one that was made of the same `QueryExecution`."""
    failed = batch.error is not None
    record = new_record(application, "microBatch", batch.began, batch.ended, failed=failed)
    if same is None:
        read_query(record, application, batch.query.sparkSession(), batch.query)
    else:
        record.sql, record.plan_kind = same.sql, same.plan_kind
        record.plan, record.facts, record.problems = same.plan, same.facts, list(same.problems)
    if failed:
        with harmless("the error could not be read", record.problems):
            record.error = read_error(batch.error)
    if batch.is_own:
        with harmless("row counts could not be read", record.problems):
            record.metrics = application.metrics.read(batch.query.executedPlan())
    return record


def _plan(
    execution: Any, analyzed: Any, application: Application, problems: List[str]
) -> Tuple[str, List[Any]]:
    """Return the analyzed plan's JSON, or the optimized plan's when the former is too large."""
    max_plan_bytes = application.max_plan_bytes
    try:
        text = analyzed.toJSON()
    except Exception:  # Spark fails on the type of a function in Scala, and py4j raises what it likes.
        return "analyzed", _nodes(analyzed, application.jvm)
    if len(text) <= max_plan_bytes:
        return "analyzed", json.loads(text, object_hook=without_literals)
    size = len(text)
    text = execution.optimizedPlan().toJSON()
    limit = f"larger than the limit of {max_plan_bytes}"
    if len(text) <= max_plan_bytes:
        problems.append(f"the analyzed plan has {size} bytes, {limit}: the optimized plan was read instead")
        return "optimized", json.loads(text, object_hook=without_literals)
    problems.append(f"the plan has {size} bytes, {limit}: it was not read")
    return "none", []


def _nodes(plan: Any, jvm: Any) -> List[Any]:
    """Return a plan's JSON where Spark cannot write one of its nodes: that one has its columns alone."""
    found: List[Any] = []
    # Whole plans are tried on few levels: above a node that cannot be written deep down, each try goes there.
    waiting = [(plan, 0, 1)]
    while waiting:
        node, levels, step = waiting.pop()
        if not levels:
            levels, step = step, 2 * step
            with contextlib.suppress(Exception):  # It may be a node below that cannot be written.
                found.extend(json.loads(node.toJSON(), object_hook=without_literals))
                continue
        children = node.children()
        below = (children.apply(index) for index in reversed(range(children.size())))
        waiting.extend((child, levels - 1, step) for child in below)
        try:
            own = json.loads(_with_bare_children(node, jvm).toJSON(), object_hook=without_literals)[0]
        except Exception:  # It is this one.
            columns = node.output()
            written = [json.loads(columns.apply(index).toJSON()) for index in range(columns.size())]
            own = {"class": node.getClass().getName(), "num-children": children.size(), "unwritten": written}
        found.append(own)
    return found


def _with_bare_children(node: Any, jvm: Any) -> Any:
    """Return a copy of a node on top of leaves that Spark can write."""
    leaves = jvm.java.util.ArrayList()
    for _ in range(node.children().size()):
        leaves.add(jvm.org.apache.spark.sql.catalyst.plans.logical.OneRowRelation())
    return node.withNewChildren(jvm.org.apache.spark.api.python.PythonUtils.toSeq(leaves))


def _sql_text(execution: Any) -> str:
    """Return the SQL text that an execution came from; empty for the DataFrame API."""
    text = execution.logical().origin().sqlText()
    return without_secrets(text.get()) if text.isDefined() else ""


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
