"""Spark's API as a script uses it: which names and attributes lead to what, and where methods name data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from airflow_provider_spark_lineage.plan.python.values import Arguments, Chain, Module, Unknown, Value

At = tuple[int, str]
"""Position and name of an argument; the position is negative where it has a name only."""


@dataclass(frozen=True)
class Row:
    """What a method reads or writes, and where its arguments say so."""

    change: str = ""
    """What it does, and empty for a read; where `mode` is given, what it does without a mode."""

    format: str | At = ""
    path: At | None = None
    table: At | None = None
    mode: At | None = None
    is_partial: bool = False


FILES = ("csv", "json", "orc", "parquet", "text", "xml")
_NAMED: At = (-1, "")

ROWS: Mapping[tuple[str, str], Row] = {
    ("context", "textFile"): Row(format="text", path=(0, "name")),
    ("read", "jdbc"): Row(format="jdbc"),
    ("read", "load"): Row(format=(1, "format"), path=(0, "path")),
    ("read", "table"): Row(table=(0, "tableName")),
    ("session", "table"): Row(table=(0, "tableName")),
    ("writeStream", "start"): Row("append", (1, "format"), path=(0, "path"), mode=(2, "outputMode")),
    ("writeStream", "toTable"): Row("append", table=(0, "tableName"), mode=(2, "outputMode")),
    ("writeTo", "append"): Row("append", table=_NAMED),
    ("writeTo", "create"): Row("create", table=_NAMED),
    ("writeTo", "createOrReplace"): Row("overwrite", table=_NAMED),
    ("writeTo", "overwrite"): Row("overwrite", table=_NAMED, is_partial=True),
    ("writeTo", "overwritePartitions"): Row("overwrite", table=_NAMED, is_partial=True),
    ("writeTo", "replace"): Row("overwrite", table=_NAMED),
    ("write", "insertInto"): Row("append", table=(0, "tableName"), mode=(1, "overwrite"), is_partial=True),
    ("write", "jdbc"): Row("create", "jdbc", mode=(2, "mode")),
    ("write", "save"): Row("create", (1, "format"), path=(0, "path"), mode=(2, "mode")),
    ("write", "saveAsTable"): Row("create", (1, "format"), (-1, "path"), (0, "name"), (2, "mode")),
    **{("read", name): Row(format=name, path=(0, "path")) for name in FILES},
    **{("write", name): Row("create", name, path=(0, "path"), mode=(1, "mode")) for name in FILES},
    ("write", "text"): Row("create", "text", path=(0, "path"), mode=_NAMED),
    ("", "saveAsTextFile"): Row("create", "text", path=(0, "path")),
}
"""(what the method is of, method) -> what it reads or writes; "" for methods that no other library has."""

VIEW = re.compile(r"create(?:OrReplace)?(?:Global)?TempView|registerTempTable")

NOT_FOLLOWED = re.compile(
    r"""
    context\.(?:binary|hadoop|newAPIHadoop|pickle|sequence|wholeText)\w+
    | catalog\.create\w*Table | model\.save
    | .*\.(?:mergeInto|pandas_api|saveAs(?:Hadoop|NewAPIHadoop|Pickle|Sequence)\w+|(?:text|binary)\w+Stream)
    | (?:.*\.)?DeltaTable\.\w+ | pyspark\.pandas\.read_\w+ | pyspark\.ml(?:lib)?\..*\.(?:load|save)\w*
    """,
    re.VERBOSE,
)
"""Methods and functions that read or write, or lead to those that do: each is a gap."""

_ATTRIBUTES: Mapping[tuple[str, str], str] = {
    ("session", "builder"): "session",
    ("session", "catalog"): "catalog",
    ("session", "conf"): "conf",
    ("session", "sparkContext"): "context",
    ("read", "changes"): "read",
    ("", "read"): "read",
    ("", "readStream"): "read",
    ("", "write"): "write",
    ("", "writeStream"): "writeStream",
}
"""(what it is of, attribute) -> what it is; any `x.read` may be a reader: only Spark's have its methods."""

_SESSION = re.compile(r"_*(?:spark|(?:spark_?)?[sS]ession|sql_?[cC]ontext)")
_CONTEXT = re.compile(r"_*(?:sc|spark_?[cC]ontext)")
_SAME = re.compile(
    "active|appName|config|create|enableHiveSupport|getActiveSession|getOrCreate|master|newSession|remote"
)
"""Methods of sessions and their builders that give a session."""

_MAKES = (
    (re.compile(r"(?:.*\.)?(?:SparkSession|DatabricksSession|SQLContext|HiveContext)(?:\.\w+)?"), "session"),
    (re.compile(r"(?:.*\.)?SparkContext(?:\.\w+)?"), "context"),
    (re.compile(r"(?:.*\.)?SparkConf"), "conf"),
    # By custom: `get_spark`, `create_spark_session`; and of the builder that a function gives.
    (re.compile(r"(?:.*\.)?(?:[a-z_]+_spark(?:_session)?|getOrCreate)"), "session"),
)


def by_name(name: str, value: Value) -> Value:
    """Return what a name stands for by custom, where its value is not known."""
    kind = "session" if _SESSION.fullmatch(name) else "context" if _CONTEXT.fullmatch(name) else ""
    return Chain(kind) if kind and isinstance(value, Unknown | Module) else value


def of_module(name: str) -> Value:
    """Return what a full name stands for."""
    if name.endswith(("SparkSession.builder", "DatabricksSession.builder")):
        return Chain("session")
    last = name.rpartition(".")[2]
    kind = _ATTRIBUTES.get(("", last))
    return Chain(kind) if kind else by_name(last, Module(name))


def made(function: str) -> Value:
    """Return what a function gives, by its full name."""
    return next((Chain(kind) for pattern, kind in _MAKES if pattern.fullmatch(function)), Unknown())


def attribute(receiver: Value, name: str) -> Value:
    """Return an attribute of an object."""
    owner = receiver.kind if isinstance(receiver, Chain) else ""
    kind = _ATTRIBUTES.get((owner, name)) or _ATTRIBUTES.get(("", name))
    return Chain(kind) if kind else by_name(name, Unknown())


def called(receiver: Value, name: str, arguments: Arguments) -> Value:
    """Return what a method of an object gives; `model.write()` is MLlib's."""
    if name in ("write", "writeTo"):
        return Chain("model" if name == "write" else name, ((name, arguments),))
    if not isinstance(receiver, Chain):
        found = made(f"{receiver.name}.{name}" if isinstance(receiver, Module) else name)
        return receiver if isinstance(receiver, Unknown) and isinstance(found, Unknown) else found
    if receiver.kind == "session":
        return receiver if _SAME.fullmatch(name) else Unknown()
    if receiver.kind in ("catalog", "context") or (receiver.kind, name) in ROWS:
        return Unknown()
    return Chain(receiver.kind, (*receiver.calls, (name, arguments)))
