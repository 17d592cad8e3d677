"""Tables and views of the session's catalog, as commands create, change, load, rename and drop them.

A command is reported after it ran. What it left is asked of the catalog; of what is gone the catalog can
only say where tables of its database lie when nobody gave them a place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Optional, Tuple

from airflow_provider_spark_lineage.sources import files
from airflow_provider_spark_lineage.sources.catalogs import (
    SESSION_CATALOG,
    SET_LOCATION,
    SETTINGS,
    entries,
    symlinks,
    table_facts,
    table_name,
)
from airflow_provider_spark_lineage.sources.dataset import (
    DROPPED,
    DROPPED_EXISTS,
    MADE_EXISTS,
    DatasetId,
    Facts,
    Identity,
    Probe,
    Source,
)
from airflow_provider_spark_lineage.sources.paths import is_complete, split_location


def _table(node: str, table: str, **more: str) -> Probe:
    """Ask for a table that is there after the command; `table` leads to its identifier."""
    metadata = f"{SESSION_CATALOG}.getTableMetadata({table})"
    accessors = {
        **table_facts(metadata),
        "default_location": f"{SESSION_CATALOG}.defaultTablePath({table})",
        "schema": f"{metadata}.schema.json",
        "table": f"{metadata}.identifier.nameParts[]",
        "command_table": f"{table}.nameParts[]",
        **more,
        **SETTINGS,
    }
    return Probe(node=node, target=True, accessors=accessors)


def _created(node: str, table: str, if_not_exists: str) -> Tuple[Probe, Probe]:
    """Ask for a table that a command makes, and before it runs, whether there is one already."""
    exists = {"existed": f"{SESSION_CATALOG}.tableExists({table})"}
    return (
        _table(node, table, if_not_exists=if_not_exists),
        Probe(node=node, before=True, accessors=exists),
    )


def _view(node: str, when: Tuple[str, ...] = (), **more: str) -> Probe:
    metadata = f"{SESSION_CATALOG}.getTableMetadata(name)"
    accessors = {
        "view": f"{metadata}.identifier.nameParts[]",
        "command_table": "name.nameParts[]",
        "schema": f"{metadata}.schema.json",
        "mode": "getClass.getSimpleName",
        **more,
        **SETTINGS,
    }
    return Probe(node=node, target=True, accessors=accessors, when=when)


_RENAMED = "oldName.copy(newName.table, oldName.database, oldName.catalog)"
"""The new name, which a command may give without its database."""

PROBES = (
    *_created("CreateDataSourceTableCommand", "table.identifier", "ignoreIfExists"),
    *_created("CreateTableCommand", "table.identifier", "ignoreIfExists"),
    *_created("CreateTableLikeCommand", "targetTable", "ifNotExists"),
    _table("TruncateTableCommand", "tableName", partitions="partitionSpec?.size"),
    _table("AlterTableAddColumnsCommand", "table"),
    *(
        _table(node, "tableName")
        for node in (
            "AlterTableAddPartitionCommand",
            "AlterTableChangeColumnCommand",
            "AlterTableDropPartitionCommand",
            "AlterTableRenamePartitionCommand",
            "RepairTableCommand",
        )
    ),
    _table(SET_LOCATION, "tableName", command="getClass.getSimpleName"),
    *(_table(node, "tableIdent") for node in ("AnalyzeColumnCommand", "AnalyzePartitionCommand")),
    _table(
        "AlterTableRenameCommand",
        _RENAMED,
        is_view="isView",
        previous_table="oldName.nameParts[]",
        previous_location=f"{SESSION_CATALOG}.defaultTablePath(oldName)",
    ),
    _table(
        "LoadDataCommand",
        "table",
        loaded="path",
        is_local="isLocal",
        overwrite="isOverwrite",
        partitions="partition?.size",
        partition_columns=f"{SESSION_CATALOG}.getTableMetadata(table).partitionColumnNames[]",
    ),
    Probe(
        node="DropTableCommand",
        target=True,
        accessors={
            "table": "tableName.nameParts[]",
            "is_view": "isView",
            "if_exists": "ifExists",
            **SETTINGS,
        },
    ),
    Probe(
        node="DropTableCommand",
        before=True,
        accessors={
            "existed": f"{SESSION_CATALOG}.tableExists(tableName)",
            **table_facts(f"{SESSION_CATALOG}.getTableMetadata(tableName)"),
        },
    ),
    Probe(
        node="DropTable",
        target=True,
        accessors={
            "table_text": "child.identifier.toString",
            "catalog": "child.catalog.name",
            "if_exists": "ifExists",
            **SETTINGS,
        },
    ),
    Probe(
        node="DropTable",
        before=True,
        of=DROPPED,
        relation="V1Table",
        accessors={"existed": DROPPED_EXISTS, **table_facts(f"{DROPPED}.v1Table")},
    ),
    # Of any other catalog.
    Probe(node="DropTable", before=True, accessors={"existed": DROPPED_EXISTS}),
    *(
        Probe(node=node, before=True, accessors={"existed": MADE_EXISTS})
        for node in ("CreateTable", "ReplaceTable", "ReplaceTableAsSelect")
    ),
    *(
        Probe(
            node=node,
            target=True,
            accessors={"database": f"{database}.toString", "cascade": "cascade", **SETTINGS},
        )
        for node, database in (("DropDatabaseCommand", "databaseName"), ("DropNamespace", "child"))
    ),
    _view("CreateViewCommand", when=("viewType", "PersistedView"), if_not_exists="allowExisting"),
    Probe(
        node="CreateViewCommand",
        before=True,
        accessors={"existed": f"{SESSION_CATALOG}.tableExists(name)"},
        when=("viewType", "PersistedView"),
    ),
    _view("AlterViewAsCommand"),
)


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name a view by its catalog: it lies nowhere."""
    is_view = facts.get("is_view") or facts.get("table_type") == "VIEW"
    name = facts.get("view") or (table_name(facts) if is_view else ())
    if not name:
        return ()
    named = {**facts, "table": name, "table_text": ""}
    return tuple(replace(one, type="VIEW") for one in entries(named))


def previous(facts: Facts) -> Tuple[DatasetId, ...]:
    """Return what a renamed table was called before: by its place if that moved, else by its catalog."""
    given = {**facts, "table": facts.get("previous_table"), "command_table": ()}
    place, default = (split_location(str(facts.get(fact))) for fact in ("location", "default_location"))
    if place == default and reaches_data("renamed", facts) and facts.get("previous_location"):
        places = files.identify({**given, "location": facts["previous_location"]})
        return tuple(one.id for one in places)
    return tuple(DatasetId(one.namespace, one.name) for one in symlinks(given))


def loaded(facts: Facts) -> Tuple[Identity, ...]:
    """Name the place that LOAD DATA moved or copied files from."""
    path = str(facts.get("loaded") or "")
    if facts.get("is_local") and not is_complete(path):
        path = "file:" + path
    return files.identify({"paths": [path]}) if path else ()


def reaches_data(change: str, facts: Facts) -> Optional[bool]:
    """Return whether a command on a table of the session's catalog reaches its files: if that manages them.

    A managed table of a source that keeps its rows elsewhere, a database for example, has an empty folder.
    """
    kind = facts.get("table_type")
    if kind is None:
        return True if facts.get("view") or facts.get("is_view") else None
    if kind == "VIEW":
        return True
    return kind == "MANAGED" and files.keeps(facts) and facts.get("command") != SET_LOCATION


SOURCE = Source(name="tables", probes=PROBES, identify=identify, entries=entries, reaches_data=reaches_data)
