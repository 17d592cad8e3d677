"""Tables and views of the session's catalog, as commands create, change, load, rename and drop them.

A command is reported after it ran. What it left is asked of the catalog; of what is gone the catalog can
only say where tables of its database lie when nobody gave them a place.
"""

from __future__ import annotations

from typing import Tuple

from airflow_provider_spark_lineage.sources import files
from airflow_provider_spark_lineage.sources.catalogs import (
    CHILD,
    SESSION_CATALOG,
    SETTINGS,
    metastore,
    symlinks,
    table_name,
)
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Probe, Source
from airflow_provider_spark_lineage.sources.paths import is_complete, split_location


def _table(node: str, table: str, **more: str) -> Probe:
    """Ask for a table that is there after the command; `table` leads to its identifier."""
    metadata = f"{SESSION_CATALOG}.getTableMetadata({table})"
    accessors = {
        "location": f"{metadata}.storage.locationUri?",
        "default_location": f"{SESSION_CATALOG}.defaultTablePath({table})",
        "format": f"{metadata}.provider?",
        "schema": f"{metadata}.schema.json",
        "table": f"{metadata}.identifier.nameParts[]",
        "command_table": f"{table}.nameParts[]",
        **more,
        **SETTINGS,
    }
    return Probe(node=node, target=True, accessors=accessors)


def _created(node: str, table: str, if_not_exists: str, **more: str) -> Probe:
    return _table(
        node,
        table,
        if_not_exists=if_not_exists,
        external=f"{SESSION_CATALOG}.getTableMetadata({table}).tableType.name",
        created_at=f"{SESSION_CATALOG}.getTableMetadata({table}).createTime",
        **more,
    )


def _view(node: str, when: Tuple[str, ...] = ()) -> Probe:
    metadata = f"{SESSION_CATALOG}.getTableMetadata(name)"
    accessors = {
        "view": f"{metadata}.identifier.nameParts[]",
        "command_table": "name.nameParts[]",
        "schema": f"{metadata}.schema.json",
        "mode": "getClass.getSimpleName",
        **SETTINGS,
    }
    return Probe(node=node, target=True, accessors=accessors, when=when)


_RENAMED = "oldName.copy(newName.table, oldName.database, oldName.catalog)"
"""The new name, which a command may give without its database."""

PROBES = (
    _created(
        "CreateDataSourceTableCommand", "table.identifier", "ignoreIfExists", asked_at="table.createTime"
    ),
    _created("CreateTableCommand", "table.identifier", "ignoreIfExists", asked_at="table.createTime"),
    _created("CreateTableLikeCommand", "targetTable", "ifNotExists"),
    _table("TruncateTableCommand", "tableName", partitions="partitionSpec?.size"),
    _table("AlterTableAddColumnsCommand", "table"),
    *(
        _table(node, "tableName")
        for node in (
            "AlterTableAddPartitionCommand",
            "AlterTableChangeColumnCommand",
            "AlterTableDropPartitionCommand",
            "AlterTableRenamePartitionCommand",
            "AlterTableSetLocationCommand",
            "RepairTableCommand",
        )
    ),
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
            "default_location": f"{SESSION_CATALOG}.defaultTablePath(tableName)",
            "is_view": "isView",
            "if_exists": "ifExists",
            **SETTINGS,
        },
    ),
    Probe(
        node="DropTable",
        target=True,
        accessors={
            "table_text": "child.identifier.toString",
            "catalog": "child.catalog.name",
            "default_location": f"{SESSION_CATALOG}.defaultTablePath({CHILD})",
            "if_exists": "ifExists",
            **SETTINGS,
        },
    ),
    _view("CreateViewCommand", when=("viewType", "PersistedView")),
    _view("AlterViewAsCommand"),
)


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name a view by its catalog: it lies nowhere."""
    name = facts.get("view") or (table_name(facts) if facts.get("is_view") else ())
    if not name:
        return ()
    named = {**facts, "table": name, "table_text": ""}
    return tuple(
        Identity(DatasetId(one.namespace, one.name), one.namespace, type="VIEW", catalog=metastore(named))
        for one in symlinks(named)
    )


def previous(facts: Facts) -> Tuple[DatasetId, ...]:
    """Return what a renamed table was called before: by its place if that moved, else by its catalog."""
    given = {**facts, "table": facts.get("previous_table"), "command_table": ()}
    place, default = (split_location(str(facts.get(fact))) for fact in ("location", "default_location"))
    if place == default and not facts.get("is_view") and facts.get("previous_location"):
        places = files.identify({**given, "location": facts["previous_location"]})
        return tuple(one.id for one in places)
    return tuple(DatasetId(one.namespace, one.name) for one in symlinks(given))


def loaded(facts: Facts) -> Tuple[Identity, ...]:
    """Name the place that LOAD DATA moved or copied files from."""
    path = str(facts.get("loaded") or "")
    if facts.get("is_local") and not is_complete(path):
        path = "file:" + path
    return files.identify({"paths": [path]}) if path else ()


SOURCE = Source(name="tables", probes=PROBES, identify=identify)
