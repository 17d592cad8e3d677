"""Databases behind JDBC: tables, queries, and the tables of a JDBC catalog.

A database is known by its URL, which `databases` reads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, Optional, Tuple

from airflow_provider_spark_lineage.spark.sources import catalogs, databases
from airflow_provider_spark_lineage.spark.sources.accessors import (
    BY_CLASS,
    BY_MODE,
    COLUMN_CHANGES,
    IF_NOT_EXISTS,
    SCHEMA,
    V2_WRITES,
    WAREHOUSE,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Facts, Identity, Query
from airflow_provider_spark_lineage.spark.sources.probe import Names, Probe, read, write
from airflow_provider_spark_lineage.spark.sources.source import Source


def _jdbc_options(options: str) -> Dict[str, str]:
    """Return accessors for Spark's `JDBCOptions`."""
    return {
        "url": f"{options}.url",
        "dbtable": f"$sql({options}.tableOrQuery, {options}.url)",
        "prepare": f"$sql({options}.prepareQuery, {options}.url)",
        "options": f"$options({options}.parameters)",
    }


def _command(node: Names, resolved: str, **more: str) -> Tuple[Probe, ...]:
    """Return the probes of a command on a table of a JDBC catalog; the table need not exist any more.

    `resolved` is the path to the object that has the catalog and the identifier.
    """
    options = f"{resolved}.catalog.options!"
    return write(
        node,
        of=f"{resolved}.catalog",
        relation="JDBCTableCatalog",
        accessors={
            "url": f"{options}.url",
            "options": f"$options({options}.parameters)",
            "identifier": f"{resolved}.identifier.toString",
            **more,
        },
    )


def _schema_of(resolved: str) -> str:
    return f"{resolved}.catalog.loadTable({resolved}.identifier).schema.json"


class JdbcFacts(Facts, total=False):
    """Facts of a table or a query of a database."""

    url: str
    """The JDBC URL."""

    dbtable: str
    """The text in FROM: a table, or a query in parentheses."""

    prepare: str
    """SQL that the database runs before the query (the option `prepareQuery`)."""

    partition_column: str
    """The column that partitions the read; the predicates are then its ranges."""


PROBES = (
    *read(
        "LogicalRelation",
        relation="JDBCRelation",
        accessors={
            **_jdbc_options("relation.jdbcOptions"),
            "scan": "$sql(relation.toString)",
            "predicates": "$sql(relation.parts[].whereClause, relation.jdbcOptions.url)",
            "partition_column": "relation.jdbcOptions.partitionColumn?",
            "table": "catalogTable?.identifier.nameParts[]",
            "warehouse": WAREHOUSE,
        },
    ),
    # Redshift's own connector has the same options.
    *read(
        "LogicalRelation", {"options": "$options(relation.params.parameters)"}, relation="RedshiftRelation"
    ),
    *write(
        "InsertIntoDataSourceCommand",
        of="logicalRelation.relation",
        relation="JDBCRelation",
        accessors={
            **_jdbc_options("logicalRelation.relation.jdbcOptions"),
            "overwrite": "overwrite",
            **SCHEMA,
            "table": "logicalRelation.catalogTable?.identifier.nameParts[]",
            "warehouse": WAREHOUSE,
        },
    ),
    *write(
        "SaveIntoDataSourceCommand",
        of="dataSource",
        relation="JdbcRelationProvider",
        accessors={"options": "$options(options)", **BY_MODE},
    ),
    *read("DataSourceV2Relation", _jdbc_options("table.jdbcOptions"), of="table", relation="JDBCTable"),
    *read(
        "DataSourceV2ScanRelation",
        _jdbc_options("relation.table.jdbcOptions"),
        of="relation.table",
        relation="JDBCTable",
    ),
    *write(
        V2_WRITES,
        of="table.table",
        relation="JDBCTable",
        accessors={**_jdbc_options("table.table.jdbcOptions"), **BY_CLASS},
    ),
    *_command("CreateTable", "name", schema=_schema_of("name"), **IF_NOT_EXISTS),
    *_command("ReplaceTable", "name", schema=_schema_of("name")),
    *_command("DropTable", "child", if_exists="ifExists"),
    *_command("RenameTable", "child", new_name="newName[]"),
    *(
        probe
        for node, changed in COLUMN_CHANGES.items()
        for probe in _command(node, "table", schema=_schema_of("table"), **changed)
    ),
)


