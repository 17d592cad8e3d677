"""Answers to DESCRIBE FUNCTION EXTENDED for functions that are written in SQL, and when it is sent."""

from __future__ import annotations

import json

from airflow_provider_spark_lineage.spark.capture.connect.functions import Functions, described_by
from airflow_provider_spark_lineage.spark.capture.connect.server import RefusedError


def rows(*texts):
    return [{"function_desc": text} for text in texts]


USAGE = {"sqlFunction.inputParam": "x INT", "sqlFunction.query": "(SELECT a FROM t WHERE b = 'me')"}
UNTIL_4_1 = rows(
    "Function: spark_catalog.default.f",
    "Class: sqlFunction.",
    f"Usage: {json.dumps(USAGE)}",
    "Extended Usage:\n    No example/argument for f.\n",
)
SINCE_4_2 = rows(
    "Function:      spark_catalog.default.g",
    "Type:          SCALAR",
    "Input:         x INT   ",
    "               y STRING DEFAULT 'a,b' 'c'",
    "Returns:       INT",
    "Comment:       Body: no",
    "Configs:       spark.sql.ansi.enabled=true",
    "               spark.sql.session.timeZone=Etc/UTC",
    "Body:          CASE WHEN x > 1\n  THEN 'you' END",
)
BUILTIN = rows("Function: abs", "Class: org.apache.spark.Abs", "Usage: abs(expr) - Returns ...")


def test_body_is_read_without_literals():
    """Both forms of the answer; a literal of the body may be a customer's name."""
    assert described_by(UNTIL_4_1) == {"parameters": "x INT", "body": "(SELECT a FROM t WHERE b = '')"}
    assert described_by(SINCE_4_2) == {
        "parameters": "x INT   , y STRING DEFAULT '' ''",
        "body": "CASE WHEN x > 1\n  THEN '' END",
    }
    assert described_by(BUILTIN) == {}
    assert described_by(rows("Usage: {not json")) == {}


class CountingServer:
    """A server that counts the questions it gets."""

    def __init__(self):
        self.statements = []

    def statement(self, text):
        self.statements.append(text)
        if text.endswith(".none"):
            raise RefusedError("NOT_FOUND")
        return UNTIL_4_1


def test_only_functions_of_a_catalog_are_asked_for_and_once():
    """A plan without such a function costs no request."""
    server, functions = CountingServer(), Functions()
    plain = "Project [max(b#1) AS m#2, cast(a#3 as int), a.b(c)]\n+- Relation spark_catalog.d.t[a#3] parquet"
    assert functions.described_in(server, plain) == {}
    assert server.statements == []
    plan = "Project [c.d.f(x#1) AS y#2, c.d.none(x#1) AS z#3, tf(x#1)]"
    assert list(functions.described_in(server, plan)) == ["c.d.f"]
    functions.temporary["tf"] = None
    assert list(functions.described_in(server, plan)) == ["c.d.f", "tf"]
    expected = ["c.d.f", "c.d.none", "tf"]
    assert server.statements == [f"DESCRIBE FUNCTION EXTENDED {name}" for name in expected]
    functions.forget()
    functions.described_in(server, plan)
    assert len(server.statements) == 6
