"""What lives in the program that runs Spark, in no dataset: rows that it lists, variables of its session."""

from __future__ import annotations

from typing import Iterable, Tuple

from airflow_provider_spark_lineage.sources.dataset import Facts, Identity, Probe, Source

PROBES = (
    # A DataFrame made of pandas or Arrow data looks like VALUES, but for the place of those in an SQL text.
    Probe(node="LocalRelation", accessors={"in_sql": "origin.sqlText.isDefined", "schema": "schema.json"}),
    # The plan's JSON says which value, and not of which variable.
    Probe(node="CreateVariable", target=True, accessors={"name": "name", "names": "names[]"}),
)


def is_of_program(facts: Facts, listed: Iterable[Facts]) -> bool:
    """Say whether rows were listed by a program, and not by a query.

    `listed` are the facts of all listed rows of the query: where it reads VALUES twice, Spark makes a copy
    that has lost its place in the text.
    """
    of_sql = (one.get("schema") for one in listed if one.get("in_sql"))
    return facts.get("in_sql") is False and facts.get("schema") not in of_sql


def variables(facts: Facts) -> Tuple[str, ...]:
    """Return the names of the variables that a DECLARE makes, in lower case and without their schema.

    Spark prints each as `ResolvedIdentifier <catalog>, session.<name>`.
    """
    given = facts.get("names") or [facts.get("name") or ""]
    names = (str(one).strip().rpartition(".")[2].strip("`").lower() for one in given)
    return tuple(name for name in names if name)


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name nothing: none of this is a dataset."""
    return ()


SOURCE = Source(name="program", probes=PROBES, identify=identify)
