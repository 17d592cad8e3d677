"""One session of a Spark Connect client: the requests about its plans, and when the program waits for them.

The plan of an action is requested while the action runs, on a separate thread, and the action's end waits for
the answer, because the program may change files or names next. All other requests follow on the session's
worker; only a command that changes names waits for these.
"""

from __future__ import annotations

import contextlib
import platform
import re
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple

from airflow_provider_spark_lineage.spark.capture.connect.actions import Action
from airflow_provider_spark_lineage.spark.capture.connect.functions import Functions
from airflow_provider_spark_lineage.spark.capture.connect.parameters import (
    NoLiteralError,
    explain_of,
    with_variable,
)
from airflow_provider_spark_lineage.spark.capture.connect.relations import (
    files_at,
    infers_schema,
    kind_of,
    with_own_views,
)
from airflow_provider_spark_lineage.spark.capture.connect.server import (
    EXPLAIN_SECONDS,
    Channel,
    RefusedError,
    Server,
    local_server,
)
from airflow_provider_spark_lineage.spark.capture.connect.tables import (
    ConnectTables,
    inserted_table,
    names_in_plan,
)
from airflow_provider_spark_lineage.spark.capture.connect.worker import Worker
from airflow_provider_spark_lineage.spark.guard import alarm_paused, harmless
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.record import Record

WAIT_SECONDS = 5.0
"""Maximum wait of an action's end for its plan, and of a command for the requests of earlier actions."""

BUDGET_SECONDS = 30.0
"""Maximum wait of the program for all plans of a session; after that, plans are not requested any more."""

NAMES = (
    "spark.app.id",
    "spark.app.name",
    "spark.extraListeners",
    "spark.glue.accountId",
    "spark.hadoop.hive.metastore.client.factory.class",
    "spark.hadoop.hive.metastore.glue.catalogid",
    "spark.hadoop.hive.metastore.uris",
    "spark.sql.catalogImplementation",
    "spark.sql.warehouse.dir",
)
"""Settings of a session that name its application and its catalog."""

OF_WRITES = ("spark.sql.sources.default", "spark.sql.sources.partitionOverwriteMode")
"""Settings that a program may change between two writes."""

_OF_CATALOG = ("", ".catalog-impl", ".type", ".uri", ".url", ".warehouse")
"""Suffixes of the recorded settings of a catalog; other settings may be secrets."""

_WIDE = {"spark.sql.debug.maxToStringFields": "100000", "spark.sql.maxMetadataStringLength": "100000"}
"""Settings that limit the texts of plans, with values that do not."""

_SHORTENED = re.compile(r"\.\.\. \d+ more fields|Location: [^\n]*?\.\.\.")

_FAILED = re.compile(r"== Analyzed Logical Plan ==\n(?:[\w$]+\.)+\w*(?:Exception|Error): ([^\n]*)")
_UNRESOLVED = re.compile(r"with name `([^`]+)` cannot be resolved")
_SESSION_VARIABLE = re.compile(r"variablereference\(system\.session\.(\w+)=")

_VIEW = re.compile(r"\bView \((`[^\n]*?`), \[")

_PROBE = "spark-lineage-no-such-path"


