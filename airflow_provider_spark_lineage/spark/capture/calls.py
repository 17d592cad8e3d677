"""Handles calls of watched methods: `BEFORE` and `AFTER` have a row for each kind.

Spark's bus reports a query with a delay, and a call ends in the user's thread. So each call posts a `Mark` on
the bus, without waiting for it: the records of calls and queries have one order.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, Callable, Dict, Optional

from airflow_provider_spark_lineage.spark.capture.application import LiveApplication, fill, new_record
from airflow_provider_spark_lineage.spark.capture.jvm import CALL, JvmReader
from airflow_provider_spark_lineage.spark.capture.rdd_saves import RDD_SAVES, target
from airflow_provider_spark_lineage.spark.capture.results import caller, line_of_use
from airflow_provider_spark_lineage.spark.capture.watched import RDD_ACTIONS, CallKind, WatchedCall
from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.guard import harmless
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.record import MAX_MESSAGE_LENGTH, Record
from airflow_provider_spark_lineage.spark.records.sql_text import FULL
from airflow_provider_spark_lineage.spark.sources.patterns import has_wildcard

Handler = Callable[[WatchedCall, LiveApplication], Optional[Record]]
"""Returns the record of a call; None if there is nothing to record."""


def record_of(call: WatchedCall, application: LiveApplication) -> Optional[Record]:
    """Run the handler of a call that is about to begin or has ended; return its record, if any."""
    handle = (BEFORE if call.ended is None else AFTER).get(call.site.kind)
    return handle(call, application) if handle else None


_PROBED_BEFORE = re.compile(
    r"""\b(?: drop\s+(?:table|view|database|schema|namespace) | if\s+not\s+exists
    | or\s+replace\s+(?:table|view) | create\b.*\blocation )\b""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""Statements whose tables are probed before they run."""

_DROP = re.compile(r"\bdrop\s+(?:table|view|database|schema|namespace)\b", re.IGNORECASE)


def _probe_before(call: WatchedCall, application: LiveApplication) -> None:
    """Probe the tables that a statement will drop or create."""
    text = call.args[0] if call.args else call.kwargs.get("sqlQuery")
    if isinstance(text, str) and _PROBED_BEFORE.search(text):
        if _DROP.search(text):
            application.settle()
        application.reader.foresee(call.subject._jsparkSession, text)


def _store_origins(call: WatchedCall, application: LiveApplication) -> None:
    """Store the origins of an RDD, which a checkpoint removes."""
    application.rdds.origins(_jvm_rdd(call.rdd))


def _record_batch(call: WatchedCall, application: LiveApplication) -> Optional[Record]:
    """Record the query of the rows that `foreachBatch` receives as an RDD, before they are used."""
    rdd_id = int(call.arguments()["jdf"].queryExecution().analyzed().rdd().id())
    query = _batch_of_rdd(call.subject.session._jsparkSession, rdd_id, application.reader)
    if query is None:
        return None
    record = new_record(application, "foreachBatch", call.began, call.began, failed=False)
    _read(record, application, query.sparkSession(), query)
    # Leave out the sink that calls the function, which is the root.
    record.plan = record.plan[1:]
    record.facts = [fact for fact in record.facts if fact["node"] != _BATCH]
    record.rdd_id = rdd_id
    application.rdds.add_query_rdd(rdd_id)
    return record


_BATCH = "WriteToMicroBatchDataSourceV1"
"""Class of the root of the plan of a stream's batch."""


def _batch_of_rdd(session: Any, rdd_id: int, reader: JvmReader) -> Optional[Any]:
    """Return the `QueryExecution` of the batch whose rows an RDD has; None if there is none."""
    for query in session.streams().active():
        execution = query.streamingQuery().lastExecution()
        plan = execution.logical() if execution is not None else None
        if plan is None or str(plan.nodeName()) != _BATCH:
            continue
        if "ForeachBatchSink" in str(plan.sink().getClass().getName()):
            rows = reader.computed(execution, "toRdd")
            if rows is not None and int(rows.id()) == rdd_id:
                return execution
    return None


def _record_query_of_rdd(call: WatchedCall, application: LiveApplication) -> Optional[Record]:
    """Record the query of an RDD's rows; it has not run yet."""
    from pyspark import RDD

    if not isinstance(call.result, RDD):
        return None
    rdd_id = int(_jvm_rdd(call.result).id())
    if application.rdds.is_query_rdd(rdd_id):
        # Spark 3.5 computes the property `rdd` each time, and returns the same RDD.
        return None
    record = _new_record(call, application)
    frame = call.subject._jdf
    _read(record, application, frame.sparkSession(), frame.queryExecution())
    record.rdd_id = rdd_id
    application.rdds.add_query_rdd(rdd_id)
    return record


