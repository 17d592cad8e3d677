"""Relations that no other source knows, probed for any name so that they are reported."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Mapping, Optional, Tuple, cast

from airflow_provider_spark_lineage.spark.sources.accessors import (
    BY_CLASS,
    BY_MODE,
    BY_OUTPUT_MODE,
    COLUMN_CHANGES,
    FILE_SYSTEM,
    IF_NOT_EXISTS,
    NAMED,
    SCHEMA,
    V2_CHANGES,
    V2_WRITES,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity
from airflow_provider_spark_lineage.spark.sources.files import FileFacts, Files
from airflow_provider_spark_lineage.spark.sources.paths import completed
from airflow_provider_spark_lineage.spark.sources.probe import read, write
from airflow_provider_spark_lineage.spark.sources.source import Source


class UnknownFacts(FileFacts, total=False):
    """Facts of a relation whose class no other source probes."""

    kept_at: str
    """Location of the relation's table in the session's catalog."""

    kept_by: str
    """Type of that table: `EXTERNAL` or `MANAGED`."""


def _v2(table: str, relation: str = "") -> Mapping[str, str]:
    """Return accessors for a V2 table and its catalog; `relation` is the path to its relation."""
    return {
        "v2_table": f"{table}.name",
        "v2_catalog": f"{relation}catalog?.name",
        "provider": f"{table}.getClass.getName",
    }


def _name(resolved: str) -> Mapping[str, str]:
    """Return accessors for a name in an unknown catalog, for which the lineage has a gap."""
    return {"table_text": f"{resolved}.identifier.toString", "catalog": f"{resolved}.catalog.name"}


PROBES = (
    *read(
        "LogicalRelation",
        relation="*",
        accessors={
            "relation_class": "relation.getClass.getName",
            "options": "$options(catalogTable?.storage.properties)",
            **NAMED,
            "kept_at": "catalogTable?.storage.locationUri?",
            "kept_by": "catalogTable?.tableType.name",
        },
    ),
    *(
        probe
        for node, relation in (("DataSourceV2Relation", ""), ("DataSourceV2ScanRelation", "relation."))
        for probe in read(
            node,
            {
                **_v2(f"{relation}table", relation),
                "options": f"$options({relation}options)",
                "file_system": FILE_SYSTEM,
                # Any subclass of Spark's `FileTable` has these, and is then named by `files`.
                "paths": f"{relation}table.fileIndex.rootPaths[]",
                "format": f"{relation}table.formatName",
            },
        )
    ),
    *write(V2_WRITES, {**_v2("table.table", "table."), "options": "$options(table.options)", **BY_CLASS}),
    *read("StreamingDataSourceV2Relation", _v2("table")),
    *read("StreamingDataSourceV2ScanRelation", _v2("relation.table", "relation.")),
    # Since Spark 4.3 the sink's table is a relation.
    *write(
        "WriteToMicroBatchDataSource",
        {**_v2("table.table", "table."), **BY_OUTPUT_MODE},
        of="table",
        relation="DataSourceV2Relation",
    ),
    *write(
        "WriteToMicroBatchDataSource", {**_v2("table", "table."), **BY_OUTPUT_MODE}, of="table", relation="*"
    ),
    *(
        probe
        for node, relation in V2_CHANGES
        for probe in write(
            node, {**_v2(f"{relation}.table", f"{relation}."), "mode": "getClass.getSimpleName"}
        )
    ),
    *write("CreateTableAsSelect", {**IF_NOT_EXISTS, **BY_CLASS}),
    *write("ReplaceTableAsSelect", BY_CLASS),
    *write(("CreateTable", "ReplaceTable"), _name("name")),
    *write("RenameTable", _name("child")),
    *write((*COLUMN_CHANGES, "TruncateTable"), _name("table")),
    *write(
        "InsertIntoDataSourceCommand",
        {"relation_class": "logicalRelation.relation.getClass.getName", "overwrite": "overwrite", **SCHEMA},
    ),
    *write(
        "SaveIntoDataSourceCommand",
        {
            "relation_class": "dataSource.getClass.getName",
            "options": "$options(options)",
            "file_system": FILE_SYSTEM,
            **BY_MODE,
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
        path = completed(path, str(facts.get("file_system") or ""))
        return cast(FileFacts, {**facts, "paths": path})
    if facts.get("kept_at") and facts.get("kept_by") == "EXTERNAL":
        return cast(FileFacts, {**facts, "location": facts["kept_at"]})
    return None


def _without_login(location: str) -> str:
    """Return a path or URL without login and parameters."""
    return re.sub(r"//[^/@]*@", "//", location).partition("?")[0]
