"""Effects of a command without a query, by the facts of its table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from airflow_provider_spark_lineage.spark.lineage.commands import Effect, effect
from airflow_provider_spark_lineage.spark.lineage.model import ColumnChange, Mode
from airflow_provider_spark_lineage.spark.plan.algebra import Change, Command

DROP = Command((), (), "DropTable#0", relation="DropTable", change=Change.DROPPED)


def test_dropped_table_of_a_catalog_that_no_source_knows_is_a_gap() -> None:
    """Its name elsewhere is unknown, and its disappearance must not be silent."""
    facts = {"table_text": "db.t", "catalog": "shop"}
    lineage = effect(DROP, facts)
    assert lineage.outputs == ()
    assert [gap.kind.value for gap in lineage.gaps] == ["unnamed_dataset"]


SESSION = {"table_text": "db.t", "catalog": "spark_catalog", "warehouse": "file:/wh", "existed": True}
PARQUET = {"location": "file:/data/t", "format": "parquet"}


def named(lineage):
    return [(output.dataset.id.namespace, output.dataset.id.name) for output in lineage.outputs]


def test_drop_of_a_managed_table_removes_its_files() -> None:
    """The catalog owns them: the dataset is the location."""
    lineage = effect(DROP, {**SESSION, **PARQUET, "table_type": "MANAGED"})
    assert named(lineage) == [("file", "/data/t")]
    assert lineage.gaps == ()


@pytest.mark.parametrize(
    "facts",
    [
        {**PARQUET, "table_type": "EXTERNAL"},
        {
            "table_type": "MANAGED",
            "format": "jdbc",
            "location": "file:/wh/db.db/t",
            "options": {"url": "jdbc:h2:mem:shop", "dbtable": "orders"},
        },
        {"table_type": "MANAGED", "format": "com.shop.Orders", "location": "file:/wh/db.db/t"},
        {"table_type": "EXTERNAL", "delta_path": "file:/data/t"},
    ],
)
def test_drop_of_a_table_whose_data_lie_elsewhere_ends_its_name(facts) -> None:
    """The files of an external table, a database's table, the data of an unknown source: all outlive it."""
    lineage = effect(DROP, {**SESSION, **facts})
    assert named(lineage) == [("file:/wh", "db.t")]
    assert lineage.outputs[0].dataset.identity.symlinks == ()
    assert lineage.gaps == ()


def test_drop_that_nobody_asked_about_before_is_of_the_name_with_a_gap() -> None:
    """A dropped table cannot be asked any more: its place is not guessed."""
    facts = {name: value for name, value in SESSION.items() if name != "existed"}
    lineage = effect(DROP, facts)
    assert named(lineage) == [("file:/wh", "db.t")]
    assert [gap.kind.value for gap in lineage.gaps] == ["uncertain_change"]


def test_if_exists_that_found_nothing_did_nothing() -> None:
    """It was asked before whether there was something; the same of IF NOT EXISTS that found a table."""
    assert effect(DROP, {**SESSION, "existed": False, "if_exists": True}) == Effect()
    create = Command((), (), "CreateTable#0", change=Change.CREATED)
    assert effect(create, {**SESSION, **PARQUET, "table_type": "MANAGED", "if_not_exists": True}) == Effect()


@pytest.mark.parametrize(
    ("catalog", "purge", "name"),
    [
        ("rest", False, "db.t"),
        ("rest", True, "/wh/db/t"),
        ("hadoop", False, "/wh/db/t"),
        ("hive", False, "db.t"),
    ],
)
def test_drop_of_an_iceberg_table_leaves_its_files_but_for_purge(catalog, purge, name) -> None:
    """A catalog of folders removes the folder in any case."""
    facts = {
        "iceberg_location": "file:/wh/db/t",
        "identifier": "db.t",
        "v2_catalog": "lake",
        "catalog_type": catalog,
        "catalog_uri": "http://names:8181",
        "purge": purge,
        "existed": True,
    }
    assert [each for _, each in named(effect(DROP, facts))] == [name]


