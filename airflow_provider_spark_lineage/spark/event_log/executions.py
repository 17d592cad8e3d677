"""Reads the events of one application, and makes a record of each execution at its end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.spark.event_log import inference, pipelines
from airflow_provider_spark_lineage.spark.event_log.files import FIRST
from airflow_provider_spark_lineage.spark.event_log.metrics import joins_of, metrics_of
from airflow_provider_spark_lineage.spark.event_log.streams import LoggedStreams
from airflow_provider_spark_lineage.spark.event_log.usage import LoggedUsage
from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.records.application import Application, has_java_agent
from airflow_provider_spark_lineage.spark.records.call_sites import RETURN_ROWS, call_site
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.record import MAX_MESSAGE_LENGTH, REFRESH, Record
from airflow_provider_spark_lineage.spark.records.sql_text import FULL

_BEGIN = b'{"Event":"'
_SQL = "org.apache.spark.sql.execution.ui.SparkListener"
_STREAMS = "org.apache.spark.sql.streaming.StreamingQueryListener$Query"
_STAGES = re.compile(rb'"Stage IDs":\[([\d,\s]*)\]')
_EXECUTION = re.compile(rb'"spark\.sql\.execution\.id":"(\d+)"')
_ACTION = re.compile(r"(\w+) at [^\n]+:\d+")
_STATE = re.compile(r"SQLSTATE: (\w{5})")
_CLASS = re.compile(r"([\w.$]+(?:Exception|Error))(?:: |\n|$)")
_OF_SHELL = "thriftserver."
"""Part of the call site of a statement of `spark-sql` or the Thrift server."""

_SETTINGS = re.compile(
    r"spark\.sql\.catalog\.[\w-]+(?:\.(?:type|catalog-impl|warehouse|uri|url))?"
    r"|spark\.sql\.(?:warehouse\.dir|catalogImplementation|sources\.partitionOverwriteMode)"
    r"|(?:spark\.hadoop\.)?(?:fs\.defaultFS|hive\.metastore\.(?:uris|glue\.catalogid|client\.factory\.class))"
    r"|spark\.glue\.accountId"
)
"""Settings that name catalogs and places; other settings are not recorded."""


@dataclass
class _Execution:
    """One running execution."""

    number: int
    root: int
    description: str
    details: str
    text: str
    plan: Mapping[str, Any]
    started_ms: int
    settings: Mapping[str, str]
    values: dict[int, int] = field(default_factory=dict)
    """Values of accumulators, by their ids."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    failed_parts: list[dict[str, Any]] = field(default_factory=list)
    """Parts that failed; a successful execution has repeated them, or did not need them."""

    joins_of_parts: list[dict[str, Any]] = field(default_factory=list)
    jobs: int = 0
    rows: int = 0
    size_bytes: int = 0
    has_exact_counts: bool = True
    ran_tasks: bool = False

    @property
    def name(self) -> str:
        """Spark's name of the action, which begins the description unless the user gave one."""
        match = _ACTION.fullmatch(self.description)
        return match[1] if match and match[1] != "sql" else "command"

    @property
    def collected(self) -> str:
        """Return the line that received rows, as a record has it; empty if a library called the action."""
        site = call_site(self.description)
        if site is None or self.name not in RETURN_ROWS:
            return ""
        # `org.apache.spark.ml.Pipeline.fit(Pipeline.scala:12)`
        place = f"({site.file}:{site.number})"
        calls = [call for call in self.details.splitlines() if call.endswith(place)]
        return "" if any(call.startswith("org.apache.spark.") for call in calls) else site.line

    @property
    def result(self) -> dict[str, Any]:
        """Its name, plan and counts, as a record has them."""
        metrics = list(metrics_of(self.plan, self.values))
        return {"name": self.name, "explain": without_secrets(self.text), "metrics": metrics}

    def joins(self, *, failed: bool = False) -> list[dict[str, Any]]:
        """Return its joins without an equality, also of its parts; without rows if it failed."""
        own = joins_of(self.plan, {} if failed else self.values, self.number)
        return [*own, *self.joins_of_parts]

    @property
    def is_batch_without_sink(self) -> bool:
        """Return whether it is a stream's batch whose logged plan has no sink."""
        is_batch = self.number == self.root and bool(_BATCH.search(self.description))
        return is_batch and self.text.startswith("== Physical Plan ==")