class ConnectSession:
    """The state of one client's session.

    `max_plan_bytes` limits the text of a plan. `emit` receives each record, `on_begin` the beginning of each
    action that takes long, `describe` the application with all of its settings; `problems` receives a
    sentence if nothing was recorded.
    """

    def __init__(
        self,
        client: Any,
        *,
        max_plan_bytes: int,
        sql_text: str,
        emit: Callable[[Record], None],
        on_begin: Optional[Callable[[Record], None]] = None,
        describe: Callable[[Application, Mapping[str, str]], None],
        problems: List[str],
    ) -> None:
        self.client = client
        self.sql_text = sql_text
        self.emit = emit
        self.on_begin = on_begin
        self.problems = problems
        self.channel = Channel(client)
        self.worker = Worker("spark-lineage-connect")
        self.tables = ConnectTables()
        self.functions = Functions()
        self.views: Dict[str, Action] = {}
        """Name of a temporary view in lower case -> the action that created it."""
        self.streams: List[Any] = []
        """Executions whose streaming query is not recorded yet."""
        self.waited_seconds = 0.0
        self._describe = describe
        self._max_plan_bytes = max_plan_bytes
        self._settings: Dict[str, str] = {}
        self._version = ""
        self._places: Dict[str, str] = {}
        self._schemas: Dict[bytes, str] = {}
        self._widening = threading.Lock()

    @property
    def is_too_slow(self) -> bool:
        """Return whether the program has waited for plans longer than the budget."""
        return self.waited_seconds > BUDGET_SECONDS

    @property
    def reports_beginnings(self) -> bool:
        """Return whether the beginnings of actions are asked for, and the server answers soon enough."""
        return self.on_begin is not None and self.waited_seconds < WAIT_SECONDS

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Add the duration of the block to `waited_seconds`, with Airflow's `execution_timeout` paused."""
        began = time.monotonic()
        try:
            with alarm_paused():
                yield
        finally:
            self.waited_seconds += time.monotonic() - began

    def settle(self) -> bool:
        """Wait up to `WAIT_SECONDS` for pending requests; return whether all are done."""
        with self.waiting():
            return self.worker.wait(WAIT_SECONDS)

    def explained(self, server: Server, action: Action, problems: List[str]) -> str:
        """Return the text of the extended plan of an action; raise `RefusedError` if there is none."""
        if action.variables is None:
            text = self._plan(server, action)
        else:
            text = self._plan_of_part(server, action, problems)
        if _SHORTENED.search(text):
            with self._widening:
                before = server.settings(tuple(_WIDE))
                server.set(_WIDE)
                try:
                    text = self._plan(server, action)
                finally:
                    server.set({name: before.get(name) for name in _WIDE})
        if len(text) > self._max_plan_bytes:
            raise RefusedError(f"its text has more than {self._max_plan_bytes} bytes")
        return without_secrets(text)

    def _plan(self, server: Server, action: Action) -> str:
        if not action.sql:
            return server.explained(with_own_views(action.relations[0]), EXPLAIN_SECONDS)
        try:
            statement = explain_of(action.statement)
        except NoLiteralError as reason:
            raise RefusedError(str(reason)) from None
        rows = server.rows(with_own_views(statement), EXPLAIN_SECONDS)
        return "\n".join(str(value) for row in rows for value in row.values())

    def _plan_of_part(self, server: Server, action: Action, problems: List[str]) -> str:
        """Return the plan of a script's statement, with values in place of the script's variables.

        Only the analyzer knows which names are variables, not columns: each request reports one name that it
        cannot resolve. Raise `RefusedError` if the plan is missing for another reason.
        """
        variables = action.variables or {}
        waiting = dict(variables)
        while True:
            text = self._plan(server, action)
            shadow = next((name for name in _SESSION_VARIABLE.findall(text) if name in waiting), "")
            if shadow:
                raise RefusedError(f"session and script both have a variable `{shadow}`")
            failed = _FAILED.search(text)
            if not failed:
                replaced = variables.keys() - waiting.keys()
                column = next((name for name in replaced if re.search(rf"(?i)\b{name}#\d", text)), "")
                if column:
                    # Elsewhere in the statement, the name may mean the column.
                    raise RefusedError(f"`{column}` is a variable of the script and a column")
                return text
            unresolved = _UNRESOLVED.search(failed[1])
            name = unresolved[1].lower() if unresolved else ""
            if name not in waiting:
                raise RefusedError(without_secrets(failed[1])[:300])
            action.statement = with_variable(action.statement, name, waiting.pop(name))
            if name in action.queried:
                problems.append(f"the origin of the variable `{name}` of the SQL script is not recorded")

    def describe(self, server: Server, names: Mapping[str, str], problems: List[str]) -> Dict[str, Any]:
        """Return the catalog's descriptions of tables; `names`: name as written -> name for the request."""
        tables: Dict[str, Any] = {}
        for name, full_name in names.items():
            try:
                tables[name] = self.tables.described(server, full_name)
            except RefusedError as refusal:
                problems.append(f"the table {name} could not be described: {refusal}")
        return tables

    def forget(self, *, moves_rows: bool = False) -> None:
        """Forget the descriptions of tables and files, which a command may have changed."""
        self.tables.forget(moves_rows=moves_rows)
        self._schemas.clear()
        if not moves_rows:
            self.functions.forget()

    def schema(self, server: Server, read: Any) -> str:
        """Return the schema of files that are read, as Spark's JSON; empty if the server does not answer.

        Spark 3.5 would read files again to infer their columns, so it gets no such request.
        """
        key = bytes(read.read.SerializeToString(deterministic=True))
        if key not in self._schemas:
            self._schemas[key] = ""
            if not (infers_schema(read) and self.version(server).startswith("3.")):
                with contextlib.suppress(RefusedError):
                    self._schemas[key] = server.schema(read)
        return self._schemas[key]

    def views_in(self, text: str) -> List[Tuple[str, Action]]:
        """Return the temporary views of this session that a plan reads."""
        names = {match[1].replace("`", "").lower() for match in _VIEW.finditer(text)}
        known = ((name, self.views.get(name.rpartition(".")[2])) for name in sorted(names))
        return [(name, view) for name, view in known if view is not None]

    def exists(self, server: Server, path: str) -> Optional[bool]:
        """Return whether a file or folder exists at a path; None if the server does not answer."""
        local = local_server()
        if local is not None:
            with contextlib.suppress(Exception):
                jvm_path = local._jvm.org.apache.hadoop.fs.Path(path)
                return bool(jvm_path.getFileSystem(local._jsc.hadoopConfiguration()).exists(jvm_path))
            return None
        try:
            # Spark knows the schema of text files without reading one.
            server.schema(files_at("text", path))
        except RefusedError as refusal:
            return False if _NOT_FOUND.search(str(refusal)) else None
        return True

    def about(self, server: Server, tables: Mapping[str, Any]) -> Dict[str, str]:
        """Return the settings that name the application, and the catalogs of known and given tables."""
        described = (*self.tables.all(), *tables.values())
        catalogs = {str(table.get("catalog") or table.get("name", "").split(".")[0]) for table in described}
        of_catalogs = (
            f"spark.sql.catalog.{name}{end}" for name in sorted(catalogs - {""}) for end in _OF_CATALOG
        )
        missing = [name for name in (*NAMES, *of_catalogs) if name not in self._settings]
        if not self._settings:
            self._describe_application(server)
        if missing:
            values = server.settings(missing)
            self._settings.update((name, values.get(name, "")) for name in missing)
        return {name: value for name, value in self._settings.items() if value}

    def application_of(self, settings: Mapping[str, str], version: str) -> Application:
        """Return the server's application, by its settings; without them, it has an id of this session."""
        identifier = settings.get("spark.app.id") or f"connect-{self.client._session_id}"
        return Application(identifier, without_secrets(settings.get("spark.app.name", "")), version)

    def _describe_application(self, server: Server) -> None:
        with harmless("the Spark application could not be described", self.problems):
            settings = server.all_settings()
            application = self.application_of(settings, self.version(server))
            self._describe(replace(application, python_version=platform.python_version()), settings)

    def version(self, server: Server) -> str:
        """Return the server's version of Spark."""
        if not self._version:
            self._version = server.version()
        return self._version

    def complete(self, server: Server, path: str) -> str:
        """Return a path with the file system and the folder that the server adds to it.

        Only Spark's error about a path that does not exist has both.
        """
        if re.match(r"[A-Za-z][\w+.-]+:", path):
            return path
        probe = f"/{_PROBE}" if path.startswith("/") else _PROBE
        if probe not in self._places:
            self._places[probe] = _place(server, probe)
        return self._places[probe] + path if self._places[probe] else path


