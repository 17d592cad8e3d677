"""Relations that no other source knows: probed for whatever name they have, so that they stay visible."""

from __future__ import annotations

import re
from typing import Tuple

from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Probe, Source
from airflow_provider_spark_lineage.sources.jdbc import COLUMN_CHANGES

PROBES = (
    Probe(
        node="LogicalRelation",
        relation="*",
        accessors={
            "relation_class": "relation.getClass.getName",
            "options": "$options(catalogTable?.storage.properties)",
        },
    ),
    Probe(
        node="DataSourceV2Relation",
        accessors={
            "v2_table": "table.name",
            "v2_catalog": "catalog?.name",
            "provider": "table.getClass.getName",
            "options": "$options(options)",
        },
    ),
    *(
        Probe(
            node=node,
            target=True,
            accessors={
                "v2_table": "table.table.name",
                "v2_catalog": "table.catalog?.name",
                "provider": "table.table.getClass.getName",
                "options": "$options(table.options)",
                "schema": "query.schema.json",
                "mode": "getClass.getSimpleName",
            },
        )
        for node in ("AppendData", "OverwriteByExpression", "OverwritePartitionsDynamic")
    ),
    *(
        Probe(
            node=node,
            accessors={
                "v2_table": f"{relation}table.name",
                "v2_catalog": f"{relation}catalog?.name",
                "provider": f"{relation}table.getClass.getName",
            },
        )
        for node, relation in (
            ("StreamingDataSourceV2Relation", ""),
            ("StreamingDataSourceV2ScanRelation", "relation."),
        )
    ),
    *(
        Probe(
            node="WriteToMicroBatchDataSource",
            of="table",
            relation=relation,
            target=True,
            accessors={
                "v2_table": f"{table}.name",
                "v2_catalog": "table.catalog?.name",
                "provider": f"{table}.getClass.getName",
                "schema": "query.schema.json",
                "mode": "outputMode",
            },
        )
        # Since Spark 4.3 the sink's table is a relation.
        for relation, table in (("DataSourceV2Relation", "table.table"), ("*", "table"))
    ),
    *(
        Probe(
            node=node,
            target=True,
            accessors={
                "v2_table": f"{table}.table.name",
                "v2_catalog": f"{table}.catalog?.name",
                "provider": f"{table}.table.getClass.getName",
                "mode": "getClass.getSimpleName",
            },
        )
        for node, table in (
            ("ReplaceData", "originalTable"),
            ("WriteDelta", "originalTable"),
            ("DeleteFromTable", "collectLeaves.head"),
        )
    ),
    *(
        Probe(
            node=node,
            target=True,
            accessors={"schema": "query.schema.json", "mode": "getClass.getSimpleName"},
        )
        for node in ("CreateTableAsSelect", "ReplaceTableAsSelect")
    ),
    # A name alone: the lineage says in a gap that nobody can tell what it is called elsewhere.
    *(
        Probe(
            node=node,
            target=True,
            accessors={
                "table_text": f"{resolved}.identifier.toString",
                "catalog": f"{resolved}.catalog.name",
            },
        )
        for nodes, resolved in (
            (("CreateTable", "ReplaceTable"), "name"),
            (("RenameTable",), "child"),
            ((*COLUMN_CHANGES, "TruncateTable"), "table"),
        )
        for node in nodes
    ),
    Probe(
        node="InsertIntoDataSourceCommand",
        target=True,
        accessors={
            "relation_class": "logicalRelation.relation.getClass.getName",
            "overwrite": "overwrite",
            "schema": "query.schema.json",
        },
    ),
    Probe(
        node="SaveIntoDataSourceCommand",
        target=True,
        accessors={
            "relation_class": "dataSource.getClass.getName",
            "options": "$options(options)",
            "mode": "mode",
            "schema": "query.schema.json",
        },
    ),
)


_INSIDE = ("database", "keyspace", "schema", "dbtable", "table", "collection", "topic", "index")
"""Options that name something in a system, from the whole to its parts."""

_NAMES = ("path", "url")

_NOWHERE = (".NoopTable", ".ConsoleTable", ".MemorySink", ".ForeachWriterTable")


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name a relation by its catalog, by what its options say, by its own words, or by its class.

    The lineage says in a gap that such a name was not made by a known source.
    """
    provider = str(facts.get("relation_class") or facts.get("provider") or "")
    if not provider:
        return ()
    namespace = str(facts.get("v2_catalog") or provider.rsplit(".", 1)[-1].rstrip("$"))
    options = facts.get("options") or {}
    told = ".".join(options[name] for name in _INSIDE if options.get(name))
    said = next((options[name] for name in _NAMES if options.get(name)), "")
    own = str(facts.get("v2_table") or "")
    name = (own if facts.get("v2_catalog") else "") or told or _place(said) or own or provider
    return (Identity(id=DatasetId(namespace, name), uri=f"{namespace}:{name}", known=False),)


def _place(location: str) -> str:
    """Return a path or URL without who asks for it, and how."""
    return re.sub(r"//[^/@]*@", "//", location).partition("?")[0]


def keeps_nothing(facts: Facts) -> bool:
    """Say whether a write goes to no dataset: thrown away, printed, or given to the program itself."""
    provider = str(facts.get("provider") or "").rstrip("$")
    return provider.startswith("org.apache.spark.sql.") and provider.endswith(_NOWHERE)


SOURCE = Source(name="unknown", probes=PROBES, identify=identify, options=frozenset((*_INSIDE, *_NAMES)))
