"""Tables of Spark's API in scripts: the objects behind names and attributes, the arguments that name data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from airflow_provider_spark_lineage.planned.python.texts import each, joined
from airflow_provider_spark_lineage.planned.python.values import (
    Arguments,
    Chain,
    Known,
    Method,
    Module,
    Other,
    Unknown,
    Value,
)

At = tuple[int, str]
"""Position and name of an argument; the position is negative if it can only be given by name."""


@dataclass(frozen=True)
class MethodReader:
    """The read or write of a method, and the arguments that name its data."""

    change: str = ""
    """The change, empty for a read; if there is a `mode`, the change without that argument."""

    format: str | At = ""
    path: At | None = None
    table: At | None = None
    mode: At | None = None
    is_partial: bool = False


FILES = ("csv", "json", "orc", "parquet", "text", "xml")
_NAMED: At = (-1, "")

ROWS: Mapping[tuple[str, str], MethodReader] = {
    ("context", "textFile"): MethodReader(format="text", path=(0, "name")),
    ("delta", "delete"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("delta", "execute"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("delta", "toDF"): MethodReader(table=_NAMED),
    ("delta", "update"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("read", "jdbc"): MethodReader(format="jdbc"),
    ("read", "load"): MethodReader(format=(1, "format"), path=(0, "path")),
    ("read", "table"): MethodReader(table=(0, "tableName")),
    ("session", "table"): MethodReader(table=(0, "tableName")),
    ("writeStream", "start"): MethodReader("append", (1, "format"), path=(0, "path"), mode=(2, "outputMode")),
    ("writeStream", "toTable"): MethodReader("append", table=(0, "tableName"), mode=(2, "outputMode")),
    ("writeTo", "append"): MethodReader("append", table=_NAMED),
    ("writeTo", "create"): MethodReader("create", table=_NAMED),
    ("writeTo", "createOrReplace"): MethodReader("overwrite", table=_NAMED),
    ("writeTo", "overwrite"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("writeTo", "overwritePartitions"): MethodReader("overwrite", table=_NAMED, is_partial=True),
    ("writeTo", "replace"): MethodReader("overwrite", table=_NAMED),
    ("write", "insertInto"): MethodReader(
        "append", table=(0, "tableName"), mode=(1, "overwrite"), is_partial=True
    ),
    ("write", "jdbc"): MethodReader("create", "jdbc", mode=(2, "mode")),
    ("write", "save"): MethodReader("create", (1, "format"), path=(0, "path"), mode=(2, "mode")),
    ("write", "saveAsTable"): MethodReader("create", (1, "format"), (-1, "path"), (0, "name"), (2, "mode")),
    **{("read", name): MethodReader(format=name, path=(0, "path")) for name in FILES},
    **{("write", name): MethodReader("create", name, path=(0, "path"), mode=(1, "mode")) for name in FILES},
    ("write", "text"): MethodReader("create", "text", path=(0, "path"), mode=_NAMED),
    ("", "saveAsTextFile"): MethodReader("create", "text", path=(0, "path")),
}
"""(kind of the object, method) -> read or write; the kind is "" for methods that no other library has."""

CHANGE_THEMSELVES = frozenset({"read", "readStream", "write", "writeStream", "writeTo"})
"""Kinds whose methods change the object itself: `writer.mode("append")` needs no assignment."""

VIEW = re.compile(r"create(?:OrReplace)?(?:Global)?TempView|registerTempTable")

NOT_FOLLOWED = re.compile(
    r"""
    context\.(?:binary|hadoop|newAPIHadoop|pickle|sequence|wholeText)\w+
    | catalog\.create\w*Table | model\.save | delta\.(?:clone|restore)\w*
    | .*\.(?:mergeInto|pandas_api|to_(?:koalas|pandas_on_spark))
    | .*\.(?:saveAs(?:Hadoop|NewAPIHadoop|Pickle|Sequence)\w+|(?:text|binary)\w+Stream)
    | glue\.from_\w+ | .*\.(?:create|write)_dynamic_frame_\w+
    | (?:.*\.)?DeltaTable\.(?:convert|create|replace)\w*
    | pyspark\.pandas\.(?:DataFrame|Series|from_pandas|range|read_\w+|sql)
    | pyspark\.ml(?:lib)?\..*\.(?:load|save)\w*
    """,
    re.VERBOSE,
)
"""Methods and functions that read or write, or return objects that do: each is a gap."""

_ATTRIBUTES: Mapping[tuple[str, str], str] = {
    ("session", "builder"): "session",
    ("session", "catalog"): "catalog",
    ("session", "conf"): "conf",
    ("session", "read"): "read",
    ("session", "readStream"): "read",
    ("session", "sparkContext"): "context",
    ("read", "changes"): "read",
    ("frame", "write"): "write",
    ("frame", "writeStream"): "writeStream",
}
"""(kind of the object, attribute) -> kind of the attribute."""

_UNCLEAR = {
    "create_dynamic_frame": "glue",
    "read": "read?",
    "readStream": "read?",
    "write": "write",
    "write_dynamic_frame": "glue",
    "writeStream": "writeStream",
}
"""Attribute of an unknown object -> its kind, with `?` if it may belong to another library."""

_FRAMES = {
    *(("session", name) for name in ("createDataFrame", "range", "sql", "table")),
    *(key for key, row in ROWS.items() if key[0] in ("delta", "read") and not row.change),
}
"""(kind of the object, method), for methods that return a frame."""

_SPARK = re.compile(r"(?:awsglue|databricks|delta|pyspark)(?:\..*)?")
_SIMILAR = re.compile(r"(?:duckdb\.experimental|snowflake\.snowpark|sqlframe)\b.*")
"""Packages with their own sessions, readers and writers that have the same names as Spark's."""

