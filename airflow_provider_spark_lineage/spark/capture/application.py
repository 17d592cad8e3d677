"""Records of one Spark application, in the order of the events on Spark's listener bus.

A thread fetches the texts of `Listener.java` from the JVM twice a second: the user's code does not wait, and
a crash of the driver loses at most half a second.
"""

from __future__ import annotations

import json
import platform
import threading
import time
from datetime import datetime, timezone
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from airflow_provider_spark_lineage.spark.capture.jvm import MAX_PROBLEM_LENGTH, JvmReader
from airflow_provider_spark_lineage.spark.capture.own_thread import close_connection
from airflow_provider_spark_lineage.spark.capture.rdd import PICKLED, RddReader
from airflow_provider_spark_lineage.spark.capture.results import line_of_use
from airflow_provider_spark_lineage.spark.capture.unlogged import unlogged
from airflow_provider_spark_lineage.spark.guard import harmless, tell
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.call_sites import CallSite, call_site
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.record import BEGIN_AFTER_SECONDS, Record
from airflow_provider_spark_lineage.spark.records.streams import StreamRun, Streams
from airflow_provider_spark_lineage.spark.records.usage import Usage

PAUSE_SECONDS = 0.5
"""Pause of the thread between two fetches."""

SETTLE_SECONDS = 0.5
"""Limit of the time that a DROP waits for the records of earlier statements."""

_PAUSE_OF_DRAIN_SECONDS = 0.1
"""Pause between two looks at executions that are still running."""

jvm_lock = threading.Lock()
"""Held during a call to the JVM: a child forked during a call would share its socket."""