class LoggedApplication:
    """The events of one application, from the first to the last."""

    def __init__(self, sql_text: str = FULL) -> None:
        self.names: dict[str, None] = {}
        """Ids of all applications with events in the log."""

        self.id = ""
        self.name = ""
        self.spark_version = ""
        self.started_at = ""
        self.ended_at = ""
        """ISO 8601; empty if it is not in the log."""

        self.settings: dict[str, str] = {}
        """Settings of the application that name catalogs and places."""

        self.properties: dict[str, str] = {}
        """All Spark properties, which may hold secrets."""

        self._user = self._java = self._scala = ""
        self._usage = LoggedUsage()
        self._streams = LoggedStreams(with_messages=sql_text == FULL)
        self._sql_text = sql_text
        self._number = 0
        self._jobs_of_rdds = 0
        self._running: dict[int, _Execution] = {}
        self._of_stage: dict[int, int] = {}
        self._begun: set[int] = set()
        """Numbers of root executions."""

        self._recorded: set[int] = set()
        """Roots that had not begun when one of their executions ended, which has a record."""

        self._emptied: dict[str, Record] = {}
        """Tables that a pipeline has emptied, but not filled yet."""

        self._handlers: dict[bytes, Callable[[bytes], Record | None]] = {
            b"SparkListenerLogStart": self._log_started,
            b"SparkListenerApplicationStart": self._started,
            b"SparkListenerApplicationEnd": self._ended,
            b"SparkListenerEnvironmentUpdate": self._environment,
            b"SparkListenerJobStart": self._job_started,
            b"SparkListenerStageCompleted": self._stage_completed,
            b"SparkListenerStageSubmitted": self._usage.stage_submitted,
            b"SparkListenerTaskEnd": self._usage.task_ended,
            b"SparkListenerExecutorAdded": self._usage.executor_added,
            b"SparkListenerExecutorRemoved": self._usage.executor_removed,
            b"SparkListenerBlockManagerAdded": self._usage.memory_added,
            f"{_STREAMS}StartedEvent".encode(): self._streams.started,
            f"{_STREAMS}ProgressEvent".encode(): self._streams.progressed,
            f"{_STREAMS}TerminatedEvent".encode(): self._streams.ended,
            f"{_SQL}SQLExecutionStart".encode(): self._execution_started,
            f"{_SQL}SQLAdaptiveExecutionUpdate".encode(): self._plan_changed,
            f"{_SQL}DriverAccumUpdates".encode(): self._driver_counted,
            f"{_SQL}SQLExecutionEnd".encode(): self._execution_ended,
        }

    @property
    def agent_configured(self) -> bool:
        """Return whether OpenLineage's Java agent listened to the application."""
        return has_java_agent(self.properties)

    def described(self, allowed: Sequence[str]) -> Application:
        """Return the application, with its Spark properties of these names."""
        bare = Application(self.id, self.name, self.spark_version)
        known = replace(
            bare,
            user=self._user,
            java_version=self._java,
            scala_version=self._scala,
            usage=self._usage.usage(),
            streams=self._streams.streams(),
        )
        return known.with_settings(self.properties, allowed)

    def records(self, lines: Iterable[bytes], problems: list[str]) -> Iterator[Record]:
        """Yield a record for each execution that ended; add events that cannot be read to `problems`.

        Lines of other events, most of a log, are not parsed.
        """
        unread, is_first = 0, True
        for line in lines:
            if is_first and not line.startswith(FIRST):
                where = "" if line.startswith(_BEGIN) else " of an event"
                problems.append(f"the log begins in the middle{where}: earlier events are missing")
            is_first = False
            end = line.find(b'"', len(_BEGIN), 160)
            handler = self._handlers.get(line[len(_BEGIN) : end])
            if handler is None:
                continue
            try:
                record = handler(line)
            # A line that is incomplete, or of a future Spark.
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
                unread += 1
                continue
            if record is not None:
                yield record
        yield from self._emptied.values()
        if unread:
            problems.append(
                f"{counted(unread, 'event')} of the log could not be read: damaged, or of an unknown Spark"
            )
        if self._jobs_of_rdds:
            problems.append(
                f"{counted(self._jobs_of_rdds, 'job')} over RDDs: a log does not tell their reads and writes"
            )
        if self._running:
            problems.append(f"{counted(len(self._running), 'execution')} had not ended at the end of the log")

    def _log_started(self, line: bytes) -> None:
        self.spark_version = str(json.loads(line)["Spark Version"])

    def _started(self, line: bytes) -> None:
        event = json.loads(line)
        self.id, self.name = str(event.get("App ID") or ""), without_secrets(str(event["App Name"]))
        self.names[self.id or self.name] = None
        self.started_at = _time(int(event.get("Timestamp") or 0))
        self._user = str(event.get("User") or "")

    def _ended(self, line: bytes) -> None:
        self.ended_at = _time(int(json.loads(line)["Timestamp"]))

    def _environment(self, line: bytes) -> None:
        event = json.loads(line)
        for group in ("Hadoop Properties", "Spark Properties"):
            self.settings.update(_naming(event.get(group) or {}))
        properties, machine = event.get("Spark Properties") or {}, event.get("JVM Information") or {}
        self.properties = {name: str(value) for name, value in properties.items()}
        # `17.0.9 (Eclipse Adoptium)` and `version 2.13.16`.
        self._java = str(machine.get("Java Version") or "").partition(" ")[0]
        self._scala = str(machine.get("Scala Version") or "").rpartition(" ")[2]

    def _job_started(self, line: bytes) -> None:
        self._usage.job_started()
        execution = _EXECUTION.search(line)
        stages = _STAGES.search(line)
        if execution is None:
            self._jobs_of_rdds += not inference.job_infers(json.loads(line))
        running = self._running.get(int(execution[1])) if execution else None
        if running is None or stages is None:
            return
        running.jobs += 1
        for stage in stages[1].split(b","):
            if stage.strip():
                self._of_stage[int(stage)] = running.number

    def _stage_completed(self, line: bytes) -> None:
        info = json.loads(line)["Stage Info"]
        execution = self._of_stage.get(info["Stage ID"])
        self._usage.stage_completed(info, execution)
        running = self._running.get(-1 if execution is None else execution)
        if running is None:
            return
        running.has_exact_counts &= not info.get("Failure Reason")
        running.ran_tasks = True
        for accumulable in info.get("Accumulables") or ():
            name, value = accumulable.get("Name") or "", accumulable.get("Value")
            if name == "internal.metrics.output.recordsWritten":
                running.rows += int(value)
            elif name == "internal.metrics.output.bytesWritten":
                running.size_bytes += int(value)
            elif accumulable.get("Metadata") == "sql" and str(value).lstrip("-").isdigit():
                running.values[int(accumulable["ID"])] = int(value)

    def _execution_started(self, line: bytes) -> None:
        event = json.loads(line)
        number = int(event["executionId"])
        root = event.get("rootExecutionId")
        root = number if root is None else int(root)
        if root == number:
            self._begun.add(number)
        self._running[number] = _Execution(
            number=number,
            root=root,
            description=str(event.get("description") or ""),
            details=str(event.get("details") or ""),
            text=str(event.get("physicalPlanDescription") or ""),
            plan=event.get("sparkPlanInfo") or {},
            started_ms=int(event["time"]),
            settings={**self.settings, **_naming(event.get("modifiedConfigs") or {})},
        )

    def _plan_changed(self, line: bytes) -> None:
        event = json.loads(line)
        running = self._running.get(int(event["executionId"]))
        if running:
            running.plan = event.get("sparkPlanInfo") or running.plan

    def _driver_counted(self, line: bytes) -> None:
        event = json.loads(line)
        running = self._running.get(int(event["executionId"]))
        if running:
            running.values.update((int(number), int(value)) for number, value in event["accumUpdates"])

    def _execution_ended(self, line: bytes) -> Record | None:
        event = json.loads(line)
        error = str(event.get("errorMessage") or "")
        running = self._running.pop(int(event["executionId"]), None)
        if running is None:
            return None
        self._of_stage = {stage: of for stage, of in self._of_stage.items() if of != running.number}
        around = self._around(running)
        if inference.infers(running.name, running.text) or (around and inference.only_defines(around.text)):
            return None
        if around is not None:
            if error:
                around.failed_parts += [running.result, *running.parts, *running.failed_parts]
                return None
            around.parts += [running.result, *running.parts]
            around.joins_of_parts += running.joins()
            # A command repeats the counts of the write inside, with the write's name.
            around.values.update(running.values)
            around.jobs += running.jobs
            around.rows += running.rows
            around.size_bytes += running.size_bytes
            around.ran_tasks |= running.ran_tasks
            around.has_exact_counts &= running.has_exact_counts
            return None
        if not running.text and pipelines.is_definition(running.details):
            # Spark looks at a flow's query once, and again with the whole pipeline: only that counts.
            return None
        if running.number in self._recorded and _RESULT.search(running.text) and not error:
            return None
        if running.root not in self._begun:
            self._recorded.add(running.root)
        self._number += 1
        if error:
            running.parts += running.failed_parts
        return self._of_pipeline(running, self._record(running, int(event["time"]), error))

    def _around(self, running: _Execution) -> _Execution | None:
        """Return the execution that an execution is a part of; None where the program itself ran it.

        A function of `foreachBatch` is code of the program: it may write several tables, and handle the
        failure of one.
        """
        root = self._running.get(running.root)
        if root is not None and not _is_of_function(root, running):
            return root
        if root is None and running.root in self._begun:
            # It ended long ago: a pool's threads keep the root of what ran when they were made.
            return None
        others = (other for other in self._running.values() if other.root == running.root != other.number)
        inside = [other for other in others if other.number < running.number]
        if root is None:
            # In `spark-sql` of Spark 4.2, the execution around a statement begins after its end.
            return inside[0] if inside else None
        if inference.writes(running.text):
            # A function may write with several threads at once.
            inside = [other for other in inside if not inference.is_write_of_files(other.text)]
        return inside[-1] if inside else None

    def _of_pipeline(self, running: _Execution, record: Record) -> Record | None:
        """Return a record as it is, unless a pipeline ran it; None where it only prepares another one."""
        is_run = bool(running.text) and pipelines.is_run(running.details)
        table = pipelines.emptied(running.text) if is_run and not record.failed else ""
        if table:
            self._emptied[table] = record
            return None
        texts = [running.text, *(str(part["explain"]) for part in running.parts)]
        filled = [table for table in self._emptied if pipelines.writes(table, texts)]
        if not record.failed:
            for table in filled:
                del self._emptied[table]
        return replace(record, name=REFRESH) if is_run or filled else record

    def _record(self, running: _Execution, ended_ms: int, error: str) -> Record:
        written = {"rows": running.rows, "size_bytes": running.size_bytes}
        is_shell = _OF_SHELL in running.details and not _ACTION.fullmatch(running.description)
        # A function of `foreachBatch` may change the description of what it runs.
        stream = _STREAM_RUN.search(self._running.get(running.root, running).description)
        sql = without_secrets(running.description) if is_shell and self._sql_text == FULL else ""
        return Record(
            application_id=self.id,
            application_name=self.name,
            spark_version=self.spark_version,
            number=self._number,
            started_at=_time(running.started_ms),
            ended_at=_time(ended_ms),
            problems=[of_explained.NO_SINK()] if running.is_batch_without_sink else [],
            outcome="failure" if error else "success",
            error=_error(error, self._sql_text) if error else None,
            sql=sql,
            plan_kind="explain",
            settings=dict(running.settings),
            parts=running.parts,
            jobs=running.jobs,
            collected="" if error else running.collected,
            stream_run=stream[1] if stream else "",
            joins=running.joins(failed=bool(error)),
            written=written if running.ran_tasks and running.has_exact_counts else None,
            **running.result,
        )


