"""What capture runs inside Spark's JVM: the Java sources beside this file, compiled when a session appears.

Spark compiles the Java code of its own queries by Janino, which is part of every Spark. So capture needs no
jar, and one call instead of hundreds writes an execution down. Java only reads; what is secret, and what a
database's SQL means, Python decides.
"""

from __future__ import annotations

import json
import pkgutil
import re
import threading
import uuid
from typing import Any, Callable, Dict, Mapping, Sequence, Tuple

from airflow_provider_spark_lineage.capture.rdd import RddReader
from airflow_provider_spark_lineage.capture.sql_literals import without_sql_literals
from airflow_provider_spark_lineage.record import CREDENTIAL_HINT, without_secrets
from airflow_provider_spark_lineage.sources import BEFORE, OPTIONS, PROBES
from airflow_provider_spark_lineage.sources.databases import dialect_of
from airflow_provider_spark_lineage.sources.dataset import Probe

_CLASSES = ("Counts", "Foresight", "Json", "Paths", "Plans", "Query", "Reader", "Step", "TooLarge")
COUNTS = {
    "number of output rows": "rows",
    "size of files read": "size_bytes",
    "number of files read": "files",
    "written output": "size_bytes",
    "number of written files": "files",
    # Iceberg
    "number of added records": "rows",
    "total size of added files (bytes)": "size_bytes",
    "number of added data files": "files",
    "number of result data files": "files",
}
"""Spark's name of an SQL metric -> field of `lineage.model.Statistics`."""

_COUNTS_OF_SCANS = {"total data file size (bytes)": "size_bytes"}
"""What Iceberg calls the size of the files that a scan read, and the size of a table that was written."""

_QUERIES = frozenset({"dbtable", "query"})
"""Options whose value may be SQL text."""


def _source(package: str) -> str:
    """Return all Java sources as one text, which is what Janino compiles at once."""
    imports: Dict[str, None] = {}
    bodies = []
    for name in _CLASSES:
        source = (pkgutil.get_data(__name__, name + ".java") or b"").decode("utf-8")
        imports.update(dict.fromkeys(re.findall(r"^import .+;$", source, re.MULTILINE)))
        bodies.append(re.sub(r"^(?:import|package) .+;$", "", source, flags=re.MULTILINE))
    return "\n".join((f"package {package};", *sorted(imports), *bodies))


def _as_json(probes: Mapping[str, Sequence[Probe]]) -> Dict[str, Any]:
    return {node: [{**vars(probe)} for probe in some] for node, some in probes.items()}


def _config() -> str:
    """Return what the Java code is told of sources, counters and secrets."""
    return json.dumps(
        {
            "probes": _as_json(PROBES),
            "before": _as_json(BEFORE),
            "options": sorted(OPTIONS),
            "hint": CREDENTIAL_HINT,
            "counts": COUNTS,
            "counts_of_scans": _COUNTS_OF_SCANS,
        }
    )


class JvmReader:
    """Writes executions of one Spark application down, by code of ours inside its JVM."""

    def __init__(self, context: Any, rdds: RddReader) -> None:
        self._context = context
        self._rdds = rdds
        self._lock = threading.Lock()
        self._live: Any = None

    @property
    def _reader(self) -> Any:
        """The `Reader` in the JVM, compiled when it is first asked: mostly on Spark's listener bus."""
        with self._lock:
            if self._live is None:
                self._live = _new_reader(self._context._gateway, self._context._jvm)
            return self._live

    def read(
        self, session: Any, execution: Any, *, failed: bool, counted: bool, max_plan_bytes: int
    ) -> Dict[str, Any]:
        """Return fields of a `Record`: `sql`, `plan_kind`, `plan`, `facts`, `metrics` and `problems`.

        `counted` asks for what Spark counted. Where a plan's text is longer than `max_plan_bytes`, the
        optimized plan takes its place.
        """
        text = self._reader.read(session, execution, failed, counted, max_plan_bytes)
        about, _, body = text.partition("\n")
        found = json.loads(about)
        secrets = {text: clean for text in found["suspects"] if (clean := without_secrets(text)) != text}
        fields: Dict[str, Any] = json.loads(body)
        if secrets or found["incomplete"]:
            fields = self._completed(fields, lambda text: secrets.get(text, text))
        return fields

    def foresee(self, session: Any, text: str) -> None:
        """Ask what an SQL statement is about to drop, or may find there, before it runs."""
        self._reader.foresee(session, text)

    def _completed(self, value: Any, clean: Callable[[str], str]) -> Any:
        """Return a JSON value without secrets, and with what only Python knows."""
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, list):
            return [self._completed(one, clean) for one in value]
        if not isinstance(value, dict):
            return value
        if "$sql" in value:
            return _sql(
                value["$sql"], dialect_of({"url": value.get("url") or ""}) if value.get("url") else None
            )
        if "$options" in value:
            return _options(value["$options"])
        if "$rdd" in value:
            return self._rdds.origins(self._reader.take(value["$rdd"]))
        return {name: self._completed(one, clean) for name, one in value.items()}


_compiled: Tuple[Any, Any] = (None, None)
"""A gateway, and the class `Reader` in the JVM behind it: a process has one, for all its applications."""


def _reader_class(gateway: Any, jvm: Any) -> Any:
    """Return the class `Reader` of a JVM, compiled when it is first asked for."""
    global _compiled  # noqa: PLW0603  what it speaks of is one for the process, too
    if _compiled[0] is not gateway:
        # py4j remembers methods by the names of their classes: no other class may have had this one.
        package = f"sparklineage.of{uuid.uuid4().hex}"
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        # Knows the jars that came with the application, too.
        compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
        compiler.cook(_source(package))
        _compiled = gateway, compiler.getClassLoader().loadClass(package + ".Reader")
    return _compiled[1]


def _new_reader(gateway: Any, jvm: Any) -> Any:
    """Return a `Reader` for one application."""
    types = gateway.new_array(jvm.java.lang.Class, 1)
    types[0] = jvm.java.lang.Class.forName("java.lang.String")
    arguments = gateway.new_array(jvm.java.lang.Object, 1)
    arguments[0] = _config()
    return _reader_class(gateway, jvm).getConstructor(types).newInstance(arguments)


def _sql(text: Any, dialect: Any) -> Any:
    if isinstance(text, list):
        return [_sql(one, dialect) for one in text]
    return without_secrets(without_sql_literals(text, dialect))


def _options(options: Mapping[str, str]) -> Dict[str, str]:
    dialect = dialect_of(options)
    return {
        name: _sql(value, dialect) if name in _QUERIES else without_secrets(value)
        for name, value in options.items()
    }