_OTHERS = re.compile(
    r"""
    (?:aiohttp|boto3|cassandra|chdb|cudf|daft|dask|datafusion|deltalake|django|duckdb|fugue|httpx|ibis|mlflow
    |modin|numpy|pandas|polars|psycopg2|pyarrow|pyflink|pyiceberg|requests|sklearn|snowflake|sqlalchemy|sqlframe
    |sqlmodel|vaex)(?:\..*)?
    """,
    re.VERBOSE,
)
"""Packages whose objects are never Spark's."""

KNOWN_MODULES = re.compile(
    r"(?:awsglue|builtins|collections|contextlib|copy|dataclasses|datetime|delta|functools|itertools|json|logging"
    r"|math|os|pathlib|pprint|pyspark|re|string|sys|textwrap|time|typing|warnings)\."
)
"""Packages that change no list, and whose functions that read or write are all listed above."""

_SESSION = re.compile(r"_*(?:spark|spark_?[sS]ession|sql_?[cC]ontext)")
_ANY_SESSION = re.compile(rf"{_SESSION.pattern}|_*session")
_CONTEXT = re.compile(r"_*(?:sc|spark_?[cC]ontext)")
_SAME = re.compile(
    "active|appName|config|create|enableHiveSupport|getActiveSession|getOrCreate|master|newSession|remote"
)
"""Methods of sessions and their builders that return a session."""

_CLASSES = {"DatabricksSession": "session", "SparkSession": "session", "DataFrame": "frame"}
_MAKES = (
    (re.compile(r"(?:.*\.)?(?:SparkSession|DatabricksSession|SQLContext|HiveContext)(?:\.\w+)?"), "session"),
    (re.compile(r"(?:.*\.)?SparkContext(?:\.\w+)?"), "context"),
    (re.compile(r"(?:.*\.)?SparkConf"), "conf"),
    # Conventional names: `get_spark`, `create_spark_session`; `getOrCreate` of any builder.
    (re.compile(r"(?:.*\.)?(?:[a-z_]+_spark(?:_session)?|getOrCreate)"), "session"),
)


_LOGS = frozenset({"critical", "debug", "error", "exception", "info", "log", "warn", "warning"})


def is_harmless(function: str, method: str) -> bool:
    """Return whether a function, by its full name, or a method never changes a list among its arguments."""
    return bool(KNOWN_MODULES.match(function)) or method in _LOGS


def is_spark(module: str) -> bool:
    """Return whether a module belongs to Spark."""
    return bool(_SPARK.fullmatch(module))