class Jdbc(Source[JdbcFacts]):
    """Tables and queries of a database, by its URL."""

    probes = PROBES
    options = frozenset(("url", "dbtable", "query")) | databases.OPTIONS

    def identify(self) -> Tuple[Identity, ...]:
        """Return the table, or for a query the database."""
        place, text = _place(self.facts), _text(self.facts)
        if place is None or not text:
            return ()
        plain = databases.PLAIN_TABLE.fullmatch(text)
        identity = place.table(plain["table"]) if plain else place.identity
        return (replace(identity, symlinks=catalogs.symlinks(self.facts)),)

    def query(self) -> Optional[Query]:
        """Return the query that is read instead of a table, or that selects a table's rows by predicates."""
        place, text = _place(self.facts), _text(self.facts)
        # The ranges of a partition column cover the whole table, so they do not filter.
        predicates = () if self.facts.get("partition_column") else tuple(self.facts.get("predicates") or ())
        if place is None or not text or (databases.PLAIN_TABLE.fullmatch(text) and not predicates):
            return None
        # `(select ...) alias`, which Spark also makes of the option `query`; or a call of a function.
        relation = text.strip()
        inner = "select * from " + relation  # noqa: S608  read, never run
        if predicates:
            inner += " where " + " or ".join(f"({predicate})" for predicate in dict.fromkeys(predicates))
        elif relation.startswith("(") and ")" in relation:
            inner = relation[1 : relation.rindex(")")]
        return Query(
            text=f"{self.facts.get('prepare') or ''} {inner}".strip(),
            dialect=place.kind.dialect,
            fold=place.kind.fold,
            identify=place.table,
            database=place.identity,
            predicates=bool(predicates),
        )

    def previous(self) -> Tuple[DatasetId, ...]:
        """Return the old name of a renamed table."""
        if not self.facts.get("new_name"):
            return super().previous()
        before: JdbcFacts = {**self.facts, "new_name": []}
        return tuple(identity.id for identity in Jdbc(before).identify())

    def reaches_data(self, change: str) -> Optional[bool]:
        """Return True for a table of a JDBC catalog: a command on it acts on the database's own table."""
        if catalogs.is_session_table(self.facts) or not self.facts.get("identifier"):
            return super().reaches_data(change)
        return True


def _place(facts: JdbcFacts) -> Optional[databases.DatabaseAddress]:
    options = facts.get("options") or {}
    return databases.place(str(facts.get("url") or options.get("url") or ""), options)


def _text(facts: JdbcFacts) -> str:
    """Return the text in FROM: a table, or a query in parentheses."""
    options = facts.get("options") or {}
    query_option = f"({options['query']})" if options.get("query") else ""
    name = _quoted(_renamed(facts) or _identifier(facts))
    # A catalog's options also have a `dbtable`, but only as a placeholder: the command's name comes first.
    return str(facts.get("dbtable") or name or options.get("dbtable") or query_option)


def _identifier(facts: JdbcFacts) -> Tuple[str, ...]:
    """Return the parts of the table's name in a command on a catalog."""
    return tuple(databases.parts_of(str(facts.get("identifier") or ""), ""))


def _renamed(facts: JdbcFacts) -> Tuple[str, ...]:
    """Return the parts of a table's new name; without a schema, it keeps the old one."""
    new = tuple(facts.get("new_name") or ())
    return (*_identifier(facts)[:-1], *new) if len(new) == 1 else new


def _quoted(parts: Tuple[str, ...]) -> str:
    """Quote every part of a name, as Spark does for a database, so that the case is preserved."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)