def _note_patterns(call: WatchedCall, application: LiveApplication) -> None:
    """Note the patterns of a read of several paths; of a single path Spark keeps them."""
    arguments = call.arguments()
    paths = arguments.get("paths", arguments.get("path"))
    if call.error is None and isinstance(paths, (list, tuple)) and len(paths) > 1:
        patterns = [path for path in paths if isinstance(path, str) and has_wildcard(path)]
        if patterns:
            application.reader.note_patterns(call.result._jdf.queryExecution().analyzed(), patterns)


def _tag_jobs(call: WatchedCall, application: LiveApplication) -> None:
    """Mark the jobs that this thread starts from now on with the call's tag."""
    if call.tag:
        call.context.setLocalProperty(CALL, call.tag)


def _record_job(call: WatchedCall, application: LiveApplication) -> Record:
    """Record the reads and writes of a job over an RDD, as a plan of one or two nodes with facts."""
    call.context.setLocalProperty(CALL, None)
    record = _new_record(call, application)
    record.plan_kind = "rdd"
    if call.site.name in _RETURN_ROWS and not record.failed:
        with harmless("the line that collected rows could not be read"):
            site = caller()
            record.collected = line_of_use(site and site._replace(function=call.site.name))
    scan: Dict[str, Any] = {"class": "RDD", "num-children": 0, "output": []}
    record.plan = [scan]
    with harmless("the origins of an RDD could not be read", record.problems):
        origins = application.rdds.origins(_jvm_rdd(call.rdd))
        record.facts.append({"node": "RDD", "expr_id": -1, "relation": "", "probed": {"origins": origins}})
    save = RDD_SAVES.get(call.site.name)
    if save is None:
        return record
    record.plan.insert(0, {"class": "SavedRDD", "num-children": 1})
    lost = "the target of an RDD's save could not be read"
    # A wrong path or argument fails here as it did in the call; then nothing is lost.
    with harmless(lost, record.problems) if call.error is None else suppress(Exception):
        facts = target(save, call.arguments(), call.context)
        if "schema" in facts:
            scan["output"] = [[_VALUE]]
        record.facts.append({"node": "SavedRDD", "expr_id": None, "relation": "", "probed": facts})
    return record


BEFORE: Dict[CallKind, Handler] = {
    CallKind.RDD_JOB: _tag_jobs,
    CallKind.CONTEXT_JOB: _tag_jobs,
    CallKind.STATEMENT: _probe_before,
    CallKind.CHECKPOINT: _store_origins,
    CallKind.STREAM_BATCH: _record_batch,
}
AFTER: Dict[CallKind, Handler] = {
    CallKind.RDD_JOB: _record_job,
    CallKind.CONTEXT_JOB: _record_job,
    CallKind.QUERY_TO_RDD: _record_query_of_rdd,
    CallKind.READ: _note_patterns,
}

_RETURN_NO_ROWS = re.compile(r"foreach\w*|count\w*|isEmpty")
_RETURN_ROWS = frozenset(name for name in RDD_ACTIONS if not _RETURN_NO_ROWS.fullmatch(name))
"""Actions that return rows, or values that are made of them."""

_VALUE = {
    "class": "org.apache.spark.sql.catalyst.expressions.AttributeReference",
    "num-children": 0,
    "name": "value",
    "dataType": "string",
    "exprId": {"id": -1},
}
"""The column of an RDD that is saved as text, in the format of Spark's plan JSON."""


def _new_record(call: WatchedCall, application: LiveApplication) -> Record:
    """Return the record of a call that has ended, with its error and without a plan."""
    ended = call.ended or call.began
    record = new_record(application, call.site.name, call.began, ended, failed=call.error is not None)
    if call.error is not None:
        record.error = _error(call.error, application)
    return record


def _read(record: Record, application: LiveApplication, session: Any, query: Any) -> None:
    """Add the plan of a query and the facts of its reads to a record."""
    with harmless(of_plans.NOT_READ(), record.problems):
        fill(record, application.reader.read(session, query, application.max_plan_bytes))


def _jvm_rdd(rdd: Any) -> Any:
    """Return the JVM's RDD behind an RDD of pyspark.

    An RDD that only adds Python code has no JVM RDD until it runs; the RDD before it has the same origins.
    """
    return (getattr(rdd, "_prev_jrdd", None) or rdd._jrdd).rdd()


def _error(error: BaseException, application: LiveApplication) -> Dict[str, str]:
    """Return class and message of a call's exception, or of the JVM's exception behind it."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is not None:
        with harmless("the error could not be read"):
            return application.reader.error(java)
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    message = without_secrets(str(error)) if application.sql_text == FULL else ""
    return {"class": name, "message": message[:MAX_MESSAGE_LENGTH]}
