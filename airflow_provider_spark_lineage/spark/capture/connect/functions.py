"""Requests the SQL functions of a plan by DESCRIBE FUNCTION, once for each function until a command runs."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List

from airflow_provider_spark_lineage.spark.capture.connect.server import RefusedError, Server, local_server
from airflow_provider_spark_lineage.spark.records.credentials import without_secrets
from airflow_provider_spark_lineage.spark.records.sql_literals import without_sql_literals

_IN_PLANS = re.compile(r"(?<![\w$.`#])((?:[\w$]+\.){2}[\w$]+)\(")
"""A function of a catalog, by its full name; Spark's own functions have no catalog."""

_ROW = re.compile(r"([A-Z][A-Za-z ]*):[ \t]*(.*)", re.DOTALL)

_MAX_FUNCTIONS = 20
"""Limit of described functions of one plan."""


class Functions:
    """The described functions of one session."""

    def __init__(self) -> None:
        self.temporary: Dict[str, None] = {}
        """Names of temporary functions of the session, which have no catalog in plans."""

        self._known: Dict[str, Dict[str, str]] = {}

    def forget(self) -> None:
        """Forget all functions, which a command may have changed."""
        self._known.clear()

    def described_in(self, server: Server, text: str) -> Dict[str, Dict[str, str]]:
        """Return the parameters and the body of each SQL function in a plan."""
        names = dict.fromkeys(_IN_PLANS.findall(text))
        names.update((name, None) for name in self.temporary if re.search(rf"(?<![\w$.]){name}\(", text))
        functions: Dict[str, Dict[str, str]] = {}
        for name in list(names)[:_MAX_FUNCTIONS]:
            if name not in self._known:
                self._known[name] = described(server, name)
            if self._known[name]:
                functions[name] = self._known[name]
        return functions


def described(server: Server, name: str) -> Dict[str, str]:
    """Return `parameters` and `body` of an SQL function; nothing for any other function.

    The function itself already is a gap, so a server that does not answer adds none.
    """
    try:
        if local_server() is not None and not server.has("function", name):
            return {}
        return described_by(server.statement(f"DESCRIBE FUNCTION EXTENDED {name}"))
    except RefusedError:
        return {}


def described_by(rows: List[Dict[str, Any]]) -> Dict[str, str]:
    """Parse the rows of DESCRIBE FUNCTION EXTENDED.

    Until Spark 4.1, the properties of the function are one JSON object; later, each property is a row, and a
    row without a name continues the row before.
    """
    named: Dict[str, str] = {}
    name = ""
    for row in rows:
        text = str(row.get("function_desc") or "")
        match = _ROW.match(text)
        if match:
            name = match[1]
            named[name] = match[2]
        elif text.startswith(" ") and name:
            named[name] += f", {text.strip()}"
    parameters, body = named.get("Input", ""), named.get("Body", "")
    if named.get("Usage", "").startswith("{"):
        try:
            usage = json.loads(named["Usage"])
        except ValueError:
            return {}
        parameters = str(usage.get("sqlFunction.inputParam") or "")
        body = str(usage.get("sqlFunction.query") or usage.get("sqlFunction.expression") or "")
    if not body:
        return {}
    return {
        "parameters": without_secrets(without_sql_literals(parameters, "spark")),
        "body": without_secrets(without_sql_literals(body, "spark")),
    }