class LiveApplication:
    """Numbers the records of one Spark application and passes them to `sink`.

    Its listener is registered until `close`. `problems` receives a sentence for each loss; `stream_ended`
    each run of a streaming query that ended, after the records of its batches.

    `on_begin` receives the beginning of each execution that takes longer than `BEGIN_AFTER_SECONDS`: a record
    without a number, a name and an outcome, before the record of its end.
    """

    def __init__(
        self,
        context: Any,
        sink: Callable[[Record], None],
        max_plan_bytes: int,
        sql_text: str,
        problems: List[str],
        *,
        on_begin: Optional[Callable[[Record], None]] = None,
        stream_ended: Callable[[StreamRun], None] = lambda run: None,
    ) -> None:
        self.id = str(context.applicationId)
        self.name = without_secrets(str(context.appName))
        self.spark_version = str(context.version)
        self.max_plan_bytes = max_plan_bytes
        self.sql_text = sql_text
        self.rdds = RddReader()
        self.reader = JvmReader(context, self.rdds, sql_text)
        self._bus = context._jsc.sc()
        self._sink = sink
        self._on_begin = on_begin
        self._lost_beginnings: List[str] = []
        """Sentences for the log only: the record of the end is complete, without a gap."""

        self._problems = problems
        self._stream_ended = stream_ended
        self._count = 0
        self._calls: Dict[int, Record] = {}
        """Number of a mark -> the record of a call, which is emitted when the mark arrives."""

        self._last_mark = -1
        """Number of the last mark that arrived."""

        self.usage: Optional[Usage] = None
        """What Spark's tasks used until the last wait for records, or the last question."""

        self._usage_is_asked = False

        self.streams: Optional[Streams] = None
        """What streaming queries did until then."""

        self._running = 0
        """Number of executions that were running when that mark arrived."""

        self._ended = False
        """The application has ended, so no further mark arrives."""

        self._settles = True
        self._changed = threading.Condition()
        self._wake = threading.Event()
        self._closed = False
        self._listener = self.reader.listener(context, max_plan_bytes)
        if on_begin is not None:
            self._listener.writeBeginningsAfter(int(BEGIN_AFTER_SECONDS * 1000))
        self._bus.addSparkListener(self._listener)
        # The listener ignores events before this mark on the bus: they are older than the capture.
        self._listener.mark("")
        self.client = context._gateway._gateway_client
        self._thread = threading.Thread(target=self._follow, name="spark-lineage-records", daemon=True)
        self._thread.start()

    def add(self, record: Record, tag: str) -> None:
        """Emit the record of a call after all earlier events are handled; return at once.

        `tag` marks the jobs to count; empty for none.
        """
        with self._changed:
            self._calls[int(self._listener.mark(tag))] = record

    def drain(self, timeout_seconds: float, problems: List[str], running_seconds: float = 0) -> None:
        """Wait until all events posted so far are recorded; raise `TimeoutError` if that takes too long.

        Before that, wait for executions that are still running, for `running_seconds` at most. Add the number
        of those that run on to `problems`.
        """
        deadline = time.monotonic() + running_seconds
        while True:
            if not self._wait_for_records(timeout_seconds, "usage"):
                raise TimeoutError(f"recording the executions takes more than {timeout_seconds:g} seconds")
            if not self._running or self._ended or time.monotonic() >= deadline:
                break
            with self._changed:
                self._changed.wait(_PAUSE_OF_DRAIN_SECONDS)
        if self._running:
            executions = "executions were" if self._running > 1 else "execution was"
            tell(f"{self._running} {executions} still running when the capture ended", problems)

    def ask_usage(self) -> None:
        """Have our thread ask Spark for `usage`; it is there a second later."""
        self._usage_is_asked = True

    def settle(self) -> None:
        """Wait until the executions that ended so far are recorded, at most `SETTLE_SECONDS`.

        The catalog is asked about a new table after its creation, and that must come before its drop. If the
        time was once too short, no statement waits any more.
        """
        self._settles = self._settles and self._wait_for_records(SETTLE_SECONDS)

    def _wait_for_records(self, timeout_seconds: float, tag: str = "") -> bool:
        """Wait until all events posted so far are recorded; return False if that takes too long."""
        number = int(self._listener.mark(tag))
        self._wake.set()
        with self._changed:
            return self._changed.wait_for(
                lambda: self._last_mark >= number or self._ended or not self._thread.is_alive(),
                timeout_seconds,
            )

    def close(self, *, alive: bool) -> None:
        """Stop recording; if the Spark context is still `alive`, remove the listener from it."""
        self._closed = True
        self._wake.set()
        if alive:
            try:
                self._bus.removeSparkListener(self._listener)
            finally:
                self._listener.close()

    def emit(self, record: Record) -> None:
        """Number a record, from 1 in the order of the bus, and pass it to the sink."""
        if not self._closed:
            self._count += 1
            record.number = self._count
            self._sink(record)

    def _follow(self) -> None:
        """Fetch the listener's texts until `close` is called or the JVM is gone."""
        lost = "executions could not be fetched from Spark's JVM"
        with unlogged(), harmless(lost, self._problems):
            while not self._closed:
                self._wake.wait(PAUSE_SECONDS)
                self._wake.clear()
                if self._usage_is_asked:
                    self._usage_is_asked = False
                    with jvm_lock:
                        self._listener.mark("usage")
                text = "?"
                while text and not self._closed:
                    with jvm_lock:
                        text = self._listener.take()
                    lines = iter(text.split("\n"))
                    for line in lines:
                        self._read(line, lines)
            close_connection(self.client)
        with self._changed:
            self._changed.notify_all()

    def _read(self, line: str, lines: Iterator[str]) -> None:
        """Handle a line, whose first letter is its kind.

        A mark (M), an execution (R) or its beginning (B), both with the next line, an end (E), or a loss (L).
        Others describe the application: usage (U), streams (S), the end of a stream (T).
        """
        kind, text = line[:1], line[1:]
        if kind == "M":
            mark, ongoing, counts = text.split(" ", 2)
            number, running = int(mark), int(ongoing)
            with self._changed:
                record = self._calls.pop(number, None)
            if record is not None:
                # Outside of the lock, which the user's thread needs for its next call.
                with harmless("a call could not be recorded", self._problems):
                    _add_counts(record, json.loads(counts or "{}"))
                    self.emit(record)
            with self._changed:
                self._last_mark, self._running = number, running
                self._changed.notify_all()
        elif kind == "U":
            with harmless("what Spark's tasks used could not be read", self._problems):
                self.usage = Usage.from_json(json.loads(text))
        elif kind == "S":
            with harmless("what streaming queries did could not be read", self._problems):
                self.streams = Streams.from_json(json.loads(text))
        elif kind == "T":
            with harmless("the end of a streaming query could not be read", self._problems):
                run = StreamRun.from_json(json.loads(text))
                if run is not None and not self._closed:
                    self._stream_ended(run)
        elif kind == "E":
            with self._changed:
                self._ended = True
                self._changed.notify_all()
        elif kind == "R":
            body = next(lines)
            with harmless("an execution could not be recorded", self._problems):
                with jvm_lock:
                    fields = self.reader.completed(text, body)
                self.emit(self._record(fields))
        elif kind == "B":
            body = next(lines)
            with harmless("the beginning of an execution could not be recorded", self._lost_beginnings):
                with jvm_lock:
                    fields = self.reader.completed(text, body)
                if self._on_begin is not None and not self._closed:
                    self._on_begin(self._record({**fields, "name": "", "ended_ms": fields["started_ms"]}))
        elif kind:
            tell(without_secrets(text)[:MAX_PROBLEM_LENGTH], self._problems)

    def _record(self, fields: Dict[str, Any]) -> Record:
        record = new_record(
            self,
            fields["name"] or "query",
            _at(fields["started_ms"]),
            _at(fields["ended_ms"]),
            failed="error" in fields,
        )
        record.error = fields.get("error")
        record.jobs = fields.get("jobs")
        record.execution_id = fields["id"]
        record.kept_rdd = fields.get("kept_rdd")
        record.stream_run = fields.get("stream_run", "")
        record.written = fields.get("written")
        with harmless("the line that collected rows could not be read"):
            record.collected = _collected(record, call_site(fields.get("site", "")))
        fill(record, fields)
        return record


