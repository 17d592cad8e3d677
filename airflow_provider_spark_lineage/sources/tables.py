"""Tables and views of the session's catalog, as commands create, change, load, rename and drop them.

A command is reported after it ran. The catalog describes tables that exist; for a dropped table, it has only
the default location of tables in the database.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Tuple

from airflow_provider_spark_lineage.sources.accessors import (
    DROPPED,
    DROPPED_EXISTS,
    MADE_EXISTS,
    SESSION_CATALOG,
    SET_LOCATION,
    SETTINGS,
    table_facts,
)
from airflow_provider_spark_lineage.sources.catalogs import entries, table_name
from airflow_provider_spark_lineage.sources.dataset import Facts, Identity
from airflow_provider_spark_lineage.sources.files import Files
from airflow_provider_spark_lineage.sources.paths import is_complete
from airflow_provider_spark_lineage.sources.probe import Probe
from airflow_provider_spark_lineage.sources.source import Source


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


class Tables(Source[Facts]):
    """Views, which have no data, and commands on tables, which other sources name by their data."""

    probes = PROBES

    def identify(self) -> Tuple[Identity, ...]:
        """Return a view, named by its catalog because it has no location."""
        is_view = self.facts.get("is_view") or self.facts.get("table_type") == "VIEW"
        name = self.facts.get("view") or (table_name(self.facts) if is_view else ())
        if not name:
            return ()
        of_view: Facts = {**self.facts, "table": list(name), "table_text": ""}
        return tuple(replace(entry, type="VIEW") for entry in entries(of_view))


def loaded(facts: Facts) -> Tuple[Identity, ...]:
    """Return the source dataset of LOAD DATA, which moves or copies files."""
    path = str(facts.get("loaded") or "")
    if facts.get("is_local") and not is_complete(path):
        path = "file:" + path
    return Files({"paths": [path]}).identify() if path else ()