def test_tables_go_with_their_database() -> None:
    """CASCADE: managed tables with their files, names of others, and all data in the database's folder."""
    tables = [
        {
            **PARQUET,
            "table_type": "MANAGED",
            "table_text": "db.a",
            "existed": True,
            "location": "file:/wh/db.db/a",
        },
        {**PARQUET, "table_type": "EXTERNAL", "table_text": "db.b", "existed": True, "location": "file:/b"},
        {
            **PARQUET,
            "table_type": "EXTERNAL",
            "table_text": "db.c",
            "existed": True,
            "location": "file:/wh/db.db/c",
        },
        {"table_type": "VIEW", "table_text": "db.d", "existed": True},
    ]
    drop = Command((), (), "DropNamespace#0", change=Change.DROPPED)
    facts = {
        "database": "db",
        "warehouse": "file:/wh",
        "database_location": "file:/wh/db.db",
        "tables": tables,
    }
    lineage = effect(drop, {**facts, "unasked": 3})
    assert named(lineage) == [
        ("file", "/wh/db.db/a"),
        ("file:/wh", "db.b"),
        ("file", "/wh/db.db/c"),
        ("file:/wh", "db.d"),
    ]
    assert [gap.kind.value for gap in lineage.gaps] == ["unnamed_dataset"]


@pytest.mark.parametrize("change", [Change.CREATED, Change.ALTERED, Change.RENAMED, Change.EMPTIED])
def test_changed_table_of_a_catalog_that_no_source_knows_is_a_gap(change: Change) -> None:
    """The change has a gap, whatever it was."""
    lineage = effect(Command((), (), "X#0", change=change), {"table_text": "db.t", "catalog": "shop"})
    assert (lineage.outputs, [gap.kind.value for gap in lineage.gaps]) == ((), ["unnamed_dataset"])


@pytest.mark.parametrize("new", [["newer"], ["db", "newer"]])
def test_renamed_iceberg_table_lies_where_it_was(new: list[str]) -> None:
    """Its catalog's entry has another name, in the same namespace by default, for the same location."""
    facts = {
        "iceberg_location": "file:/wh/db/t",
        "identifier": "db.t",
        "new_name": new,
        "v2_catalog": "lake",
        "catalog_type": "rest",
        "catalog_uri": "http://names:8181",
    }
    (output,) = effect(Command((), (), "X#0", change=Change.RENAMED), facts).outputs
    assert output.dataset.id.name == "db.newer"
    assert [(link.name, link.type) for link in output.dataset.identity.symlinks] == [("/wh/db/t", "LOCATION")]
    assert output.previous is not None
    assert (output.previous.namespace, output.previous.name) == ("http://names:8181", "db.t")


def test_dropped_table_that_its_source_names_by_itself_is_sure() -> None:
    """Only IF EXISTS leaves open whether there was one."""
    facts = {"url": "jdbc:h2:mem:shop", "identifier": "app.t", "if_exists": False}
    assert effect(DROP, facts).gaps == ()
    (gap,) = effect(DROP, {**facts, "if_exists": True}).gaps
    assert gap.kind.value == "uncertain_change"


def test_an_emptied_partition_leaves_the_rest_of_the_table() -> None:
    """A table that lost some of its rows is not reported as emptied."""
    truncate = Command(
        (), (), "TruncateTableCommand#0", relation="TruncateTableCommand", change=Change.EMPTIED
    )
    facts = {**SESSION, **PARQUET, "table_type": "MANAGED"}
    assert [written.mode for written in effect(truncate, facts).outputs] == [Mode.TRUNCATE]
    drop = replace(truncate, relation="AlterTableDropPartitionCommand", change=Change.ALTERED)
    for command in (truncate, drop):
        (output,) = effect(command, {**facts, "partitions": 1}).outputs
        assert (output.mode, output.rewrites) == (Mode.ALTER, True)


