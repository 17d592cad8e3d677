"""Relations that no other source knows, probed for any name so that they are reported."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Optional, Tuple

from airflow_provider_spark_lineage.sources.accessors import (
    COLUMN_CHANGES,
    FILE_SYSTEM,
    SETTINGS,
    if_not_exists,
)
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Identity
from airflow_provider_spark_lineage.sources.files import FileFacts, Files
from airflow_provider_spark_lineage.sources.paths import completed
from airflow_provider_spark_lineage.sources.probe import Probe
from airflow_provider_spark_lineage.sources.source import Source


class UnknownFacts(FileFacts, total=False):
    """Facts of a relation whose class no other source probes."""

    kept_at: str
    """Location of the relation's table in the session's catalog."""

    kept_by: str
    """Type of that table: `EXTERNAL` or `MANAGED`."""


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
                "file_system": FILE_SYSTEM,
                # Any subclass of Spark's `FileTable` has these, and is then named by `files`.
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
                **if_not_exists(node),
                "schema": "query.schema.json",
                "mode": "getClass.getSimpleName",
            },
        )
        for node in ("CreateTableAsSelect", "ReplaceTableAsSelect")
    ),
    # A name in an unknown catalog, for which the lineage has a gap.
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
            "file_system": FILE_SYSTEM,
            "mode": "mode",
            "schema": "query.schema.json",
        },
    ),
)


_NAMING_OPTIONS = ("database", "keyspace", "schema", "dbtable", "table", "collection", "topic", "index")
"""Options that name an object in a system, from the outside in."""

_PLACE_OPTIONS = ("path", "url")

_PATH = re.compile(r"/|(?!https?:)[A-Za-z][\w+.-]+:/")
"""The beginning of an absolute path in a file system; any other text is relative, or not a path."""


class Unknown(Source[UnknownFacts]):
    """Relations that no other source knows."""

    probes = PROBES
    options = frozenset((*_NAMING_OPTIONS, *_PLACE_OPTIONS))

    def knows(self) -> bool:
        """Return True: this source is the last one."""
        return True

    def identify(self) -> Tuple[Identity, ...]:
        """Return a relation, named by its catalog, its options, its own name, or its class.

        The lineage has a gap for such a name.
        """
        provider = str(self.facts.get("relation_class") or self.facts.get("provider") or "")
        if not provider:
            return ()
        namespace = str(self.facts.get("v2_catalog") or _short_name(provider))
        options = self.facts.get("options") or {}
        name_in_options = ".".join(options[key] for key in _NAMING_OPTIONS if options.get(key))
        own_name = str(self.facts.get("v2_table") or "")
        name = (own_name if self.facts.get("v2_catalog") else "") or name_in_options
        of_files = None if name else _as_files(self.facts)
        if of_files:
            return tuple(replace(identity, known=False) for identity in Files(of_files).identify())
        place = next((options[key] for key in _PLACE_OPTIONS if options.get(key)), "")
        name = name or _without_login(place) or own_name or provider
        return (Identity(id=DatasetId(namespace, name), known=False),)


def _short_name(provider: str) -> str:
    """Return the simple name of a class; for a `DefaultSource`, its package, which programs use as format."""
    package, _, name = provider.rpartition(".")
    return package if name == "DefaultSource" and package else name.rstrip("$")


def _as_files(facts: UnknownFacts) -> Optional[FileFacts]:
    """Return the facts of a source's file or folder, for `files` to name; None without one.

    The catalog also has a location for managed tables, but a source that stores its rows elsewhere leaves
    that folder empty: only the location of an external table counts.
    """
    path = str((facts.get("options") or {}).get("path") or "")
    if _PATH.match(path):
        with_path: UnknownFacts = {**facts, "paths": completed(path, str(facts.get("file_system") or ""))}
        return with_path
    if facts.get("kept_at") and facts.get("kept_by") == "EXTERNAL":
        with_location: UnknownFacts = {**facts, "location": facts["kept_at"]}
        return with_location
    return None


def _without_login(location: str) -> str:
    """Return a path or URL without login and parameters."""
    return re.sub(r"//[^/@]*@", "//", location).partition("?")[0]
