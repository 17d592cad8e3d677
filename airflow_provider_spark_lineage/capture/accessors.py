"""Walks the accessor paths of `sources/` over live JVM objects, each step of a node once.

The path language is described at `sources.dataset.Probe`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Dict, List, Optional, Tuple

from airflow_provider_spark_lineage.capture.rdd import RddReader
from airflow_provider_spark_lineage.capture.sql_literals import without_sql_literals
from airflow_provider_spark_lineage.record import without_secrets
from airflow_provider_spark_lineage.sources import OPTIONS
from airflow_provider_spark_lineage.sources.databases import dialect_of

SEPARATOR = "\u001f"
"""ASCII unit separator: occurs in no path and in no table name."""

_WHOLE = ("$files", "$options", "$sql")
"""What a path may be asked for as a whole."""

_QUERIES = frozenset({"dbtable", "query"})
"""Options whose value may be SQL text."""

_SHAPES = ("[]", "?", "!")
_GONE = ("does not exist", "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "NoSuchFieldException")


@cache  # As many as the rows of `sources/` have.
def _steps(path: str) -> Tuple[Tuple[str, str, Tuple[str, ...], str], ...]:
    """Return a path's steps: each as it is written, its name, its arguments, its shape."""
    found = []
    for step in _split(path, "."):
        shape = next((shape for shape in _SHAPES if step.endswith(shape)), "")
        name, _, arguments = step[: len(step) - len(shape)].partition("(")
        found.append((step, name, tuple(_split(arguments[:-1], ",")), shape))
    return tuple(found)


def _split(text: str, separator: str) -> List[str]:
    """Split a text where a separator stands outside of parentheses."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == separator and not depth:
            parts.append("")
        elif letter != " ":
            parts[-1] += letter
    return [part for part in parts if part]


_STATIC = ("$session.sparkContext.", "$session.sessionState.conf.warehousePath")
"""Beginnings of paths that lead to the same for every plan of an application."""

_SETTING = re.compile(r"\$conf\(([^{}]*)\{([^{}]*)\}([^{}]*)\)")


class Accessors:
    """Answers paths that start at one live plan node, or at `$session`."""

    def __init__(self, session: Any, node: Any, rdds: RddReader, settings: Dict[str, Any]) -> None:
        self._rdds = rdds
        # Paths share their first steps, and every step is a call to the JVM.
        self._reached: Dict[str, Any] = {"": node, "$session": session}
        self._settings = settings
        """What `_STATIC` paths led to before."""

    def value(self, path: str) -> Any:
        """Return what a path leads to as a plain value; None when it leads nowhere."""
        if not path.startswith(_STATIC):
            return self._plain(path)
        if path not in self._settings:
            self._settings[path] = self._plain(path)
        return self._settings[path]

    def _plain(self, path: str) -> Any:
        setting = _SETTING.fullmatch(path)
        if setting:
            return self._setting(*setting.groups())
        value = self.follow(path)
        if path.startswith("$files("):
            return self._rdds.origins(value)
        if value is not None and path.startswith("$options("):
            return _options(value)
        if value is not None and path.startswith("$sql("):
            dialect = self._dialect(path)
            if isinstance(value, list):
                return [_sql(one, dialect) for one in value if one is not None]
            return _sql(value, dialect)
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if path.endswith("[]"):
            # An array of Java's is not one of Scala's collections.
            is_array = isinstance(value, Sequence)
            joined = SEPARATOR.join(map(str, value)) if is_array else value.mkString(SEPARATOR)
            return [without_secrets(item) for item in joined.split(SEPARATOR)] if joined else []
        return without_secrets(value if isinstance(value, str) else value.toString())

    def follow(self, path: str) -> Any:
        """Return the live object that a path leads to; None for an empty Option or a missing member."""
        current, prefix, many = self._reached[""], "", False
        for written, name, arguments, shape in _steps(path):
            if name in _WHOLE:
                return self.follow(arguments[0])
            prefix = prefix + "." + written if prefix else written
            if prefix not in self._reached:
                self._reached[prefix] = (
                    [self._step(one, name, arguments, shape) for one in current]
                    if many
                    else self._step(current, name, arguments, shape)
                )
            current, many = self._reached[prefix], shape == "[]"
            if current is None:
                return None
        return current

    def _dialect(self, path: str) -> Optional[str]:
        """Return the dialect of the database whose URL the second argument of a path leads to."""
        ((_, _, arguments, _),) = _steps(path)
        url = self.follow(arguments[1]) if len(arguments) > 1 else None
        return dialect_of({"url": str(url)}) if url is not None else None

    def _setting(self, before: str, path: str, after: str) -> Any:
        """Return a setting of the session by a name that is known only now; None where it is not set."""
        name = self.follow(path)
        if name is None:
            return None
        setting = self._reached["$session"].conf().getOption(before + str(name) + after)
        return without_secrets(setting.get()) if setting.isDefined() else None

    def _step(self, current: Any, name: str, arguments: Tuple[str, ...], shape: str) -> Any:
        values = [one[1:-1] if one.startswith("'") else self.follow(one) for one in arguments]
        if None in values:
            return None
        try:
            reached = _field(current, name) if shape == "!" else getattr(current, name)(*values)
        except Exception as error:
            # py4j's words for a member that this Spark version does not have, and Spark's for what was
            # dropped before the bus reported a command on it.
            if any(words in str(error) for words in _GONE):
                return None
            raise
        if shape == "?":
            return None if reached.isEmpty() else reached.get()
        return reached


def _field(holder: Any, name: str) -> Any:
    """Return what a private field of a live object holds."""
    field = holder.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(holder)


def _sql(text: str, dialect: Optional[str]) -> str:
    return without_secrets(without_sql_literals(text, dialect))


def _options(options: Any) -> Dict[str, str]:
    """Return the wanted entries of a Scala or Java map of strings, by their names in lower case."""
    # py4j shows a Java map as a Python one.
    java = isinstance(options, Mapping)
    names = list(options) if java else options.keySet().mkString(SEPARATOR).split(SEPARATOR)
    found = {}
    for name in names:
        wanted = name.lower()
        if wanted in OPTIONS:
            value = str(options[name] if java else options.apply(name))
            found[wanted] = value
    dialect = dialect_of(found)
    return {
        name: _sql(value, dialect) if name in _QUERIES else without_secrets(value)
        for name, value in found.items()
    }
