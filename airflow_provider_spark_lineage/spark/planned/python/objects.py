"""Objects behind names and attributes: Spark's, and other libraries'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from airflow_provider_spark_lineage.spark.planned.python.constants import joined
from airflow_provider_spark_lineage.spark.planned.python.methods import ROWS, UNRELATED, VIEW, is_known
from airflow_provider_spark_lineage.spark.planned.python.values import (
    Arguments,
    Chain,
    Class,
    Instance,
    Known,
    Module,
    Other,
    UnknownValue,
    Value,
    sources_of,
)

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
    ("model", "transform"),
    *(("session", name) for name in ("createDataFrame", "range", "sql", "table")),
    *(key for key, row in ROWS.items() if key[0] in ("delta", "read") and not row.change),
}
"""(kind of the object, method), for methods that return a frame."""

_TAKE_FRAMES = frozenset(
    """
    crossJoin exceptAll foreach foreachBatch intersect intersectAll join subtract transform union unionAll
    unionByName
    """.split()
)
"""Methods of frames whose arguments are frames, or functions that get one."""

_SAME = re.compile(
    "active|appName|config|create|enableHiveSupport|getActiveSession|getOrCreate|master|newSession|remote"
)
"""Methods of sessions and their builders that return a session."""

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

_SESSION = re.compile(r"_*(?:spark|spark_?[sS]ession|sql_?[cC]ontext)")
_ANY_SESSION = re.compile(rf"{_SESSION.pattern}|_*session")
_MODELS = re.compile(r"pyspark\.ml(?:lib)?\b")
_MODEL = re.compile(r"(?:\w+_)?(?:model|pipeline)")
_CONTEXT = re.compile(r"_*(?:sc|spark_?[cC]ontext)")
_MAKES = (
    (re.compile(r"(?:.*\.)?(?:SparkSession|DatabricksSession|SQLContext|HiveContext)(?:\.\w+)?"), "session"),
    (re.compile(r"(?:.*\.)?SparkContext(?:\.\w+)?"), "context"),
    (re.compile(r"(?:.*\.)?SparkConf"), "conf"),
    (re.compile(r"pyspark\.ml(?:lib)?\.(?!functions\.).*\.[A-Z]\w*(?:\.\w+)?"), "model"),
    # Conventional names: `get_spark`, `create_spark_session`; `getOrCreate` of any builder.
    (re.compile(r"(?:.*\.)?(?:[a-z_]+_spark(?:_session)?|getOrCreate)"), "session"),
)
"""Full name of a function -> kind of its result."""


def is_spark(module: str) -> bool:
    """Return whether a module belongs to Spark."""
    return bool(_SPARK.fullmatch(module))


class Objects:
    """Objects behind the names of a script and its modules, depending on their imports."""

    def __init__(self) -> None:
        self._modules: set[str] = set()
        self._packages = {""}
        """First parts of the names of imports; empty for a relative import."""

        self._has_session = self._imports_spark = self._imports_models = self._imports_others = False
        self._is_mixed = self._is_other = False

    def add(self, imports: Iterable[str], names: Iterable[str]) -> None:
        """Note the imports and names of another module, which the others may use."""
        modules = set(imports) - self._modules
        self._modules |= modules
        self._packages.update(name.partition(".")[0] for name in modules)
        self._has_session |= any(map(_SESSION.fullmatch, names))
        self._imports_spark |= any(map(is_spark, modules))
        self._imports_models |= any(map(_MODELS.match, modules))
        self._imports_others |= any(map(_OTHERS.fullmatch, modules))
        self._is_mixed |= any(map(_SIMILAR.fullmatch, modules))
        uses_others = self._imports_others and not self._has_session
        self._is_other = not self._imports_spark and (self._is_mixed or uses_others)

    def is_foreign(self, function: str) -> bool:
        """Return whether a function, by its full name, is imported, and may read and write with Spark."""
        package = function.partition(".")[0]
        is_unrelated = package in UNRELATED or _is_other(Module(function))
        is_imported = "." in function and package in self._packages
        return is_imported and not is_known(function) and not is_unrelated

    def by_name(self, name: str, value: Value) -> Value:
        """Guess from a conventional name (`spark`, `sc`) if the value is unknown."""
        if self._is_other or not isinstance(value, UnknownValue | Module) or _is_other(value):
            return value
        if _SESSION.fullmatch(name):
            return Chain("session")
        if self._imports_spark and isinstance(value, UnknownValue) and _ANY_SESSION.fullmatch(name):
            return Chain("session?" if self._is_mixed else "session")
        if self._imports_models and isinstance(value, UnknownValue) and _MODEL.fullmatch(name):
            return Chain("model")
        return Chain("context") if _CONTEXT.fullmatch(name) else value

    def of_module(self, name: str) -> Value:
        """Return the value of a full name."""
        if name.endswith(("SparkSession.builder", "DatabricksSession.builder")):
            return Module(name) if _is_other(Module(name)) else Chain("session")
        return self.by_name(name.rpartition(".")[2], Module(name))

    def attribute(self, receiver: Value, name: str) -> Value:
        """Return an attribute of an object; any `x.write` may be Spark's, but only sessions have readers."""
        if _is_other(receiver):
            return Other()
        kind = _ATTRIBUTES.get((receiver.kind if isinstance(receiver, Chain) else "", name))
        if kind is None and name in _UNCLEAR and not self._is_other:
            kind = _UNCLEAR[name].rstrip("?") + "?" if self._is_mixed else _UNCLEAR[name]
        return Chain(kind) if kind else self.by_name(name, UnknownValue(sources=sources_of(receiver)))

    def called(self, receiver: Value, name: str, arguments: Arguments) -> Value:
        """Return the result of a method of an object; `model.write()` is MLlib's."""
        if _is_other(receiver):
            return Other()
        if isinstance(receiver, Class | Instance):
            return UnknownValue()
        if name == "writeTo" or (name == "write" and not arguments.values()):
            kind = "model" if name == "write" else name
            return UnknownValue() if self._is_other else Chain(kind, ((name, arguments),))
        if not isinstance(receiver, Chain):
            return _of_function(receiver, name, arguments)
        if receiver.kind == "frame" or (receiver.kind == "session" and _SAME.fullmatch(name)):
            return receiver
        if (receiver.kind, name) in _FRAMES:
            return Chain("frame")
        if receiver.kind in ("catalog", "context", "session") or (receiver.kind, name) in ROWS:
            return UnknownValue()
        return Chain(receiver.kind, (*receiver.calls, (name, arguments)))


