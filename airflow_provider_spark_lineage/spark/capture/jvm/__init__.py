"""The part of capture that runs in Spark's JVM: Java sources beside this file, compiled for each JVM.

Java reads plans, facts and counts, and writes them as JSON. Python removes secrets, and literals in SQL of
databases. A py4j call costs a fraction of a millisecond and a plan has thousands of nodes, so the code that
walks a plan is Java. It makes no decisions: the tables of `sources/` declare all that it reads.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Mapping, Sequence

from airflow_provider_spark_lineage.spark.capture.jvm.classes import reader_class
from airflow_provider_spark_lineage.spark.capture.rdd import RddReader
from airflow_provider_spark_lineage.spark.gaps.kinds import reasons
from airflow_provider_spark_lineage.spark.records.counts import COUNTS, COUNTS_OF_SCANS
from airflow_provider_spark_lineage.spark.records.credentials import CREDENTIAL_HINT, without_secrets
from airflow_provider_spark_lineage.spark.records.observed import OF_CHECKS
from airflow_provider_spark_lineage.spark.records.record import MAX_MESSAGE_LENGTH
from airflow_provider_spark_lineage.spark.records.sql_literals import without_numbers, without_sql_literals
from airflow_provider_spark_lineage.spark.records.sql_text import FULL
from airflow_provider_spark_lineage.spark.sources import BEFORE, OPTIONS, PARTS, PROBES
from airflow_provider_spark_lineage.spark.sources.databases import dialect_of
from airflow_provider_spark_lineage.spark.sources.probe import Probe

_QUERIES = frozenset({"dbtable", "query"})
"""Options whose value may be SQL text."""

CALL = "spark.lineage.call"
"""Local property of a thread during a call over an RDD; Spark passes it to the jobs of the thread."""

MAX_PROBLEM_LENGTH = 400
"""Limit of characters."""


class JvmReader:
    """Reads queries of one Spark application with our Java code in its JVM."""

    def __init__(self, context: Any, rdds: RddReader, sql_text: str) -> None:
        self._reader = _new_reader(context._gateway, context._jvm, sql_text)
        self._rdds = rdds
        self._numbers = sql_text == FULL
        """Keep numbers in the SQL of databases; string literals are always removed."""

    def listener(self, context: Any, max_plan_bytes: int) -> Any:
        """Return a new listener for an application; the caller registers it."""
        return self._reader.listener(context._jsc.sc(), max_plan_bytes)

    def read(self, session: Any, query: Any, max_plan_bytes: int) -> Dict[str, Any]:
        """Return fields of a record for a query: `sql`, `plan_kind`, `plan`, `facts` and `problems`.

        If a plan's text is longer than `max_plan_bytes`, the optimized plan replaces it.
        """
        about, _, body = self._reader.read(session, query, max_plan_bytes).partition("\n")
        return self.completed(about, body)

    def computed(self, query: Any, name: str) -> Any:
        """Return a computed value of a query by its method's name; None if it failed or was not computed."""
        return self._reader.computed(query, name)

    def foresee(self, session: Any, text: str) -> None:
        """Probe the objects that an SQL statement will drop or create, before it runs."""
        self._reader.foresee(session, text)

    def note_patterns(self, plan: Any, patterns: Sequence[str]) -> None:
        """Note the patterns of the read of several paths that returned a plan."""
        self._reader.notePatterns(plan, json.dumps(patterns))

    def error(self, exception: Any) -> Dict[str, str]:
        """Return `class`, `message` and, if there is one, `sql_state` of an exception of the JVM."""
        about, _, body = self._reader.error(exception).partition("\n")
        return _cut(self.completed(about, body))

    def completed(self, about: str, body: str) -> Dict[str, Any]:
        """Return the JSON that Java wrote, without secrets and completed with the values that Python adds.

        `about` lists the texts that may contain secrets, and tells if there are values to add.
        """
        hints = json.loads(about)
        secrets = {text: clean for text in hints["suspects"] if (clean := without_secrets(text)) != text}
        fields: Dict[str, Any] = json.loads(body)
        if secrets or hints["incomplete"]:
            fields = self._clean(fields, lambda text: secrets.get(text, text))
        if "problems" in fields:
            cut = [problem[:MAX_PROBLEM_LENGTH] for problem in fields["problems"]]
            fields["problems"] = reasons(cut, fields.pop("problem_kinds", None))
        if "error" in fields:
            fields["error"] = _cut(fields["error"])
        return fields

    def _clean(self, value: Any, clean: Callable[[str], str]) -> Any:
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, list):
            return [self._clean(item, clean) for item in value]
        if not isinstance(value, dict):
            return value
        if "$sql" in value:
            return self._sql(value["$sql"], dialect_of({"url": value["url"]}) if value.get("url") else None)
        if "$options" in value:
            return self._options(value["$options"])
        if "$rdd" in value:
            return self._rdds.origins(self._reader.take(value["$rdd"]))
        return {name: self._clean(item, clean) for name, item in value.items()}

    def _sql(self, text: Any, dialect: Any) -> Any:
        if isinstance(text, list):
            return [self._sql(item, dialect) for item in text]
        emptied = without_sql_literals(text, dialect)
        return without_secrets(emptied if self._numbers else without_numbers(emptied))

    def _options(self, options: Mapping[str, str]) -> Dict[str, str]:
        dialect = dialect_of(options)
        return {
            name: self._sql(value, dialect) if name in _QUERIES else without_secrets(value)
            for name, value in options.items()
        }


def _cut(error: Dict[str, str]) -> Dict[str, str]:
    return {**error, "message": error["message"][:MAX_MESSAGE_LENGTH]}


def _new_reader(gateway: Any, jvm: Any, sql_text: str) -> Any:
    """Return a `Reader` for one application."""
    arguments = gateway.new_array(jvm.java.lang.Object, 1)
    arguments[0] = _config(sql_text)
    return reader_class(gateway, jvm).getConstructors()[0].newInstance(arguments)


def prepare_jvm(gateway: Any, jvm: Any) -> None:
    """Load the classes of `JvmReader` in a JVM, so that the first reader is created quickly."""
    _new_reader(gateway, jvm, FULL)


def _config(sql_text: str) -> str:
    """Return the configuration of the Java code: probes, metrics, secrets, SQL texts."""
    return json.dumps(
        {
            "probes": _as_json(PROBES),
            "before": _as_json(BEFORE),
            "options": sorted(OPTIONS),
            "parts": sorted(PARTS),
            "hint": CREDENTIAL_HINT,
            "sql_text": sql_text,
            "counts": COUNTS,
            "counts_of_scans": COUNTS_OF_SCANS,
            "call": CALL,
            "ours": OF_CHECKS,
        }
    )


def _as_json(probes: Mapping[str, Sequence[Probe]]) -> Dict[str, List[Dict[str, Any]]]:
    return {node: [dict(vars(probe)) for probe in some] for node, some in probes.items()}
