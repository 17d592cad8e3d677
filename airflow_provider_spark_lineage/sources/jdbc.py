"""Databases behind JDBC: tables, queries, and the tables of a JDBC catalog.

A database is known by its URL, which `databases` reads.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, Optional, Tuple

from airflow_provider_spark_lineage.sources import catalogs, databases
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Probe, Query, Source

_WAREHOUSE = "$session.sessionState.conf.warehousePath"


def _asked(options: str) -> Dict[str, str]:
    """Return the accessors that lead through Spark's `JDBCOptions`."""
    return {
        "url": f"{options}.url",
        "dbtable": f"$sql({options}.tableOrQuery, {options}.url)",
        "prepare": f"$sql({options}.prepareQuery, {options}.url)",
        "options": f"$options({options}.parameters)",
    }


COLUMN_CHANGES = (
    "AddColumns",
    "AlterColumn",
    "AlterColumns",
    "DropColumns",
    "RenameColumn",
    "ReplaceColumns",
)
"""Spark's commands that change the columns of a catalog's table."""


def _command(node: str, resolved: str, **more: str) -> Probe:
    """Ask a catalog for a table that a command names, before or after it is there.

    `resolved` leads to what holds catalog and identifier.
    """
    options = f"{resolved}.catalog.options!"
    return Probe(
        node=node,
        target=True,
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


PROBES = (
    Probe(
        node="LogicalRelation",
        relation="JDBCRelation",
        accessors={
            **_asked("relation.jdbcOptions"),
            "scan": "$sql(relation.toString)",
            "predicates": "$sql(relation.parts[].whereClause, relation.jdbcOptions.url)",
            "partition_column": "relation.jdbcOptions.partitionColumn?",
            "table": "catalogTable?.identifier.nameParts[]",
            "warehouse": _WAREHOUSE,
        },
    ),
    Probe(
        node="InsertIntoDataSourceCommand",
        target=True,
        of="logicalRelation.relation",
        relation="JDBCRelation",
        accessors={
            **_asked("logicalRelation.relation.jdbcOptions"),
            "overwrite": "overwrite",
            "schema": "query.schema.json",
            "table": "logicalRelation.catalogTable?.identifier.nameParts[]",
            "warehouse": _WAREHOUSE,
        },
    ),
    Probe(
        node="SaveIntoDataSourceCommand",
        target=True,
        of="dataSource",
        relation="JdbcRelationProvider",
        accessors={"options": "$options(options)", "mode": "mode", "schema": "query.schema.json"},
    ),
    *(
        Probe(node=node, of="table", relation="JDBCTable", accessors=_asked("table.jdbcOptions"))
        for node in ("DataSourceV2Relation", "DataSourceV2ScanRelation")
    ),
    *(
        Probe(
            node=node,
            target=True,
            of="table.table",
            relation="JDBCTable",
            accessors={
                **_asked("table.table.jdbcOptions"),
                "schema": "query.schema.json",
                "mode": "getClass.getSimpleName",
            },
        )
        for node in ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic")
    ),
    _command("CreateTable", "name", schema=_schema_of("name"), if_not_exists="ignoreIfExists"),
    _command("ReplaceTable", "name", schema=_schema_of("name")),
    _command("DropTable", "child", if_exists="ifExists"),
    _command("RenameTable", "child", new_name="newName[]"),
    *(_command(node, "table", schema=_schema_of("table")) for node in COLUMN_CHANGES),
)

OPTIONS = frozenset(("url", "dbtable", "query")) | databases.OPTIONS


def _place(facts: Facts) -> Optional[databases.Place]:
    options = facts.get("options") or {}
    return databases.place(str(facts.get("url") or options.get("url") or ""), options)


def _text(facts: Facts) -> str:
    """Return what stands in FROM: a table, or a query in parentheses."""
    options = facts.get("options") or {}
    asked = f"({options['query']})" if options.get("query") else ""
    named = _quoted(_renamed(facts) or _identifier(facts))
    # The options of a catalog name a table that is none.
    return str(facts.get("dbtable") or named or options.get("dbtable") or asked)


def _identifier(facts: Facts) -> Tuple[str, ...]:
    """Return the parts of the name that a command on a catalog gives its table."""
    return tuple(databases.parts_of(str(facts.get("identifier") or ""), ""))


def _renamed(facts: Facts) -> Tuple[str, ...]:
    """Return the parts of a table's new name; one without a schema stays in the old one."""
    new = tuple(facts.get("new_name") or ())
    return (*_identifier(facts)[:-1], *new) if len(new) == 1 else new


def _quoted(parts: Tuple[str, ...]) -> str:
    """Write a name as Spark writes it for a database: it quotes every part, so that none is folded."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def previous(facts: Facts) -> Tuple[DatasetId, ...]:
    """Return what a renamed table was called before."""
    before = {name: value for name, value in facts.items() if name != "new_name"}
    return tuple(one.id for one in identify(before)) if facts.get("new_name") else ()


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name the table, or the database whose query gave the rows."""
    found, text = _place(facts), _text(facts)
    if found is None or not text:
        return ()
    plain = databases.PLAIN_TABLE.fullmatch(text)
    identity = found.table(plain["table"]) if plain else found.identity
    return (replace(identity, symlinks=catalogs.symlinks(facts)),)


def query(facts: Facts) -> Optional[Query]:
    """Return the query that stands in the place of a table, or takes some rows of one."""
    found, text = _place(facts), _text(facts)
    # Where a column divides the read, the parts are all of the table.
    chosen = () if facts.get("partition_column") else tuple(facts.get("predicates") or ())
    if found is None or not text or (databases.PLAIN_TABLE.fullmatch(text) and not chosen):
        return None
    # `(select ...) alias`, which Spark makes of a `query` as well; or a call of a function.
    whole = text.strip()
    inner = "select * from " + whole  # noqa: S608  read, never run
    if chosen:
        inner += " where " + " or ".join(f"({one})" for one in dict.fromkeys(chosen))
    elif whole.startswith("(") and ")" in whole:
        inner = whole[1 : whole.rindex(")")]
    return Query(
        text=f"{facts.get('prepare') or ''} {inner}".strip(),
        dialect=found.kind.dialect,
        fold=found.kind.fold,
        identify=found.table,
        database=found.identity,
        predicates=bool(chosen),
    )


def reaches_data(change: str, facts: Facts) -> Optional[bool]:
    """Return True for a table of a JDBC catalog, which is the database's own."""
    return True if facts.get("identifier") and _place(facts) and "table_type" not in facts else None


SOURCE = Source(
    name="jdbc",
    probes=PROBES,
    identify=identify,
    reaches_data=reaches_data,
    options=OPTIONS,
    query=query,
)