def described(context: Any) -> Tuple[Application, Dict[str, str]]:
    """Return the application of a Spark context, and all of its Spark properties, which may hold secrets."""
    jvm, scala = context._jvm, context._jsc.sc()
    with jvm_lock, unlogged():
        # One call for all properties; Spark itself masks some of the secrets.
        lines = str(scala.conf().toDebugString()).split("\n")
        application = Application(
            str(context.applicationId),
            without_secrets(str(context.appName)),
            str(context.version),
            user=str(scala.sparkUser()),
            ui_url=str(context.uiWebUrl or ""),
            scala_version=str(jvm.scala.util.Properties.versionNumberString()),
            java_version=str(jvm.System.getProperty("java.version") or ""),
            python_version=platform.python_version(),
        )
    # A value may have several lines.
    pairs = (line.split("=", 1) for line in lines if line.startswith("spark.") and "=" in line)
    return application, dict(pairs)


def new_record(
    application: LiveApplication, name: str, started: datetime, ended: datetime, *, failed: bool
) -> Record:
    """Return a record with name, times and outcome, without a number and a plan."""
    return Record(
        application_id=application.id,
        application_name=application.name,
        spark_version=application.spark_version,
        number=0,
        name=name,
        started_at=started.isoformat(),
        ended_at=ended.isoformat(),
        outcome="failure" if failed else "success",
    )


def fill(record: Record, fields: Dict[str, Any]) -> None:
    """Add to a record the fields of a query: plan, facts, metrics, parts and problems."""
    record.sql = fields.get("sql", "")
    record.plan_kind, record.plan = fields.get("plan_kind", "none"), fields.get("plan", [])
    record.facts = fields.get("facts", [])
    record.metrics = _metrics(fields)
    record.joins = fields.get("joins", [])
    record.observed = fields.get("observed", {})
    record.miscounted = fields.get("miscounted", {})
    record.parts = [
        {
            "name": part["name"],
            "plan": part.get("plan", []),
            "facts": part.get("facts", []),
            "metrics": _metrics(part),
        }
        for part in fields.get("parts", ())
    ]
    for problem in fields["problems"]:
        tell(problem, record.problems)


def _add_counts(record: Record, counts: Dict[str, Any]) -> None:
    """Add the number of jobs of an RDD call to its record, and the rows that their tasks read and wrote."""
    record.jobs = counts.get("jobs")
    for fact in record.facts:
        probed = fact["probed"]
        origins = probed.get("origins") or []
        is_whole = record.name not in _READ_A_PART
        if is_whole and "read" in counts and len(origins) == 1 and "schema" in origins[0]:
            # Without bytes: splits of a file overlap, so tasks read more bytes than the file has.
            record.metrics = [{"node": "Scan RDD", "rows": counts["read"]["rows"]}]
        if "written" in counts and fact["node"] == "SavedRDD" and probed.get("format") != PICKLED:
            record.written = counts["written"]


_RETURN_ROWS = frozenset({"collectAsArrowToPython", "collectToPython", "tailToPython", "toLocalIterator"})
"""Executions that return rows to a program in Python, or to a loop of an SQL script.

Libraries in the JVM collect by other names. pyspark's `toLocalIterator` is an execution without a name.
"""


def _collected(record: Record, site: Optional[CallSite]) -> str:
    """Return the value of `Record.collected` for an execution that a line called."""
    returns_rows = record.name in _RETURN_ROWS or (site is not None and site.function == "toLocalIterator")
    return line_of_use(site) if returns_rows and not record.failed else ""


_READ_A_PART = frozenset({"first", "isEmpty", "lookup", "runJob", "take", "takeSample"})
"""Calls whose jobs may skip partitions, or stop when they have enough rows."""


def _metrics(fields: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Return the counts of the physical scans and writes that have counts."""
    metrics: List[Dict[str, Any]] = []
    for entry in fields.get("metrics", ()):
        # A plan that runs a second time counts its rows again, but no files.
        skipped = ("files", "size_bytes") if entry.get("rows") and entry.get("files") == 0 else ()
        counts = {key: value for key, value in entry.items() if key not in skipped}
        if counts.keys() - {"node", "location"}:
            metrics.append(counts)
    return metrics


def _at(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
