"""Reads and writes of the calls of a script, found by the tables of `methods`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.planned.program import HOLE, Access, Program, Unread
from airflow_provider_spark_lineage.planned.python.methods import (
    FILES,
    KNOWN_MODULES,
    NOT_FOLLOWED,
    ROWS,
    VIEW,
    MethodReader,
)
from airflow_provider_spark_lineage.planned.python.texts import formatted, joined
from airflow_provider_spark_lineage.planned.python.values import (
    Arguments,
    Chain,
    Items,
    Known,
    Method,
    Module,
    Other,
    Unknown,
    Value,
    items_of,
    reason_of,
    whole_text,
)
from airflow_provider_spark_lineage.planned.session import Session
from airflow_provider_spark_lineage.planned.sql.statements import MAX_STATEMENTS, read_sql
from airflow_provider_spark_lineage.planned.sql.targets import Result, without_version

_NAME = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_APPENDS = ("append", "false", "update")
_OVERWRITES = ("complete", "overwrite", "true")
"""Modes, or values of an argument `overwrite`; any other mode is a create."""

_USE = {"setCurrentCatalog": "use catalog ", "setCurrentDatabase": "use "}
"""Method of `spark.catalog` -> the equivalent SQL."""


@dataclass
class Reading:
    """Collects the reads and writes of a script."""

    program: Program
    session: Session
    line: int = 0
    """The line of the current call."""

    statements: int = 0
    """Number of SQL texts that were read."""

    @property
    def conditions(self) -> int:
        """Number of conditions, loops and uncalled functions around the current call."""
        return len(self.session.place)

    @property
    def accesses(self) -> int:
        """Number of noted reads and writes."""
        return sum(isinstance(step, Access) for step in self.program.steps)

    @contextlib.contextmanager
    def below(self, *conditions: object) -> Iterator[None]:
        """Read inside further conditions, each an object of its own."""
        before = self.session.place
        self.session.place = (*before, *conditions)
        try:
            yield
        finally:
            self.session.place = before

    def gap(self, reason: str) -> None:
        """Add a gap at the line of the call."""
        self.program.add([Unread(self.line, reason)])

    def call(self, receiver: Value | None, name: str, function: Value, arguments: Arguments) -> None:
        """Note the reads and writes of a method, or of a function of another module."""
        for value in arguments.values():
            if isinstance(value, Method):
                self.gap(f"`{value.name}` is called elsewhere: its reads and writes are not followed")
        if receiver is None:
            self.of_module(function.name if isinstance(function, Module) else "", arguments)
            return
        for choice in arguments.choices():
            with self.below(*([] if choice is arguments else [object()])):
                self._method(receiver, name, choice)

    def _method(self, receiver: Value, name: str, arguments: Arguments) -> None:
        if isinstance(receiver, Other):
            return
        chain = receiver if isinstance(receiver, Chain) else Chain("")
        owner = receiver.name if isinstance(receiver, Module) else chain.kind
        row = ROWS.get((owner, name)) or ROWS.get(("", name))
        if row is not None:
            self._access(row, chain, name, arguments)
        elif owner.endswith("?") and (owner[:-1], name) in ROWS:
            self.gap(f"`{owner[:-1]}.{name}` may be Spark's or another library's")
        elif (owner, name) in _EFFECTS:
            _EFFECTS[owner, name](self, arguments)
        elif owner == "catalog" and name in _USE:
            self._sql(Arguments((joined(Known(_USE[name]), *arguments.positional[:1]),)))
        elif VIEW.fullmatch(name):
            if "Global" not in name:
                self._view(arguments.get(0, "name"))
        elif NOT_FOLLOWED.fullmatch(f"{owner}.{name}"):
            self.gap(f"the reads and writes of `{name}` are not followed")
        elif isinstance(receiver, Module):
            self.of_module(f"{receiver.name}.{name}", arguments)

    def of_module(self, name: str, arguments: Arguments) -> None:
        """Note a gap if a function of another module gets a session or a frame, and may read and write."""
        is_given = any(isinstance(value, Chain) for value in arguments.values())
        is_foreign = is_given and "." in name and not KNOWN_MODULES.match(name)
        if is_foreign or NOT_FOLLOWED.fullmatch(name):
            self.gap(f"the reads and writes of `{name}` are not followed")

    def _access(self, row: MethodReader, chain: Chain, name: str, arguments: Arguments) -> None:
        what = f"{chain.kind}.{name}".strip(".")
        options, is_complete = _options(chain, name, arguments)
        change = self._change(row, chain, arguments)
        is_partial = change == "overwrite" and (
            row.is_partial
            or bool({"partitionoverwritemode", "replacewhere"} & options.keys())
            or (self.session.overwrites_partitions() and chain.last("partitionBy") is not None)
        )
        file_format = self._format(row, chain, arguments)
        path = (row.path and arguments.get(*row.path)) or options.get("path")
        if file_format == "memory":
            self._view(arguments.get(-1, "queryName") or chain.last("queryName"))
        table = row.table and (chain.last("writeTo", "forName") or arguments.get(*row.table) or Unknown())
        if file_format == "iceberg" and table is None and "/" not in (whole_text(path) or "/"):
            table, path = path, None
        if path is None and name in (*FILES, "textFile", "saveAsTextFile"):
            path = Unknown()
        if (chain.kind, name) == ("read", "parquet") and len(arguments.positional) > 1:
            path = Items(arguments.positional)
        paths = () if path is None else self._paths(path, what)
        if table is not None:
            is_delta = chain.kind == "delta" and bool(change)
            if is_delta:
                self._table(table, what, "")
            self._table(
                table, what, change, format=file_format, paths=paths, partial=is_partial, rewrites=is_delta
            )
        elif paths or path is None:
            if name == "textFile":
                # Hadoop's input formats accept several paths, separated by commas.
                paths = tuple(part for path in paths for part in path.split(","))
            paths = tuple(without_version(file_format, path) for path in paths)
            known = {option: whole_text(value) or "" for option, value in options.items()}
            unknown = sorted(name for name in known if not known[name] and options[name] != Known(None))
            known_options = tuple(sorted(pair for pair in known.items() if pair[1]))
            access = Access(self.line, change, file_format, paths, options=known_options, partial=is_partial)
            unknown += [] if is_complete else ["*"]
            access = replace(access, unknown_options=tuple(unknown), certain=not self.conditions)
            self.program.add([access])

    def _change(self, row: MethodReader, chain: Chain, arguments: Arguments) -> str:
        """Return the change of a write; an unknown mode is taken as `append`, which removes nothing."""
        mode = row.mode and (arguments.get(*row.mode) or chain.last("mode", "outputMode"))
        if mode is None:
            return row.change
        if whole_text(mode) is None:
            self.gap("the mode is not a constant: it is shown as append")
        word = (whole_text(mode) or "append").lower()
        return "append" if word in _APPENDS else "overwrite" if word in _OVERWRITES else "create"

    def _format(self, row: MethodReader, chain: Chain, arguments: Arguments) -> str:
        if isinstance(row.format, str):
            return row.format
        if chain.last("foreach", "foreachBatch"):
            return "foreach"
        text = whole_text(arguments.get(*row.format) or chain.last("format") or Known(""))
        if text is None:
            self.gap("the format is not a constant")
            return "?"
        # A class name has capital letters.
        return text if "." in text else text.lower()

    def _paths(self, value: Value, what: str) -> tuple[str, ...]:
        items = items_of(value) or (value,)
        for item in items:
            if whole_text(item) is None:
                self.gap(f"the path of {what} {reason_of(item)}")
        return tuple(filter(None, map(whole_text, items)))

    def _table(self, value: Value, what: str, change: str, **more: object) -> None:
        parts = _NAME.findall(whole_text(value) or "")
        if not parts:
            self.gap(f"the table of {what} {reason_of(value)}")
            return
        result = Result(self.session, self.line, not self.conditions, HOLE)
        result.access(tuple(quoted.replace("``", "`") or plain for quoted, plain in parts), change, **more)
        self.program.add(result.steps)

    def _sql(self, arguments: Arguments) -> None:
        query = arguments.get(0, "sqlQuery") or Unknown()
        named = tuple(pair for pair in arguments.named if pair[0] not in ("args", "sqlQuery"))
        if named:
            query = formatted(query, Arguments(named=tuple(map(self._in_braces, named))))
        if not isinstance(query, Known) or not isinstance(query.value, str):
            self.gap(f"the SQL {reason_of(query)}")
            return
        self.statements += 1
        if self.statements > MAX_STATEMENTS:
            self.gap(f"only the first {MAX_STATEMENTS} texts of SQL are read")
            return
        self.program.add(read_sql(query.value, self.session, self.line, certain=not self.conditions))

    def _in_braces(self, named: tuple[str, Value]) -> tuple[str, Value]:
        """Return the value of `{name}` in a query: a constant, or the temporary view of a frame."""
        name, value = named
        if isinstance(value, Known):
            return named
        self.session.add_view(f"_pyspark_{name}")
        return name, Known(f"_pyspark_{name}")

    def _view(self, value: Value | None) -> None:
        self.session.add_view((whole_text(value) or "").strip("`"))
        self.session.has_unknown_view |= whole_text(value) is None

    def _drop_view(self, arguments: Arguments) -> None:
        name = whole_text(arguments.get(0, "viewName"))
        if name:
            self.session.add_view(name.strip("`"), is_view=False)
        else:
            self.session.forget_views()

    def _set(self, arguments: Arguments) -> None:
        key, text = whole_text(arguments.get(0, "key")), whole_text(arguments.get(1, "value"))
        text = None if self.conditions else text
        for settings in (self.program.settings, self.session.variables):
            settings.pop(key or "", None)
            settings.update({key: text} if key and text else {})
        self.session.note_setting(key or "", text or "")


def _options(chain: Chain, name: str, arguments: Arguments) -> tuple[dict[str, Value], bool]:
    """Return the options of a reader or a writer, with its last call, and whether there are no others."""
    options: dict[str, Value] = {}
    is_complete = True
    for method, of_call in (*chain.calls, (name, arguments)):
        if method == "option":
            key = whole_text(of_call.get(0, "key"))
            options |= {key.lower(): of_call.get(1, "value") or Known(None)} if key else {}
            is_complete &= key is not None
        elif method in ("options", "load", "save", "start"):
            options |= {key.lower(): value for key, value in of_call.named}
            is_complete &= of_call.is_complete
        elif method == "jdbc":
            url, table = of_call.get(0, "url"), of_call.get(1, "table")
            options |= {"url": url or Unknown(), "dbtable": table or Unknown()}
    return options, is_complete


_EFFECTS: Mapping[tuple[str, str], Callable[[Reading, Arguments], None]] = {
    ("catalog", "dropTempView"): Reading._drop_view,
    ("conf", "set"): Reading._set,
    ("session", "config"): Reading._set,
    ("session", "sql"): Reading._sql,
}
"""Methods that run SQL, or change the meaning of names."""
