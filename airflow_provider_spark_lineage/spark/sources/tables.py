"""Tables and views of the session's catalog, as commands create, change, load, rename and drop them.

A command is reported after it ran. The catalog describes tables that exist; for a dropped table, it has only
the default location of tables in the database.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Sequence, Tuple

from airflow_provider_spark_lineage.spark.sources.accessors import (
    DROPPED,
    DROPPED_EXISTS,
    MADE_EXISTS,
    SESSION_CATALOG,
    SET_LOCATION,
    SETTINGS,
    table_facts,
)
from airflow_provider_spark_lineage.spark.sources.catalogs import entries, table_name
from airflow_provider_spark_lineage.spark.sources.dataset import Facts, Identity
from airflow_provider_spark_lineage.spark.sources.files import Files
from airflow_provider_spark_lineage.spark.sources.paths import is_complete, is_within
from airflow_provider_spark_lineage.spark.sources.probe import Names, Probe, read, write
from airflow_provider_spark_lineage.spark.sources.source import Source


def _table(nodes: Names, table: str, **more: str) -> Tuple[Probe, ...]:
    """Return probes of a table that exists after the command; `table` is the path to its identifier."""
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
    return write(nodes, accessors)


def _created(nodes: Names, table: str, if_not_exists: str) -> Tuple[Probe, ...]:
    """Return probes of a table that a command creates: after it ran, and for its existence before."""
    exists = {"existed": f"{SESSION_CATALOG}.tableExists({table})"}
    return (*_table(nodes, table, if_not_exists=if_not_exists), *read(nodes, exists, before=True))


def _view(node: str, when: Tuple[str, ...] = (), **more: str) -> Tuple[Probe, ...]:
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
    return write(node, accessors, when=when)


_RENAMED = "oldName.copy(newName.table, oldName.database, oldName.catalog)"
"""The new name; RENAME TO without a database keeps the old database."""

_PERSISTENT = ("viewType", "PersistedView")

_FILE_SYSTEM = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?")

PROBES = (
    *_created(("CreateDataSourceTableCommand", "CreateTableCommand"), "table.identifier", "ignoreIfExists"),
    *_created("CreateTableLikeCommand", "targetTable", "ifNotExists"),
    *_table("TruncateTableCommand", "tableName", partitions="partitionSpec?.size"),
    *_table("AlterTableAddColumnsCommand", "table"),
    *_table(
        (
            "AlterTableChangeColumnCommand",
            "AlterTableDropPartitionCommand",
            "AlterTableRenamePartitionCommand",
            "RepairTableCommand",
        ),
        "tableName",
    ),
    *_table(
        "AlterTableAddPartitionCommand",
        "tableName",
        # An `Option`: its text is empty without a location.
        partition_locations="partitionSpecsAndLocs[]._2.toList.mkString[]",
        partition_columns=f"{SESSION_CATALOG}.getTableMetadata(tableName).partitionColumnNames[]",
    ),
    *_table(
        SET_LOCATION,
        "tableName",
        command="getClass.getSimpleName",
        partitions="partitionSpec?.size",
        set_location="location",
        partition_columns=f"{SESSION_CATALOG}.getTableMetadata(tableName).partitionColumnNames[]",
    ),
    *_table(("AnalyzeColumnCommand", "AnalyzePartitionCommand"), "tableIdent"),
    *_table(
        "AlterTableRenameCommand",
        _RENAMED,
        is_view="isView",
        previous_table="oldName.nameParts[]",
        previous_location=f"{SESSION_CATALOG}.defaultTablePath(oldName)",
    ),
    *_table(
        "LoadDataCommand",
        "table",
        loaded="path",
        is_local="isLocal",
        overwrite="isOverwrite",
        partitions="partition?.size",
        partition_columns=f"{SESSION_CATALOG}.getTableMetadata(table).partitionColumnNames[]",
    ),
    *write(
        "DropTableCommand",
        {"table": "tableName.nameParts[]", "is_view": "isView", "if_exists": "ifExists", **SETTINGS},
    ),
    *read(
        "DropTableCommand",
        {
            "existed": f"{SESSION_CATALOG}.tableExists(tableName)",
            **table_facts(f"{SESSION_CATALOG}.getTableMetadata(tableName)"),
        },
        before=True,
    ),
    *write(
        "DropTable",
        {
            "table_text": "child.identifier.toString",
            "catalog": "child.catalog.name",
            "if_exists": "ifExists",
            **SETTINGS,
        },
    ),
    *read(
        "DropTable",
        {"existed": DROPPED_EXISTS, **table_facts(f"{DROPPED}.v1Table")},
        before=True,
        of=DROPPED,
        relation="V1Table",
    ),
    # A table of any other catalog.
    *read("DropTable", {"existed": DROPPED_EXISTS}, before=True),
    *read(("CreateTable", "ReplaceTable", "ReplaceTableAsSelect"), {"existed": MADE_EXISTS}, before=True),
    *write("DropDatabaseCommand", {"database": "databaseName.toString", "cascade": "cascade", **SETTINGS}),
    *write("DropNamespace", {"database": "child.toString", "cascade": "cascade", **SETTINGS}),
    *_view("CreateViewCommand", when=_PERSISTENT, if_not_exists="allowExisting"),
    *read(
        "CreateViewCommand",
        {"existed": f"{SESSION_CATALOG}.tableExists(name)"},
        before=True,
        when=_PERSISTENT,
    ),
    *_view("AlterViewAsCommand"),
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


def attached(facts: Facts, own: Sequence[Identity]) -> Tuple[Identity, ...]:
    """Return the datasets that become partitions of a table; `own` is where the table itself is.

    A partition in a folder inside the table's own folder is no other dataset.
    """
    stated = facts.get("partition_locations")
    if facts.get("partitions") and facts.get("set_location"):
        stated = [facts["set_location"]]
    # Spark puts a relative location into the table's folder, and one without a scheme on its file system.
    file_system = _FILE_SYSTEM.match(str(facts.get("location") or facts.get("default_location") or ""))
    given = [str(path) for path in (stated if isinstance(stated, list) else ()) if path]
    paths = [
        path if is_complete(path) or not file_system else file_system[0] + path
        for path in given
        if is_complete(path) or path.startswith("/")
    ]
    return tuple(
        identity
        for identity in (Files({"paths": paths}).identify() if paths else ())
        if not any(
            identity.id.namespace == place.id.namespace
            and is_within(identity.id.name.strip("/"), place.id.name.strip("/"))
            for place in own
        )
    )
