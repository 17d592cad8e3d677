"""Walks the accessor paths of `sources/` over live JVM objects, each step of a node once.

The path language is described at `sources.dataset.Probe`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Dict

from airflow_provider_spark_lineage.capture.literals import without_sql_literals
from airflow_provider_spark_lineage.capture.rdd import RddReader
from airflow_provider_spark_lineage.record import without_secrets
from airflow_provider_spark_lineage.sources import OPTIONS

SEPARATOR = "\u001f"
"""ASCII unit separator: occurs in no path and in no table name."""

_WHOLE = ("$files", "$options", "$sql")
"""What a path may be asked for as a whole."""

_QUERIES = frozenset({"dbtable", "query"})
"""Options whose value may be SQL text."""

_STEP = re.compile(r"([A-Za-z_$][\w$]*)(?:\(([^()]*)\))?(\[\]|\?)?")


class Accessors:
    """Answers paths that start at one live plan node, or at `$session`."""

    def __init__(self, session: Any, node: Any, rdds: RddReader) -> None:
        self._rdds = rdds
        # Paths share their first steps, and every step is a call to the JVM.
        self._reached: Dict[str, Any] = {"": node, "$session": session}

    def value(self, path: str) -> Any:
        """Return what a path leads to as a plain value; None when it leads nowhere."""
        value = self.follow(path)
        if path.startswith("$files("):
            return self._rdds.origins(value)
        if value is not None and path.startswith("$options("):
            return _options(value)
        if value is not None and path.startswith("$sql("):
            return without_secrets(without_sql_literals(value))
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if path.endswith("[]"):
            joined = value.mkString(SEPARATOR)
            return [without_secrets(item) for item in joined.split(SEPARATOR)] if joined else []
        return without_secrets(value if isinstance(value, str) else value.toString())

    def follow(self, path: str) -> Any:
        """Return the live object that a path leads to; None for an empty Option or a missing member."""
        current, prefix = self._reached[""], ""
        for step in _STEP.finditer(path):
            name, argument, shape = step.groups()
            if name in _WHOLE:
                return self.follow(argument)
            prefix = prefix + "." + step[0] if prefix else step[0]
            if prefix not in self._reached:
                self._reached[prefix] = self._step(current, name, argument, shape)
            current = self._reached[prefix]
            if current is None:
                return None
        return current

    def _step(self, current: Any, name: str, argument: str, shape: str) -> Any:
        try:
            quoted = argument and argument.startswith("'")
            arguments = [argument.strip("'") if quoted else self.follow(argument)] if argument else []
            reached = getattr(current, name)(*arguments)
        except Exception as error:
            # py4j's words for a member that this Spark version does not have, and Spark's for a table that
            # was dropped before the bus reported its creation.
            if "does not exist" in str(error) or "TABLE_OR_VIEW_NOT_FOUND" in str(error):
                return None
            raise
        if shape == "?":
            return None if reached.isEmpty() else reached.get()
        return reached


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
            found[wanted] = without_secrets(without_sql_literals(value) if wanted in _QUERIES else value)
    return found
