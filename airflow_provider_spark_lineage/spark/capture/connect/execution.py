"""One executed plan of a client: requests its text while it runs, and makes a record of it afterwards."""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import time
from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, Optional

from airflow_provider_spark_lineage.spark.capture.connect.actions import Action
from airflow_provider_spark_lineage.spark.capture.connect.metrics import counts_of
from airflow_provider_spark_lineage.spark.capture.connect.new_tables import columns_of, making, new_table
from airflow_provider_spark_lineage.spark.capture.connect.observed import miscounted_in, observed_of
from airflow_provider_spark_lineage.spark.capture.connect.relations import (
    described_read,
    direct_reads,
    directory_in,
)
from airflow_provider_spark_lineage.spark.capture.connect.server import RefusedError, Server
from airflow_provider_spark_lineage.spark.capture.connect.session import (
    OF_WRITES,
    WAIT_SECONDS,
    ConnectSession,
    is_query_result,
    names_to_describe,
)
from airflow_provider_spark_lineage.spark.capture.connect.statements import Ask
from airflow_provider_spark_lineage.spark.capture.connect.streams import state_of
from airflow_provider_spark_lineage.spark.capture.results import caller, line_of_use
from airflow_provider_spark_lineage.spark.guard import harmless, tell
from airflow_provider_spark_lineage.spark.records.call_sites import RETURN_ROWS, CallSite
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.record import (
    BEGIN_AFTER_SECONDS,
    MAX_MESSAGE_LENGTH,
    Record,
)
from airflow_provider_spark_lineage.spark.records.sql_literals import without_numbers, without_sql_literals
from airflow_provider_spark_lineage.spark.records.sql_text import FULL, NONE

_ids = itertools.count(1)


