"""Relations that no other source knows: probed for whatever name they have, so that they stay visible."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Tuple

from airflow_provider_spark_lineage.sources import files
from airflow_provider_spark_lineage.sources.catalogs import SETTINGS
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Probe, Source
from airflow_provider_spark_lineage.sources.jdbc import COLUMN_CHANGES
from airflow_provider_spark_lineage.sources.paths import completed

_FILE_SYSTEM = "$session.sparkContext.hadoopConfiguration.get('fs.defaultFS')"

PROBES = (
    Probe(
        node="LogicalRelation",
        relation="*",
        accessors={
            "relation_class": "relation.getClass.getName",
            "options": "$options(catalogTable?.storage.properties)",
            "table": "catalogTable?.identifier.nameParts[]",
            **SETTINGS,
            "kept_at": "catalogTable?.storage.locationUri?",
            "kept_by": "catalogTable?.tableType.name",
        },
    ),
    *(
        Probe(
            node=node,
            accessors={
                "v2_table": f"{relation}table.name",
                "v2_catalog": f"{relation}catalog?.name",
                "provider": f"{relation}table.getClass.getName",
                "options": f"$options({relation}options)",
                "file_system": _FILE_SYSTEM,
                # What extends Spark's `FileTable` is files, whoever wrote it: `files` names it.
                "paths": f"{relation}table.fileIndex.rootPaths[]",
                "format": f"{relation}table.formatName",
            },
        )
        for node, relation in (("DataSourceV2Relation", ""), ("DataSourceV2ScanRelation", "relation."))
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
            accessors={
                "if_not_exists": "ignoreIfExists",
                "schema": "query.schema.json",
                "mode": "getClass.getSimpleName",
            },
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
            "file_system": _FILE_SYSTEM,
            "mode": "mode",
            "schema": "query.schema.json",
        },
    ),
)


_INSIDE = ("database", "keyspace", "schema", "dbtable", "table", "collection", "topic", "index")
"""Options that name something in a system, from the whole to its parts."""

_NAMES = ("path", "url")

_PATH = re.compile(r"/|(?!https?:)[A-Za-z][\w+.-]+:/")
"""How a path in a file system begins; another is relative, or a name that some system calls a path."""

_NOWHERE = (".NoopTable", ".ConsoleTable", ".MemorySink", ".ForeachWriterTable")


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name a relation by its catalog, by what its options say, by its own words, or by its class.

    The lineage says in a gap that such a name was not made by a known source.
    """
    provider = str(facts.get("relation_class") or facts.get("provider") or "")
    if not provider:
        return ()
    namespace = str(facts.get("v2_catalog") or _called(provider))
    options = facts.get("options") or {}
    told = ".".join(options[name] for name in _INSIDE if options.get(name))
    own = str(facts.get("v2_table") or "")
    named = (own if facts.get("v2_catalog") else "") or told
    found = {} if named else _files(facts)
    if found:
        return tuple(replace(one, known=False) for one in files.identify({**facts, **found}))
    said = next((options[name] for name in _NAMES if options.get(name)), "")
    name = named or _place(said) or own or provider
    return (Identity(id=DatasetId(namespace, name), known=False),)


def _called(provider: str) -> str:
    """Return the simple name of a class; of a `DefaultSource`, the package by which programs call it."""
    package, _, name = provider.rpartition(".")
    return package if name == "DefaultSource" and package else name.rstrip("$")


def _files(facts: Facts) -> Facts:
    """Return where the file or folder lies that a source was given, as `files` knows it; nothing without one.

    The catalog has a location for tables that Spark manages as well, where a source that keeps its rows
    elsewhere has nothing.
    """
    path = str((facts.get("options") or {}).get("path") or "")
    if _PATH.match(path):
        return {"paths": completed(path, str(facts.get("file_system") or ""))}
    location = facts.get("kept_at") if facts.get("kept_by") == "EXTERNAL" else ""
    return {"location": location} if location else {}


def _place(location: str) -> str:
    """Return a path or URL without who asks for it, and how."""
    return re.sub(r"//[^/@]*@", "//", location).partition("?")[0]


_MAKING = (".RateStreamTable", ".RatePerMicroBatchTable")


def makes_rows(facts: Facts) -> bool:
    """Return whether a relation reads nothing: Spark makes its rows up, to try a stream with."""
    provider = str(facts.get("provider") or "")
    return provider.startswith("org.apache.spark.sql.") and provider.endswith(_MAKING)


def keeps_nothing(facts: Facts) -> bool:
    """Say whether a write goes to no dataset: thrown away, printed, or given to the program itself."""
    provider = str(facts.get("provider") or "").rstrip("$")
    return provider.startswith("org.apache.spark.sql.") and provider.endswith(_NOWHERE)


SOURCE = Source(name="unknown", probes=PROBES, identify=identify, options=frozenset((*_INSIDE, *_NAMES)))
