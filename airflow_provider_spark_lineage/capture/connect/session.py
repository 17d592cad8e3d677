"""One session of a Spark Connect client: what is asked about its plans, and when its user waits for it.

The plan of an action is asked for while the action runs, on a thread of its own, and the action's end waits
for the answer, because the program may change files or names next. Everything else is asked afterwards, on
the session's worker; only a command that changes names waits for that.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from airflow_provider_spark_lineage.capture.connect.actions import Action
from airflow_provider_spark_lineage.capture.connect.functions import Functions
from airflow_provider_spark_lineage.capture.connect.parameters import (
    NoLiteralError,
    explain_of,
    with_variable,
)
from airflow_provider_spark_lineage.capture.connect.relations import infers_schema, with_own_views
from airflow_provider_spark_lineage.capture.connect.server import Channel, RefusedError, Server, local_server
from airflow_provider_spark_lineage.capture.connect.tables import Tables, inserted_table, names_in_plan
from airflow_provider_spark_lineage.capture.connect.worker import Worker
from airflow_provider_spark_lineage.guard import alarm_paused
from airflow_provider_spark_lineage.records.credentials import without_secrets

EXPLAIN_SECONDS = 60.0
"""The time limit of the request for a plan; the server works on it while the action runs."""

WAIT_SECONDS = 5.0
"""How long the end of an action waits for its plan, and a command for what is asked about earlier actions."""

BUDGET_SECONDS = 30.0
"""How long the program waits for a session's plans in all; after that, no plan is asked for."""

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
"""Settings of a session that name its application and its catalog, or say how it writes."""

OF_WRITES = ("spark.sql.sources.default", "spark.sql.sources.partitionOverwriteMode")
"""Settings that a program may change between two writes."""

_OF_CATALOG = ("", ".catalog-impl", ".type", ".uri", ".url", ".warehouse")
"""Ends of the settings of a catalog that are recorded; others may be secrets."""

_WIDE = {"spark.sql.debug.maxToStringFields": "100000", "spark.sql.maxMetadataStringLength": "100000"}
"""Settings by which Spark shortens the texts of plans, and values by which it does not."""

_SHORTENED = re.compile(r"\.\.\. \d+ more fields|Location: [^\n]*?\.\.\.")

_FAILED = re.compile(r"== Analyzed Logical Plan ==\n(?:[\w$]+\.)+\w*(?:Exception|Error): ([^\n]*)")
_UNRESOLVED = re.compile(r"with name `([^`]+)` cannot be resolved")
_SESSION_VARIABLE = re.compile(r"variablereference\(system\.session\.(\w+)=")

_VIEW = re.compile(r"\bView \((`[^\n]*?`), \[")

_PROBE = "spark-lineage-no-such-path"