_NOT_FOUND = re.compile(r"PATH_NOT_FOUND|Path does not exist")


def _place(server: Server, probe: str) -> str:
    """Return the server's prefix of a path; empty if it does not answer."""
    local = local_server()
    if local is not None:
        with contextlib.suppress(Exception):
            jvm_path = local._jvm.org.apache.hadoop.fs.Path(probe)
            file_system = jvm_path.getFileSystem(local._jsc.hadoopConfiguration())
            return str(file_system.makeQualified(jvm_path).toString())[: -len(probe)]
        return ""
    try:
        server.schema(files_at("text", probe))
    except RefusedError as refusal:
        match = re.search(rf"(\S*?){probe}", str(refusal))
        return match[1] if match else ""
    return ""


def names_to_describe(action: Action, text: str) -> Dict[str, str]:
    """Return the names of an action's tables: as written -> for the request.

    The request uses the full name if the plan has it: the program may have changed the current database.
    """
    names = {name: name for name in (*action.targets, *names_in_plan(text))}
    full = inserted_table(text)
    if full and len(action.targets) == 1:
        names[action.targets[0]] = full
    return names


def is_query_result(relation: Any) -> bool:
    """Return whether the server's answer to a statement is a query that has not run."""
    if kind_of(relation) == "with_relations":
        relation = relation.with_relations.root
    return kind_of(relation) == "sql"
