"""Tables that statements read in another engine, named as a Spark job names them that reads them there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Gap, Input, Lineage
from airflow_provider_spark_lineage.spark.planned.lineage import Planner
from airflow_provider_spark_lineage.spark.planned.program import Access, Program
from airflow_provider_spark_lineage.spark.planned.session import Session
from airflow_provider_spark_lineage.spark.planned.sources import of_relation
from airflow_provider_spark_lineage.spark.planned.sql.statements import read_sql
from airflow_provider_spark_lineage.spark.sources import identify, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import Facts, Identity

TableName = tuple[str, ...]
"""Catalog, if it is written, schema and name."""

Described = Mapping[TableName, Facts]
"""Table -> its facts, from the server."""


class ServerTables:
    """Tables that statements read on a Spark Thrift server, which knows where they are.

    The statements begin in `database`.
    """

    def __init__(self, statements: Iterable[str], database: str) -> None:
        text = ";\n".join((f"USE {_quoted(database)}", *statements))
        self._steps = [*read_sql(text, Session({}, {}))]

    def descriptions(self) -> dict[TableName, str]:
        """Return each table with the statement that describes it."""
        names = dict.fromkeys(_name(step) for step in self._steps if isinstance(step, Access) and step.table)
        return {name: f"DESCRIBE FORMATTED {'.'.join(map(_quoted, name))}" for name in names}

    def lineage(self, described: Described, url: str) -> Lineage:
        """Return the tables as a Spark job names them; one that was not described, by its name at `url`."""
        program = Program()
        inputs: dict[Input, None] = {}
        gaps = []
        for step in self._steps:
            identities: tuple[Identity, ...] = ()
            if isinstance(step, Access) and step.table:
                identities = _identities(described.get(_name(step), {}))
                if not identities:
                    gaps.append(Gap("text", of_programs.NOT_LOCATED(name=".".join(_name(step)))))
                    table = ("dbtable", ".".join(map(_quoted, step.table)))
                    step = Access(1, format="jdbc", options=(("url", url), table))  # noqa: PLW2901
            inputs.update((Input(Dataset(identity)), None) for identity in identities)
            if not identities:
                program.add([step])
        lineage = Planner({}, "").lineage(program)
        return replace(lineage, inputs=(*inputs, *lineage.inputs), gaps=(*lineage.gaps, *dict.fromkeys(gaps)))

    @staticmethod
    def by_jdbc(url: str, reads: Iterable[tuple[str, str]]) -> Lineage:
        """Return tables of any server as a Spark job names them that reads them by JDBC.

        `reads` are options of JDBC: `dbtable` or `query`, with its text.
        """
        program = Program()
        program.add(Access(1, format="jdbc", options=(("url", url), read)) for read in reads)
        return Planner({}, "").lineage(program)

    @staticmethod
    def facts(details: Mapping[str, str], settings: Mapping[str, str]) -> Facts:
        """Return the facts about a table that a Spark job would have.

        `details` has the properties in its description, `settings` has facts about the session.
        """
        name = [details.get("Catalog", ""), details.get("Database", ""), details.get("Table", "")]
        facts: Any = {**settings}
        if details.get("Type") == "VIEW":
            facts["view"] = name
        elif details.get("Location"):
            provider = details.get("Provider", "hive").lower()
            facts |= of_relation(provider, [details["Location"]], {}, writes=False)
            if details.get("Table"):
                facts["table"] = name
            if provider == "hive":
                facts["format"] = details.get("Serde Library", provider)
        else:
            facts = {}
        described: Facts = facts
        return described


def _identities(facts: Facts) -> tuple[Identity, ...]:
    if not facts:
        return ()
    if facts.get("view"):
        return tuple(replace(entry, type="VIEW") for entry in source_of(facts).entries())
    return identify(facts)


def _name(access: Access) -> TableName:
    return (*filter(None, [access.catalog]), *access.table)


def _quoted(name: str) -> str:
    return "`{}`".format(name.replace("`", "``"))
