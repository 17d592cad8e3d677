"""Tables and views of the session's catalog, as commands create, change, load, rename and drop them.

A command is reported after it ran. The catalog describes tables that exist; for a dropped table, it has only
the default location of tables in the database.
"""

from __future__ import annotations

from dataclasses import replace
from typing import List, Optional, Tuple

from airflow_provider_spark_lineage.sources import files
from airflow_provider_spark_lineage.sources.accessors import (
    DROPPED,
    DROPPED_EXISTS,
    MADE_EXISTS,
    SESSION_CATALOG,
    SETTINGS,
    table_facts,
)
from airflow_provider_spark_lineage.sources.catalogs import entries, metastore, symlinks, table_name
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Probe, Source
from airflow_provider_spark_lineage.sources.paths import is_complete, split_location

_SET_LOCATION = "AlterTableSetLocationCommand"
"""The command that lets a table's name refer to other files."""


class TableFacts(files.FileFacts, total=False):
    """Facts of a command's table or view."""

    view: List[str]
    """Parts of a view's name."""

    is_view: bool
    """The command is about a view."""

    command: str
    """Class of the command, if the commands of one probe differ."""

    database: str
    """Spark's text for the dropped database."""

    previous_table: List[str]
    """Parts of the old name of a renamed table."""

    previous_location: str
    """The catalog's default location of a managed table with the old name."""


def _table(node: str, table: str, **more: str) -> Probe:
    """Return the probe of a table that exists after the command; `table` is the path to its identifier."""
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
    """Return the probes of a table that a command creates: one after it ran, one for its existence before."""
    exists = {"existed": f"{SESSION_CATALOG}.tableExists({table})"}
    return (
        _table(node, table, if_not_exists=if_not_exists),
        Probe(node=node, before=True, accessors=exists),
    )


def _view(node: str, when: Tuple[str, ...] = (), **more: str) -> Probe:
    """Return the probe of a persistent view that exists after the command."""
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
"""The new name; RENAME TO without a database keeps the old database."""

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
    _table(_SET_LOCATION, "tableName", command="getClass.getSimpleName"),
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
    # A table of any other catalog.
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


def identify(facts: TableFacts) -> Tuple[Identity, ...]:
    """Return a view, named by its catalog because it has no location."""
    is_view = facts.get("is_view") or facts.get("table_type") == "VIEW"
    name = facts.get("view") or (table_name(facts) if is_view else ())
    if not name:
        return ()
    of_view: TableFacts = {**facts, "table": list(name), "table_text": ""}
    return tuple(replace(entry, type="VIEW") for entry in entries(of_view))


def previous(facts: TableFacts) -> Tuple[DatasetId, ...]:
    """Return the old name of a renamed table: its old location if its data moved, else its catalog entry."""
    before: TableFacts = {**facts, "table": facts.get("previous_table") or [], "command_table": []}
    location = split_location(str(facts.get("location")))
    default = split_location(str(facts.get("default_location")))
    if location == default and reaches_data("renamed", facts) and facts.get("previous_location"):
        before["location"] = facts["previous_location"]
        return tuple(identity.id for identity in files.identify(before))
    return tuple(DatasetId(name.namespace, name.name) for name in symlinks(before))


def loaded(facts: Facts) -> Tuple[Identity, ...]:
    """Return the source dataset of LOAD DATA, which moves or copies files."""
    path = str(facts.get("loaded") or "")
    if facts.get("is_local") and not is_complete(path):
        path = "file:" + path
    return files.identify({"paths": [path]}) if path else ()


def reaches_data(change: str, facts: TableFacts) -> Optional[bool]:
    """Return whether a command on a table of the session's catalog changes files that the catalog manages.

    A managed table of a source that stores its rows elsewhere, as in a database, has an empty folder.
    """
    kind = facts.get("table_type")
    if kind is None:
        return True if facts.get("view") or facts.get("is_view") else None
    if kind == "VIEW":
        return True
    return kind == "MANAGED" and files.is_stored_in_files(facts) and facts.get("command") != _SET_LOCATION


SOURCE = Source(
    name="tables",
    probes=PROBES,
    identify=identify,
    names_of_table=symlinks,
    metastore=metastore,
    entries=entries,
    previous=previous,
    reaches_data=reaches_data,
)