class Session:
    """The state of one client's session; `max_plan_bytes` limits the text of a plan."""

    def __init__(self, client: Any, max_plan_bytes: int) -> None:
        self.client = client
        self.channel = Channel(client)
        self.worker = Worker("spark-lineage-connect")
        self.tables = Tables()
        self.functions = Functions()
        self.views: Dict[str, Action] = {}
        """Name of a temporary view in lower case -> the action that made it."""
        self.streams: List[Any] = []
        """Executions that started a streaming query, which is not recorded yet."""
        self.waited_seconds = 0.0
        self._max_plan_bytes = max_plan_bytes
        self._settings: Dict[str, str] = {}
        self._version = ""
        self._places: Dict[str, str] = {}
        self._schemas: Dict[bytes, str] = {}
        self._widening = threading.Lock()

    @property
    def is_too_slow(self) -> bool:
        """Return whether the program has waited for plans long enough."""
        return self.waited_seconds > BUDGET_SECONDS

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count how long the program waits in the block, with Airflow's `execution_timeout` paused."""
        began = time.monotonic()
        try:
            with alarm_paused():
                yield
        finally:
            self.waited_seconds += time.monotonic() - began

    def settle(self) -> bool:
        """Wait, for a limited time, until what was to be asked about earlier actions is asked.

        Return whether it is.
        """
        with self.waiting():
            return self.worker.wait(WAIT_SECONDS)

    def explained(self, server: Server, action: Action, problems: List[str]) -> str:
        """Return the text of the extended plan of an action; raise `RefusedError` where there is none."""
        if action.variables is None:
            text = self._plan(server, action)
        else:
            text = self._plan_of_part(server, action, problems)
        if _SHORTENED.search(text):
            with self._widening:
                before = server.settings(tuple(_WIDE))
                server.set(dict(_WIDE))
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
        """Return the plan of a statement of a script, with values in place of the script's variables.

        Which names are variables, and not columns, only the analyzer knows: each request names one that it
        cannot resolve. Raise `RefusedError` where there is another reason why it has no plan.
        """
        waiting = dict(action.variables or {})
        while True:
            text = self._plan(server, action)
            shadow = next((name for name in _SESSION_VARIABLE.findall(text) if name in waiting), "")
            if shadow:
                raise RefusedError(f"a variable of the session is called `{shadow}` as one of the script")
            failed = _FAILED.search(text)
            if not failed:
                replaced = (action.variables or {}).keys() - waiting.keys()
                column = next((name for name in replaced if re.search(rf"(?i)\b{name}#\d", text)), "")
                if column:
                    # Elsewhere in the statement the name may have meant the column.
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
        """Return what the catalog says of tables: name as written -> name to ask by."""
        tables: Dict[str, Any] = {}
        for name, asked in names.items():
            try:
                tables[name] = self.tables.described(server, asked)
            except RefusedError as refusal:
                problems.append(f"the table {name} could not be described: {refusal}")
        return tables

    def forget(self, *, moves_rows: bool = False) -> None:
        """Forget what the server said of tables and files, which a command may have changed."""
        self.tables.forget(moves_rows=moves_rows)
        self._schemas.clear()
        if not moves_rows:
            self.functions.forget()

    def schema(self, server: Server, read: Any) -> str:
        """Return the schema of files that are read, as Spark's JSON; empty where the server does not say.

        Spark 3.5 reads files again to find out their columns, so it is not asked for that.
        """
        key = bytes(read.read.SerializeToString(deterministic=True))
        if key not in self._schemas:
            self._schemas[key] = ""
            if not (infers_schema(read) and self.version(server).startswith("3.")):
                with contextlib.suppress(RefusedError):
                    self._schemas[key] = server.schema(read, EXPLAIN_SECONDS)
        return self._schemas[key]

    def views_in(self, text: str) -> List[Tuple[str, Action]]:
        """Return the temporary views of this session that a plan reads."""
        names = {match[1].replace("`", "").lower() for match in _VIEW.finditer(text)}
        known = ((name, self.views.get(name.rpartition(".")[2])) for name in sorted(names))
        return [(name, view) for name, view in known if view is not None]

    def exists(self, server: Server, path: str) -> Optional[bool]:
        """Return whether there is a file or a folder at a path; None where the server does not say."""
        local = local_server()
        if local is not None:
            with contextlib.suppress(Exception):
                jvm_path = local._jvm.org.apache.hadoop.fs.Path(path)
                return bool(jvm_path.getFileSystem(local._jsc.hadoopConfiguration()).exists(jvm_path))
            return None
        try:
            server.schema(_text_at(path), EXPLAIN_SECONDS)
        except RefusedError as refusal:
            return False if _NOT_FOUND.search(str(refusal)) else None
        return True

    def about(self, server: Server) -> Dict[str, str]:
        """Return the settings of the session that name its application and its catalogs."""
        catalogs = {
            str(table.get("catalog") or table.get("name", "").split(".")[0]) for table in self.tables.all()
        }
        names = [*NAMES]
        names.extend(
            f"spark.sql.catalog.{name}{end}" for name in sorted(catalogs - {""}) for end in _OF_CATALOG
        )
        missing = [name for name in names if name not in self._settings]
        if missing:
            found = server.settings(missing)
            self._settings.update((name, found.get(name, "")) for name in missing)
        return {name: value for name, value in self._settings.items() if value}

    def version(self, server: Server) -> str:
        """Return the server's version of Spark."""
        if not self._version:
            self._version = server.version()
        return self._version

    def complete(self, server: Server, path: str) -> str:
        """Return a path with the file system and the folder that the server adds to it.

        Spark reports a path that does not exist with both, and nothing else on the server says them.
        """
        if re.match(r"[A-Za-z][\w+.-]+:", path):
            return path
        probe = f"/{_PROBE}" if path.startswith("/") else _PROBE
        if probe not in self._places:
            self._places[probe] = _place(server, probe)
        return self._places[probe] + path if self._places[probe] else path


_NOT_FOUND = re.compile(r"PATH_NOT_FOUND|Path does not exist")


def _text_at(path: str) -> Any:
    """Return a relation whose schema is known without reading a file."""
    import pyspark.sql.connect.proto as pb2

    relation = pb2.Relation()
    relation.read.data_source.format = "text"
    relation.read.data_source.paths.append(path)
    return relation


def _place(server: Server, probe: str) -> str:
    """Return what the server puts before a path; empty where it does not say."""
    local = local_server()
    if local is not None:
        with contextlib.suppress(Exception):
            jvm_path = local._jvm.org.apache.hadoop.fs.Path(probe)
            file_system = jvm_path.getFileSystem(local._jsc.hadoopConfiguration())
            return str(file_system.makeQualified(jvm_path).toString())[: -len(probe)]
        return ""
    try:
        server.schema(_text_at(probe), EXPLAIN_SECONDS)
    except RefusedError as refusal:
        match = re.search(rf"(\S*?){probe}", str(refusal))
        return match[1] if match else ""
    return ""


def names_to_describe(action: Action, text: str) -> Dict[str, str]:
    """Return the names of the tables that an action is about: as written -> to ask by.

    A full name, where the plan has it: the program may have changed the current database meanwhile.
    """
    names = {name: name for name in (*action.targets, *names_in_plan(text))}
    full = inserted_table(text)
    if full and len(action.targets) == 1:
        names[action.targets[0]] = full
    return names


def is_query_result(relation: Any) -> Optional[bool]:
    """Return whether the server's answer to a statement is a query that has not run; None without answer."""
    if relation is None:
        return None
    kind = relation.WhichOneof("rel_type")
    if kind == "with_relations":
        kind = relation.with_relations.root.WhichOneof("rel_type")
    return bool(kind == "sql")