def is_method(receiver: Value, name: str) -> bool:
    """Return whether a method of an object of Spark reads or writes."""
    return isinstance(receiver, Chain) and ((receiver.kind, name) in ROWS or name == "sql")


def frames_of(receiver: Value | None, method: str, arguments: Arguments) -> tuple[Value, ...]:
    """Return the values that the called method shows to be frames, or functions that get one."""
    if method == "writeTo" or VIEW.fullmatch(method):
        return () if receiver is None else (receiver,)
    is_frame = isinstance(receiver, Chain) or (isinstance(receiver, UnknownValue) and receiver.sources)
    return arguments.values() if is_frame and method in _TAKE_FRAMES else ()


def result_of(function: str) -> Value:
    """Return the result of a function, by its full name."""
    if _OTHERS.fullmatch(function):
        return Other()
    return next((Chain(kind) for pattern, kind in _MAKES if pattern.fullmatch(function)), UnknownValue())


def _of_function(receiver: Value, name: str, arguments: Arguments) -> Value:
    function = f"{receiver.name}.{name}" if isinstance(receiver, Module) else name
    if function.endswith(("DeltaTable.forName", "DeltaTable.forPath")):
        return Chain("delta", (("forName", Arguments((_of_delta(name, arguments),))),))
    result = result_of(function)
    return receiver if isinstance(receiver, UnknownValue) and isinstance(result, UnknownValue) else result


def _of_delta(method: str, arguments: Arguments) -> Value:
    """Return the name of a Delta table in SQL."""
    if method == "forName":
        return arguments.get(1, "tableOrViewName") or UnknownValue()
    path = arguments.get(1, "path") or UnknownValue()
    return joined(Known("delta.`"), path, Known("`")) if isinstance(path, Known) else path


def _is_other(value: Value) -> bool:
    return isinstance(value, Other) or (isinstance(value, Module) and bool(_OTHERS.fullmatch(value.name)))
