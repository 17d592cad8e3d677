"""Data that exist only in the program that runs Spark, which are not datasets.

Rows that it lists or that Spark generates, rows that it discards or prints, variables of its session.
"""

from __future__ import annotations

from typing import Iterable, Tuple

from airflow_provider_spark_lineage.spark.sources.dataset import Facts
from airflow_provider_spark_lineage.spark.sources.probe import Probe
from airflow_provider_spark_lineage.spark.sources.source import Source

PROBES = (
    # Rows of a pandas or Arrow frame are a LocalRelation, as VALUES are; only those have a place in SQL text.
    Probe(node="LocalRelation", accessors={"in_sql": "origin.sqlText.isDefined", "schema": "schema.json"}),
    # The plan's JSON has the value, but not the name of the variable.
    Probe(node="CreateVariable", target=True, accessors={"name": "name", "names": "names[]"}),
)


def is_of_program(facts: Facts, listed: Iterable[Facts]) -> bool:
    """Return whether rows were listed by a program, not by a query.

    `listed` are the facts of all listed rows of the query: if it reads VALUES twice, Spark makes a copy
    without a place in the SQL text.
    """
    of_sql = (rows.get("schema") for rows in listed if rows.get("in_sql"))
    return facts.get("in_sql") is False and facts.get("schema") not in of_sql


def variables(facts: Facts) -> Tuple[str, ...]:
    """Return the names of the variables that a DECLARE creates, in lower case and without their schema.

    Spark prints each as `ResolvedIdentifier <catalog>, session.<name>`.
    """
    printed = facts.get("names") or [facts.get("name") or ""]
    names = (str(text).strip().rpartition(".")[2].strip("`").lower() for text in printed)
    return tuple(name for name in names if name)


_GENERATORS = (".RateStreamTable", ".RatePerMicroBatchTable")

_NO_DATASET = (".NoopTable", ".ConsoleTable", ".MemorySink", ".ForeachWriterTable")


def _is_of_spark(facts: Facts, classes: Tuple[str, ...]) -> bool:
    provider = str(facts.get("provider") or "").rstrip("$")
    return provider.startswith("org.apache.spark.sql.") and provider.endswith(classes)


class Program(Source[Facts]):
    """Relations whose rows come from, or go to, no dataset, whatever their options name."""

    probes = PROBES

    def knows(self) -> bool:
        """Return whether a relation has no dataset."""
        return self.makes_rows() or self.discards_rows()

    def makes_rows(self) -> bool:
        """Return whether a relation is one of Spark's generators of rows, used to test streams."""
        return _is_of_spark(self.facts, _GENERATORS)

    def discards_rows(self) -> bool:
        """Return whether a write goes to no dataset: discarded, printed, or passed to the program itself."""
        return _is_of_spark(self.facts, _NO_DATASET)