class ConnectExecution:
    """One action of a client, from its request to its record, which is emitted on the session's worker.

    If the action takes long, a record of its beginning is emitted while it runs, unless it `is_part` of a
    script: the server does not say when it runs which statement.
    """

    def __init__(self, session: ConnectSession, action: Action, *, is_part: bool = False) -> None:
        self._session = session
        self._id = next(_ids)
        self._is_part = is_part
        self._has_ended = threading.Event()
        self._action = action
        self._server = Server(session.client, session.channel)
        self._text = ""
        self._problems = list(action.problems)
        self._before: Dict[str, Any] = {}
        self._settings: Dict[str, str] = {}
        self._metrics: List[Any] = []
        self._observed: List[Any] = []
        self._results: Dict[str, Any] = {}
        self._result = ""
        self._site: Optional[CallSite] = None
        """Line of the program that fetches rows."""

        self._asked = threading.Event()
        self._began = self._ended = datetime.now(timezone.utc)
        self._error: Optional[BaseException] = None
        self._stream_error: Optional[Dict[str, str]] = None

    def begin(self) -> None:
        """Request the plan: before the action if that would change the answer, else while it runs."""
        action, session = self._action, self._session
        if action.function:
            session.functions.temporary[action.function] = None
        if action.renames and not session.is_too_slow and not session.settle():
            self._problems.append(
                "tables of earlier actions may have been described after this statement: the server was slow"
            )
        if session.is_too_slow:
            self._problems.append(
                "the plan was not requested: the server took too long to explain earlier plans"
            )
        if session.is_too_slow or not self._may_ask():
            self._asked.set()
        else:
            threading.Thread(target=self._ask_and_report, name="spark-lineage-explain", daemon=True).start()
            if action.ask is Ask.BEFORE:
                self.wait()
        if action.name in RETURN_ROWS:
            # Now, in the program's own thread.
            self._site = caller()
        self._began = datetime.now(timezone.utc)

    def _ask_and_report(self) -> None:
        """Request the plan, and report the beginning if the action takes long."""
        since = time.monotonic()
        self.ask()
        if self._is_part or not self._text or not self._session.reports_beginnings:
            return
        if self._action.ask is Ask.BEFORE:
            since = time.monotonic()
        if not self._has_ended.wait(max(0.0, since + BEGIN_AFTER_SECONDS - time.monotonic())):
            self._session.worker.submit(self._report_beginning)

    def _explain_result(self) -> str:
        """Return the plan of a checkpoint's result, whose column ids are used by later plans."""
        # Drop the result: the server keeps it as long as the client has it.
        result = self._results.pop("checkpoint_command_result", None)
        if result is None or self._session.is_too_slow:
            return ""
        import pyspark.sql.connect.proto as pb2

        relation = pb2.Relation()
        relation.cached_remote_relation.relation_id = result._plan._relation_id
        with self._session.waiting(), contextlib.suppress(RefusedError):
            return self._server.explained(relation, WAIT_SECONDS)
        return ""

    def _may_ask(self) -> bool:
        """Return whether there is a request to make before the action has ended."""
        action = self._action
        if action.is_costly and self._session.version(self._server).startswith("3."):
            # Spark 3.5 does not keep the plan, and would run the same job twice.
            action.relations = []
            self._problems.append("the plan was not explained, because Spark would run a job for that")
        is_explained = action.relations or (action.sql and action.ask is not Ask.NEVER)
        return bool(is_explained or action.command)

    def received(self, response: Any) -> None:
        """Store the server's answers besides rows: metrics, and results of commands."""
        if isinstance(response, dict):
            self._results.update(response)
        elif type(response).__name__ == "PlanMetrics":
            self._metrics.append(response)
        elif type(response).__name__ == "PlanObservedMetrics":
            self._observed.append(response)

    def ended(self, error: Optional[BaseException]) -> None:
        """Wait for the plan, and leave the rest to the session's worker."""
        self._has_ended.set()
        self._ended = datetime.now(timezone.utc)
        self._error = error
        # Spark 3.5 answers a statement with several inserts like a query, although it has run.
        result = self._results.get("sql_command_result")
        if self._action.sql and not self._action.is_insert and result is not None and is_query_result(result):
            return
        self.wait()
        self._result = self._explain_result()
        if self._action.is_command:
            forget = functools.partial(self._session.forget, moves_rows=not self._action.renames)
            self._session.worker.submit(forget)
        if self._stream is not None and error is None:
            self._session.streams.append(self)
        else:
            self._session.worker.submit(self._finish)

    @property
    def _stream(self) -> Any:
        """The id of the streaming query that it started; None without one."""
        started = self._results.get("write_stream_operation_start_result")
        return started.query_id if started is not None else None

    def finish_stream(self) -> None:
        """Record a streaming query's work up to now."""
        self._session.worker.submit(self._finish_stream)

    def _finish_stream(self) -> None:
        with harmless("a streaming query could not be recorded", self._problems):
            state = state_of(self._server, self._stream)
            self._ended = datetime.now(timezone.utc)
            self._action.command["query_id"] = str(self._stream.id)
            self._stream_error = state.get("error")
            if state.get("is_active"):
                self._problems.append("the streaming query was still running when the capture ended")
            if not state["batches"] and self._stream_error is None:
                return
        self._finish()

    def ask(self) -> None:
        """Request the plan on this thread."""
        text = ""
        problems: List[str] = []
        before: Dict[str, Any] = {}
        settings: Dict[str, str] = {}
        try:
            with harmless("the plan could not be requested", problems):
                try:
                    if self._action.ask is Ask.BEFORE:
                        before = self._state(problems)
                    if self._action.is_command:
                        settings = self._server.settings(OF_WRITES)
                    if self._action.relations or self._action.sql:
                        text = self._session.explained(self._server, self._action, problems)
                except RefusedError as refusal:
                    problems.append(f"the server did not explain the plan: {refusal}")
        finally:
            # The user's thread may have stopped waiting: then the answer is not used.
            if not self._asked.is_set():
                self._text, self._before, self._settings = text, before, settings
                self._problems.extend(problems)
            self._asked.set()

    def _state(self, problems: List[str]) -> Dict[str, Any]:
        """Return the state of the command's targets before it runs."""
        before = self._session.describe(self._server, names_to_describe(self._action, ""), problems)
        self._session.forget()
        path = self._action.command.get("path")
        if path and not before:
            self._action.command["existed"] = self._session.exists(self._server, path)
        return before

    def wait(self, seconds: Optional[float] = None) -> None:
        """Wait for the plan for a limited time; afterwards, continue without it."""
        if self._asked.is_set():
            return
        with self._session.waiting():
            self._asked.wait(WAIT_SECONDS if seconds is None else max(0.0, seconds))
        if not self._asked.is_set():
            self._asked.set()
            self._problems.append("the server took too long to explain the plan")

    def _report_beginning(self) -> None:
        """Emit a record of the beginning, unless the action has ended; the record of the end has the rest."""
        on_begin = self._session.on_begin
        problems: List[str] = []
        with harmless("the beginning of an action could not be recorded", problems):
            if on_begin is None or self._has_ended.is_set():
                return
            record = self._described(problems, self._planned_tables)
            record.outcome, record.error, record.ended_at = "success", None, record.started_at
            record.metrics, record.observed = [], {}
            if not problems and not self._has_ended.is_set():
                on_begin(record)

    def _finish(self) -> None:
        """Complete the record and emit it."""
        problems: List[str] = []
        with harmless("an execution of Spark Connect could not be recorded", self._session.problems):
            record = self._described(problems, self._tables)
            if record.failed and not record.explain and not self._action.is_script:
                # A failed plan usually cannot be explained either: no gap for that.
                self._problems.clear()
            for problem in (*self._problems, *problems):
                tell(problem, record.problems)
            self._session.emit(record)

    def _described(self, problems: List[str], tables_of: Callable[[List[str]], Dict[str, Any]]) -> Record:
        """Return the record, with the descriptions of tables by `tables_of`."""
        about: Dict[str, str] = {}
        version, tables, functions = "", {}, {}
        connect: Dict[str, Any] = {}
        try:
            version = self._session.version(self._server)
            tables = tables_of(problems)
            functions = self._session.functions.described_in(self._server, self._text)
            about = self._session.about(self._server, tables)
            connect = self._completed(self._action.command)
        except RefusedError as refusal:
            problems.append(f"the server did not answer requests about the plan: {refusal}")
        record = self._record(about, version)
        views = self._session.views_in(self._text)
        record.connect = {
            "command": connect or self._action.command,
            "targets": list(self._action.targets),
            "reads": [self._read(read) for read in (*self._action.reads, *direct_reads(self._text))],
            "views": [{**self._read(read), "view": name} for name, view in views for read in view.reads],
            "directory": self._completed(directory_in(self._text)),
            "result": self._result,
            "has_rows": self._action.has_rows or any(view.has_rows for _, view in views),
            "is_of_partition": self._action.is_of_partition,
            "tables": tables,
            "before": self._before,
            "functions": functions,
        }
        record.settings = {name: value for name, value in about.items() if name not in _OF_APPLICATION}
        record.settings.update(self._settings)
        return record

    def _tables(self, problems: List[str]) -> Dict[str, Any]:
        return self._session.describe(self._server, names_to_describe(self._action, self._text), problems)

    def _planned_tables(self, problems: List[str]) -> Dict[str, Any]:
        """Return the tables as they are while the action runs, and the one that it makes as it will be."""
        server = self._server.until(self._has_ended)
        tables = self._session.describe(server, names_to_describe(self._action, self._text), problems)
        new = making(self._action, self._settings)
        if new is None:
            return tables
        for name in self._action.targets:
            known = tables.get(name)
            if known and not new.replaces:
                continue
            table = known or self._completed_table(new_table(server, name, new))
            if table:
                columns = columns_of(server, self._action, new)
                tables[name] = {**table, "columns": columns, "partition_columns": []}
        return tables

    def _completed_table(self, table: Dict[str, Any]) -> Dict[str, Any]:
        location = table.get("location")
        if not location:
            return table
        return {**table, "location": self._session.complete(self._server, location)}

    def _read(self, relation: Any) -> Dict[str, Any]:
        """Return the read of a relation, with the schema of files."""
        read = self._completed(described_read(relation))
        if "paths" in read:
            read["schema"] = self._session.schema(self._server, relation)
        return read

    def _completed(self, value: Dict[str, Any]) -> Dict[str, Any]:
        """Return the JSON of a command or read with complete paths."""
        completed = dict(value)
        with harmless("the file system of the server is not known", self._problems):
            if completed.get("path"):
                completed["path"] = self._session.complete(self._server, completed["path"])
            if completed.get("paths"):
                completed["paths"] = [self._session.complete(self._server, each) for each in value["paths"]]
        return completed

    def _record(self, about: Dict[str, str], version: str) -> Record:
        sql_text = self._session.sql_text
        failed = self._error is not None or self._stream_error is not None
        application = self._session.application_of(about, version)
        record = Record(
            application_id=application.id,
            application_name=application.name,
            spark_version=application.spark_version,
            number=0,
            name=self._action.name,
            started_at=self._began.isoformat(),
            ended_at=self._ended.isoformat(),
            outcome="failure" if failed else "success",
            sql=sql_of(self._action.sql, sql_text),
            plan_kind="explain" if self._text else "none",
        )
        if self._site is not None and self._site.function in RETURN_ROWS and not failed:
            with harmless("the line that collected rows could not be read"):
                record.collected = line_of_use(self._site)
        record.execution_id = self._id
        record.explain = self._text
        record.metrics = counts_of(self._metrics, self._text)
        if self._observed and not failed:
            with harmless("the results of checks could not be read", record.problems):
                record.observed = observed_of(self._observed)
                record.miscounted = miscounted_in(self._text, record.observed)
        if self._error is not None:
            record.error = error_of(self._error, sql_text)
        elif self._stream_error is not None:
            record.error = message_of(self._stream_error["class"], self._stream_error["message"], sql_text)
        return record


_OF_APPLICATION = frozenset({"spark.app.id", "spark.app.name", "spark.extraListeners"})


def sql_of(text: str, sql_text: str) -> str:
    """Return the part of a statement that may be recorded."""
    if sql_text == NONE or not text:
        return ""
    if sql_text == FULL:
        return without_secrets(text)
    return without_numbers(without_sql_literals(text, "spark"))


def error_of(error: BaseException, sql_text: str) -> Dict[str, str]:
    """Return class, message and SQL state of an exception of the client."""
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    fields = message_of(name, str(error), sql_text)
    state = getattr(error, "getSqlState", lambda: None)()
    if state:
        fields["sql_state"] = str(state)
    return fields


def message_of(name: str, text: str, sql_text: str) -> Dict[str, str]:
    """Return class and message of an error; the message may repeat literals of a statement."""
    message = without_secrets(text) if sql_text == FULL else ""
    return {"class": name, "message": message[:MAX_MESSAGE_LENGTH]}