_RESULT = re.compile(r"^== Physical Plan ==\n\W*CommandResult\b", re.MULTILINE)
"""Beginning of the physical plan of a command's result: the command ran in an execution of its own."""

_BATCH = re.compile(r"^id = [0-9a-f-]{36}\nrunId = [0-9a-f-]{36}\nbatch = \d+$", re.MULTILINE)
_STREAM_RUN = re.compile(r"^id = [0-9a-f-]{36}\nrunId = ([0-9a-f-]{36})\nbatch = ", re.MULTILINE)
"""Description that Spark gives to what runs in the thread of a query."""

_FUNCTION = re.compile(r"^~?WriteToMicroBatchDataSourceV1 ForeachBatchSink, ", re.MULTILINE)


def _is_of_function(root: _Execution, running: _Execution) -> bool:
    """Return whether a function of `foreachBatch` ran an execution inside a batch.

    If the plan has no sink, the function is recognised by its writes: sinks only run queries.
    """
    if root.is_batch_without_sink:
        return inference.writes(running.text)
    return bool(_FUNCTION.search(root.text))


def _naming(properties: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: without_secrets(str(value)) for name, value in properties.items() if _SETTINGS.fullmatch(name)
    }


def _error(text: str, sql_text: str) -> dict[str, str]:
    clean = without_secrets(text)
    of_class, state = _CLASS.match(clean), _STATE.search(clean)
    message = clean[of_class.end() :] if of_class else clean
    error = {
        "class": of_class[1] if of_class else "",
        # A message may repeat the statement.
        "message": message.partition("\n\tat ")[0].strip()[:MAX_MESSAGE_LENGTH] if sql_text == FULL else "",
    }
    return {**error, "sql_state": state[1]} if state else error


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).isoformat(timespec="milliseconds")
