"""Collects the reads and writes of a script, call by call, and its views, settings and SQL."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.planned.program import HOLE, UNKNOWN_FORMAT, Access, Program, Unread
from airflow_provider_spark_lineage.spark.planned.python.accesses import Call
from airflow_provider_spark_lineage.spark.planned.python.constants import joined
from airflow_provider_spark_lineage.spark.planned.python.methods import NOT_FOLLOWED, ROWS, VIEW, is_known
from airflow_provider_spark_lineage.spark.planned.python.values import (
    Arguments,
    Chain,
    Known,
    Module,
    Other,
    UnknownValue,
    Value,
    reason_of,
    whole_text,
)
from airflow_provider_spark_lineage.spark.planned.session import Session
from airflow_provider_spark_lineage.spark.planned.sql.statements import MAX_STATEMENTS, read_sql
from airflow_provider_spark_lineage.spark.planned.sql.targets import StatementTargets, without_version

_NAME = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")


@dataclass
class Reading:
    """The reads and writes of a script so far."""

    program: Program
    session: Session
    line: int = 0
    """The line of the current call."""

    file: str = ""
    """The module that has this line; empty for the script itself."""

    unfollowed: dict[Unread, None] = field(default_factory=dict)
    """Gaps about calls that are not followed; reported if nothing else is known of a script."""

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

    @contextlib.contextmanager
    def inside(self, file: str) -> Iterator[None]:
        """Read lines of another file, or of the same one at another place."""
        before = self.file, self.line
        self.file = file
        try:
            yield
        finally:
            self.file, self.line = before

    def add(self, steps: Iterable[Access | Unread]) -> None:
        """Add steps in the current file."""
        self.program.add(replace(step, file=self.file) if self.file else step for step in steps)

    def gap(self, reason: Reason) -> None:
        """Add a gap at the line of the call."""
        self.add([Unread(self.line, reason)])

    def unread(self, function: str) -> Unread:
        """Return the gap about a call that is not followed."""
        return Unread(self.line, of_programs.NOT_FOLLOWED(name=function), self.file)

    def call(self, receiver: Value | None, name: str, function: Value, arguments: Arguments) -> None:
        """Note the reads and writes of a method, or of a function of another module."""
        if isinstance(receiver, Other):
            return
        chain = receiver if isinstance(receiver, Chain) else Chain("")
        kind = receiver.name if isinstance(receiver, Module) else chain.kind
        row = ROWS.get((kind, name)) or ROWS.get(("", name))
        if row is not None:
            self._access(Call(row, chain, name, arguments))
        elif kind.endswith("?") and {(kind[:-1], name)} & (ROWS.keys() | _EFFECTS.keys()):
            self.gap(of_programs.OF_ANOTHER_LIBRARY(name=f"{kind[:-1]}.{name}"))
        elif (kind, name) in _EFFECTS:
            _EFFECTS[kind, name](self, arguments)
        elif VIEW.fullmatch(name):
            if "Global" not in name:
                self._view(arguments.get(0, "name"))
        elif receiver is not None and NOT_FOLLOWED.fullmatch(f"{kind}.{name}"):
            self.gap(of_programs.NOT_FOLLOWED(name=name))
        elif isinstance(receiver, Module):
            self._foreign(f"{kind}.{name}", arguments)
        elif receiver is None and isinstance(function, Module):
            self._foreign(function.name, arguments)

    def _foreign(self, name: str, arguments: Arguments) -> None:
        """Note a gap if a function of another module gets a session or a frame, and may read and write."""
        is_given = any(isinstance(value, Chain) for value in arguments.values())
        if (is_given and "." in name and not is_known(name)) or NOT_FOLLOWED.fullmatch(name):
            self.program.add([self.unread(name)])

    # --- Reads and writes

    def _access(self, call: Call) -> None:
        change, file_format = call.change, call.format
        if change is None:
            self.gap(of_programs.MODE())
            change = "append"
        if file_format == UNKNOWN_FORMAT:
            self.gap(of_programs.FORMAT())
        elif file_format == "memory":
            self._view(call.arguments.get(-1, "queryName") or call.chain.last("queryName"))
        by_partition = self.session.overwrites_partitions()
        is_partial = change == "overwrite" and call.is_partial(by_partition=by_partition)
        table, written = call.table, call.paths
        place = whole_text(written[0]) if written else None
        if file_format == "iceberg" and table is None and place is not None and "/" not in place:
            # The argument of `load` or `save` is the name of a table.
            table, written = written[0], ()
        paths = tuple(self._paths(written, call))
        if table is not None:
            self._table(table, call, change, format=file_format, paths=paths, partial=is_partial)
        elif paths or not written:
            options, is_complete = call.options
            texts = {name: text for name, value in options.items() if (text := whole_text(value))}
            unknown = {name for name, value in options.items() if value != Known(None)} - texts.keys()
            access = Access(
                self.line,
                change,
                file_format,
                paths,
                options=tuple(sorted(texts.items())),
                unknown_options=(*sorted(unknown), *([] if is_complete else ["*"])),
                is_certain=not self.conditions,
                partial=is_partial,
            )
            self.add([access])

    def _paths(self, paths: tuple[Value, ...], call: Call) -> Iterator[str]:
        for value in paths:
            path = whole_text(value)
            if path is None:
                self.gap(of_programs.PATH(call=call.what, why=reason_of(value)))
            elif path:
                # Hadoop's input formats accept several paths, separated by commas.
                parts = path.split(",") if call.method == "textFile" else [path]
                yield from (without_version(call.format, part) for part in parts)

    def _table(self, value: Value, call: Call, change: str, **more: object) -> None:
        parts = _NAME.findall(whole_text(value) or "")
        if not parts:
            self.gap(of_programs.TABLE(call=call.what, why=reason_of(value)))
            return
        name = tuple(quoted.replace("``", "`") or plain for quoted, plain in parts)
        result = StatementTargets(self.session, self.line, not self.conditions, HOLE)
        rewrites = call.chain.kind == "delta" and bool(change)
        if rewrites:
            result.access(name, "", partial=False)
        result.access(name, change, rewrites=rewrites, **more)
        self.add(result.steps)

    # --- SQL, views and settings

    def _sql(self, arguments: Arguments) -> None:
        query = arguments.get(0, "sqlQuery") or UnknownValue()
        if {name for name, _ in arguments.named} - {"args", "sqlQuery"}:
            self.gap(of_programs.PARTS_IN_BRACES())
            return
        if not isinstance(query, Known) or not isinstance(query.value, str):
            self.gap(of_programs.SQL(why=reason_of(query)))
            return
        self.statements += 1
        if self.statements > MAX_STATEMENTS:
            self.gap(of_programs.TOO_MANY_TEXTS(count=MAX_STATEMENTS))
            return
        self.add(read_sql(query.value, self.session, self.line, is_certain=not self.conditions))

    def _use(self, words: str, arguments: Arguments) -> None:
        self._sql(Arguments((joined(Known(words), *arguments.positional[:1]),)))

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


_EFFECTS: Mapping[tuple[str, str], Callable[[Reading, Arguments], None]] = {
    ("catalog", "dropTempView"): Reading._drop_view,
    ("catalog", "setCurrentCatalog"): lambda reading, arguments: reading._use("use catalog ", arguments),
    ("catalog", "setCurrentDatabase"): lambda reading, arguments: reading._use("use ", arguments),
    ("conf", "set"): Reading._set,
    ("session", "config"): Reading._set,
    ("session", "sql"): Reading._sql,
}
"""Methods that run SQL, or change the meaning of names."""