class Api:
    """Values of names in one script, depending on its imports."""

    def __init__(self, imports: Iterable[str], names: Iterable[str]) -> None:
        modules = list(imports)
        imports_spark = any(map(_SPARK.fullmatch, modules))
        is_mixed = any(map(_SIMILAR.fullmatch, modules))
        names_spark = any(map(_SESSION.fullmatch, names))
        self._is_other = not imports_spark and (
            is_mixed or (not names_spark and any(map(_OTHERS.fullmatch, modules)))
        )
        self._is_mixed = is_mixed
        self._session = _SESSION if is_mixed or not imports_spark else _ANY_SESSION

    def by_name(self, name: str, value: Value) -> Value:
        """Guess from a conventional name (`spark`, `sc`) if the value is unknown."""
        if self._is_other or not isinstance(value, Unknown | Module) or _is_other(value):
            return value
        is_session = (_SESSION if isinstance(value, Module) else self._session).fullmatch(name)
        kind = "session" if is_session else "context" if _CONTEXT.fullmatch(name) else ""
        return Chain(kind) if kind else value

    def of_module(self, name: str) -> Value:
        """Return the value of a full name."""
        if name.endswith(("SparkSession.builder", "DatabricksSession.builder")):
            return Module(name) if _is_other(Module(name)) else Chain("session")
        return self.by_name(name.rpartition(".")[2], Module(name))

    def attribute(self, receiver: Value, name: str) -> Value:
        """Return an attribute of an object; any `x.write` may be Spark's, but only sessions have readers."""
        if isinstance(receiver, Other) or _is_other(receiver):
            return Other()
        if isinstance(receiver, Chain) and ((receiver.kind, name) in ROWS or name == "sql"):
            return Method(receiver, name)
        kind = _ATTRIBUTES.get((receiver.kind if isinstance(receiver, Chain) else "", name))
        if kind is None and name in _UNCLEAR and not self._is_other:
            kind = _UNCLEAR[name].rstrip("?") + "?" if self._is_mixed else _UNCLEAR[name]
        return Chain(kind) if kind else self.by_name(name, Unknown())

    def called(self, receiver: Value, name: str, arguments: Arguments) -> Value:
        """Return the result of a method of an object; `model.write()` is MLlib's."""
        if isinstance(receiver, Other) or _is_other(receiver):
            return Other()
        if name in ("write", "writeTo"):
            kind = "model" if name == "write" else name
            return Unknown() if self._is_other else Chain(kind, ((name, arguments),))
        if not isinstance(receiver, Chain):
            return _of_function(receiver, name, arguments)
        if receiver.kind == "frame" or (receiver.kind == "session" and _SAME.fullmatch(name)):
            return receiver
        if (receiver.kind, name) in _FRAMES:
            return Chain("frame")
        if receiver.kind in ("catalog", "context", "session") or (receiver.kind, name) in ROWS:
            return Unknown()
        return Chain(receiver.kind, (*receiver.calls, (name, arguments)))


def _of_function(receiver: Value, name: str, arguments: Arguments) -> Value:
    function = f"{receiver.name}.{name}" if isinstance(receiver, Module) else name
    if function.endswith(("DeltaTable.forName", "DeltaTable.forPath")):
        return Chain("delta", (("forName", Arguments((_of_delta(name, arguments),))),))
    result = result_of(function)
    return receiver if isinstance(receiver, Unknown) and isinstance(result, Unknown) else result


def of_class(name: str) -> Value:
    """Return an object of a class, by its full name."""
    if _OTHERS.fullmatch(name):
        return Other()
    kind = _CLASSES.get(name.rpartition(".")[2])
    return Chain(kind) if kind else Unknown()


def result_of(function: str) -> Value:
    """Return the result of a function, by its full name."""
    if _OTHERS.fullmatch(function):
        return Other()
    return next((Chain(kind) for pattern, kind in _MAKES if pattern.fullmatch(function)), Unknown())


def _of_delta(method: str, arguments: Arguments) -> Value:
    """Return the name of a Delta table in SQL."""
    if method == "forName":
        return arguments.get(1, "tableOrViewName") or Unknown()
    path = arguments.get(1, "path") or Unknown()
    return each(joined, Known("delta.`"), path, Known("`")) if isinstance(path, Known) else path


def _is_other(value: Value) -> bool:
    return isinstance(value, Module) and bool(_OTHERS.fullmatch(value.name))