ALTERED = Command((), (), "RenameColumn#0", relation="RenameColumn", change=Change.ALTERED)
ALTERED_TABLE = {**SESSION, **PARQUET, "table_type": "MANAGED"}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"renamed_column": ["s"], "new_column": "z"}, (ColumnChange("s", "z"),)),
        # A field of a struct: the column keeps its name and its sources.
        ({"renamed_column": ["address", "city"], "new_column": "town"}, ()),
        ({"dropped_columns": ["s", "address"], "dropped_depths": ["1", "2"]}, (ColumnChange("s"),)),
        # ALTER COLUMN names a column, too.
        ({"renamed_column": ["s"]}, ()),
        ({}, ()),
    ],
)
def test_columns_that_a_command_renames_or_drops(facts, expected) -> None:
    """Their sources follow, or end."""
    (output,) = effect(ALTERED, {**ALTERED_TABLE, **facts}).outputs
    assert output.changes == expected


def test_replace_columns_drops_all() -> None:
    """Columns with the old names are new ones."""
    (output,) = effect(replace(ALTERED, relation="ReplaceColumns"), ALTERED_TABLE).outputs
    assert output.changes == (ColumnChange(""),)


ADDED = Command((), (), "AlterTable#0", relation="AlterTableAddPartitionCommand", change=Change.ALTERED)
COLUMNS = {
    "schema": '{"fields": [{"name": "a", "type": "long"}, {"name": "day", "type": "string"}]}',
    "partition_columns": ["day"],
    "table_type": "EXTERNAL",
}


@pytest.mark.parametrize(
    "stated",
    [
        {"partition_locations": ["", "s3a://lake/raw/day=1"]},
        {"partitions": 1, "set_location": "s3a://lake/raw/day=1", "command": "AlterTableSetLocationCommand"},
    ],
)
def test_a_partition_with_a_folder_elsewhere_gives_its_table_the_rows_there(stated) -> None:
    """The dataset of the folder keeps its name; partition columns are not in its files."""
    lineage = effect(ADDED, {**SESSION, **PARQUET, **COLUMNS, **stated})
    assert named(lineage) == [("file", "/data/t")]
    (output,) = lineage.outputs
    assert output.mode is Mode.APPEND
    assert [(edge.source.name, edge.field, edge.column) for edge in output.edges] == [("raw", "a", "a")]
    assert [read.dataset.id for read in lineage.inputs] == [output.edges[0].source]


def test_the_folder_of_a_partition_is_on_the_file_system_of_its_table() -> None:
    """The default file system of the cluster may be another one."""
    table = {"location": "s3a://lake/data/t", "format": "parquet"}
    lineage = effect(ADDED, {**SESSION, **table, **COLUMNS, "partition_locations": ["/raw/day=1"]})
    assert [(read.dataset.id.namespace, read.dataset.id.name) for read in lineage.inputs] == [
        ("s3://lake", "raw")
    ]


@pytest.mark.parametrize(
    ("facts", "mode"),
    [
        ({"partition_locations": "s3a://lake/raw"}, Mode.ALTER),
        ({"partition_locations": ["s3a://lake/raw"], "partition_columns": None}, Mode.APPEND),
    ],
)
def test_facts_that_are_missing_or_of_another_form_fail_nothing(facts, mode) -> None:
    """The command is there in any case."""
    (output,) = effect(ADDED, {**SESSION, **PARQUET, **COLUMNS, **facts}).outputs
    assert output.mode is mode


@pytest.mark.parametrize(
    "stated",
    [
        {"partition_locations": [""]},
        # Relative to the table's folder.
        {"partition_locations": ["raw/day=1"]},
        {"partition_locations": ["file:/data/t/day=1", "file:///data/t/more"]},
        # The location of the whole table.
        {"set_location": "s3a://lake/raw"},
    ],
)
def test_a_partition_inside_its_table_brings_no_rows_from_elsewhere(stated) -> None:
    """Its files are the table's own, whoever wrote them."""
    lineage = effect(ADDED, {**SESSION, **PARQUET, **COLUMNS, **stated})
    assert lineage.inputs == ()
    assert [output.mode for output in lineage.outputs] == [Mode.ALTER]
