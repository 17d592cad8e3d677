"""Puts the arguments of a statement into its text, because EXPLAIN takes no arguments.

Only literals can be written as SQL. Dates and times become nulls of their type, which have the same lineage.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Optional, Tuple

from airflow_provider_spark_lineage.spark.records.sql_literals import SPARK

_MARKER = re.compile(r"(?<!:):(?P<name>[A-Za-z_]\w*)|\?")


class NoLiteralError(ValueError):
    """An argument cannot be written as SQL."""


def explain_of(command: Any) -> Any:
    """Return a relation whose rows are the plan of a statement, by EXPLAIN, which does not run it.

    Raise `NoLiteralError` if an argument is an expression.
    """
    return relation_of(command, "EXPLAIN EXTENDED ")


def relation_of(command: Any, before: str = "") -> Any:
    """Return the relation of a statement with its arguments as literals, and a text before it.

    Raise `NoLiteralError` if an argument is an expression.
    """
    import pyspark.sql.connect.proto as pb2

    relation = pb2.Relation()
    if sql_in(command) is not None:
        relation.CopyFrom(command.input)
        statement = _sql_of_relation(relation)
    else:
        statement = relation.sql
        statement.query = command.sql
        for name, literal in command.args.items():
            statement.args[name].CopyFrom(literal)
        statement.pos_args.extend(command.pos_args)
    text = with_arguments(statement.query, *_arguments(statement))
    statement.Clear()
    statement.query = f"{before}{text.strip().rstrip(';')}"
    return relation


def sql_in(command: Any) -> Any:
    """Return the text and the arguments in an SQL command; None for Spark 3.5, which has no such field."""
    if "input" not in command.DESCRIPTOR.fields_by_name or not command.HasField("input"):
        return None
    return _sql_of_relation(command.input)


def _sql_of_relation(relation: Any) -> Any:
    is_over_frames = relation.WhichOneof("rel_type") == "with_relations"
    return relation.with_relations.root.sql if is_over_frames else relation.sql


def with_text(command: Any, text: str) -> Any:
    """Return an SQL command with another text and the same arguments."""
    other = type(command)()
    other.CopyFrom(command)
    sql = sql_in(other)
    if sql is None:
        other.sql = text
    else:
        sql.query = text
    return other


def with_variable(command: Any, name: str, kind: str) -> Any:
    """Return an SQL command with a value in place of a variable of that type."""
    is_whole = kind.partition("(")[0].strip().upper() in _WHOLE
    # After LIMIT, a null is an error.
    value = "1" if is_whole else f"CAST(NULL AS {kind})" if kind else "NULL"
    sql = sql_in(command)
    text = command.sql if sql is None else sql.query
    pattern = re.compile(rf"(?i)(?<![\w.$:]){re.escape(name)}(?![\w$]|\s*[.(])")
    return with_text(command, _outside_quotes(text, lambda part: pattern.sub(lambda _: value, part)))


_WHOLE = frozenset({"BIGINT", "BYTE", "INT", "INTEGER", "LONG", "SHORT", "SMALLINT", "TINYINT"})


def _outside_quotes(text: str, change: Callable[[str], str]) -> str:
    """Apply a change to the parts of a text outside of quotes and comments."""
    parts: List[str] = []
    end = 0
    for quoted in SPARK.finditer(text):
        parts.extend((change(text[end : quoted.start()]), quoted[0]))
        end = quoted.end()
    return "".join((*parts, change(text[end:])))


def _arguments(statement: Any) -> Tuple[Dict[str, str], List[str]]:
    """Return the arguments by name and by position, as SQL."""
    named: Dict[str, str] = {}
    listed: List[str] = []
    for field, value in statement.ListFields():
        if field.name in ("args", "named_arguments"):
            named.update((name, sql_of(value[name])) for name in value)
        elif field.name in ("pos_args", "pos_arguments"):
            listed.extend(sql_of(each) for each in value)
    return named, listed


def with_arguments(text: str, named: Dict[str, str], listed: List[str]) -> str:
    """Replace `:name` and `?` in a statement, outside of quotes and comments.

    >>> with_arguments("insert into t select ?, ':a', :a", {"a": "1"}, ["'x'"])
    "insert into t select 'x', ':a', 1"
    """
    if not named and not listed:
        return text
    waiting = iter(listed)

    def argument(match: re.Match[str]) -> str:
        if match["name"]:
            return named.get(match["name"], match[0])
        return next(waiting, match[0])

    return _outside_quotes(text, lambda part: _MARKER.sub(argument, part))


_NULLS = {
    "calendar_interval": "INTERVAL",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
}


def sql_of(value: Any) -> str:
    """Return a literal of Spark Connect as SQL."""
    if value.DESCRIPTOR.name == "Expression":
        if value.WhichOneof("expr_type") != "literal":
            raise NoLiteralError("an argument of the statement is an expression")
        value = value.literal
    kind: Optional[str] = value.WhichOneof("literal_type")
    literal: Any = getattr(value, kind) if kind else None
    if kind == "null":
        return "NULL"
    if kind in ("boolean", "byte", "short", "integer", "long"):
        return str(literal)
    if kind in ("float", "double"):
        return f"CAST('{literal}' AS DOUBLE)"
    if kind == "decimal":
        return f"CAST('{literal.value}' AS DECIMAL({literal.precision or 38},{literal.scale}))"
    if kind == "string":
        return "'" + str(literal).replace("\\", "\\\\").replace("'", "\\'") + "'"
    if kind in _NULLS:
        return f"CAST(NULL AS {_NULLS[kind]})"
    raise NoLiteralError("an argument of the statement has a type that cannot be written as SQL")
