"""Facts about Iceberg tables to names: by location, at a snapshot, in any catalog."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.sources import identify, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import Before, Catalog, Symlink

TABLE = {
    "iceberg_location": "s3a://lake/db/t",
    "iceberg_kind": "BaseTable",
    "snapshot": 5937117119577207000,
    "identifier": "db.t",
    "v2_catalog": "lake",
    "catalog_type": "hadoop",
    "catalog_warehouse": "s3a://lake",
}


def test_a_table_is_named_by_its_location_at_a_snapshot():
    """The location is the name, the table in its catalog is a symlink."""
    (identity,) = identify(TABLE)
    assert (identity.id.namespace, identity.id.name) == ("s3://lake", "db/t")
    assert identity.symlinks == (Symlink("s3://lake/", "db.t"),)
    assert (identity.storage_layer, identity.version) == ("iceberg", "5937117119577207000")
    assert identity.catalog == Catalog("iceberg", "hadoop", "lake", "", "s3://lake/")


@pytest.mark.parametrize(
    ("settings", "expected", "namespace"),
    [
        ({"catalog_type": "hive", "catalog_uri": "thrift://meta:9083"}, "hive", "hive://meta:9083"),
        ({"catalog_type": "hive", "catalog_uri": "thrift://a:1,thrift://b:2"}, "hive", "hive://a:1"),
        ({"catalog_catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog"}, "glue", "s3://lake/"),
        (
            {
                "catalog_catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
                "catalog_uri": "jdbc:postgresql://u:p@pg/cat?x=1",
            },
            "jdbc",
            "postgres://pg:5432/cat",
        ),
        ({"catalog_type": "jdbc", "catalog_uri": "jdbc:sqlite:/c.sqlite"}, "jdbc", "sqlite:/c.sqlite"),
        ({"catalog_type": "rest", "catalog_uri": "http://rest:8181"}, "rest", "http://rest:8181"),
        ({}, "hive", "s3://lake/"),
    ],
)
def test_the_catalog_is_known_from_the_sessions_settings(settings, expected, namespace):
    """A catalog with a server of its own names its tables by the address, every other by its warehouse."""
    facts = {key: value for key, value in TABLE.items() if key != "catalog_type"}
    (identity,) = identify({**facts, **settings})
    assert identity.catalog is not None
    assert identity.catalog.type == expected
    assert identity.symlinks == (Symlink(namespace, "db.t"),)


@pytest.mark.parametrize("name", ["prod", "arn:aws:s3tables:us-east-1:1:bucket/lake"])
def test_a_warehouse_may_be_a_name_that_a_server_gave(name):
    """Such a warehouse is not a path, and stays as it is."""
    (identity,) = identify({**TABLE, "catalog_type": "rest", "catalog_warehouse": name})
    assert identity.catalog is not None
    assert identity.catalog.warehouse_uri == name


LOADED = {
    **TABLE,
    "snapshot": 1,
    "loaded_snapshot": 1,
    "is_refreshed": True,
    "last_snapshot": 2,
    "last_parent": 1,
    "last_commit_at": 50,
    "started_at": 100,
    "ended_at": 200,
}
"""A frame whose table was loaded at snapshot 1, and has snapshot 2 now."""


@pytest.mark.parametrize(
    ("facts", "version"),
    [
        ({}, "2"),
        ({"last_commit_at": 150}, "1"),
        ({"last_commit_at": 150, "last_parent": 3}, ""),
        ({"time_travel": "AsOfVersion"}, "1"),
        ({"is_refreshed": False}, "1"),
        ({"branch": "audit"}, "1"),
    ],
)
def test_a_frame_reads_the_last_snapshot_whenever_its_table_was_loaded(facts, version):
    """Spark loads it again before a read; several later commits hide which snapshot that was."""
    (identity,) = identify({**LOADED, **facts})
    assert identity.version == version


def test_the_query_of_an_rdd_reads_the_last_snapshot_without_a_time():
    """Spark reports no execution of it: its facts have no start."""
    (identity,) = identify({key: value for key, value in LOADED.items() if not key.endswith("ed_at")})
    assert identity.version == "2"


@pytest.mark.parametrize("missing", ["is_refreshed", "loaded_snapshot"])
def test_a_snapshot_of_older_versions_is_the_one_that_was_read(missing):
    """Before Spark 4.1 nothing is loaded again; older releases have a snapshot for time travel only."""
    (identity,) = identify({key: value for key, value in LOADED.items() if key != missing})
    assert identity.version == "1"


@pytest.mark.parametrize(
    ("facts", "is_chosen"),
    [(LOADED, False), ({**LOADED, "time_travel": "AsOfVersion"}, True), ({**TABLE, "snapshot": 1}, True)],
)
def test_a_snapshot_that_the_query_chose_is_known(facts, is_chosen):
    """Before Spark 4.1 only time travel has a snapshot."""
    (identity,) = identify(facts)
    assert identity.is_chosen is is_chosen


def test_a_branch_is_a_state_of_its_table():
    """The dataset is the table; a write has the branch's snapshot."""
    written = {**TABLE, "mode": "AppendData", "written_snapshot": 1, "branch_snapshot": 2}
    (identity,) = identify({**written, "v2_table": "lake.db.t", "identifier": "db.t.branch_audit"})
    assert identity.id.name == "db/t"
    assert identity.symlinks == (Symlink("s3://lake/", "db.t"),)
    assert identity.version == "2"
    (main,) = identify({key: value for key, value in written.items() if key != "branch_snapshot"})
    assert main.version == "1"


@pytest.mark.parametrize(
    ("table", "identifier", "name"),
    [
        ("lake.db.t", "db.t.`branch_audit-2024.1`", "db.t"),
        ("lake.db.t", "db.t.tag_old", "db.t"),
        ("lake.db.branch_offices", "db.branch_offices", "db.branch_offices"),
        ("lake.db.tag_names", "db.tag_names.branch_audit", "db.tag_names"),
    ],
)
def test_a_table_may_be_called_like_a_branch(table: str, identifier: str, name: str) -> None:
    """Iceberg's own name of the table tells a branch of `t` from a table in a namespace `t`."""
    (identity,) = identify({**TABLE, "v2_table": table, "identifier": identifier})
    assert identity.symlinks == (Symlink("s3://lake/", name),)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("SnapshotsTable", "db/t#snapshots"),
        ("AllDataFilesTable", "db/t#all_data_files"),
        ("ManifestEntriesTable", "db/t#entries"),
        ("BaseTable", "db/t"),
        ("TransactionTable", "db/t"),
    ],
)
def test_a_metadata_table_is_a_dataset_beside_its_table(kind, name):
    """It is named as Iceberg names it in paths, and has no version of its own."""
    (identity,) = identify({**TABLE, "iceberg_kind": kind})
    assert identity.id.name == name
    assert bool(identity.version) is ("#" not in name)


@pytest.mark.parametrize(
    ("settings", "namespace"),
    [
        ({"catalog_type": "hive", "catalog_uri": "thrift://m:9083"}, "hive://m:9083"),
        ({"catalog_type": "rest", "catalog_uri": "http://c:8181"}, "http://c:8181"),
        ({"catalog_catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog"}, "s3://lake/"),
    ],
)
def test_an_entry_is_in_the_namespace_of_its_catalog(settings, namespace):
    """The address of the server that keeps names, or the warehouse; the place of the data is not needed."""
    facts = {"v2_catalog": "lake", "identifier": "db.t", "catalog_warehouse": "s3://lake/", **settings}
    (entry,) = source_of(facts).entries()
    assert (entry.id.namespace, entry.id.name) == (namespace, "db.t")
    assert entry.is_entry
    assert identify(facts) == ()


def test_a_table_by_path_has_no_catalog():
    """A table that was loaded by its path is in no catalog."""
    (identity,) = identify({"iceberg_location": "/lake/db/t", "v2_catalog": "default_iceberg"})
    assert (identity.id.namespace, identity.id.name) == ("file", "/lake/db/t")
    assert identity.symlinks == ()
    assert identity.catalog is None


def test_a_procedures_own_reads_are_left_out():
    """Expiring snapshots lists the files of a metadata file, by a name that no user writes."""
    assert source_of({"v2_table": "/lake/db/t/metadata/v2.metadata.json#all_manifests"}).is_internal()
    assert not source_of({"v2_table": "hc.db.t.all_manifests"}).is_internal()


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"added_records": "5", "total_records": "5"}, Before.EMPTY),
        ({"added_records": "5", "total_records": "7"}, Before.UNKNOWN),
        ({"added_records": "5", "total_records": "5", "mode": "OverwriteByExpression"}, Before.UNKNOWN),
        ({}, Before.UNKNOWN),
    ],
)
def test_an_append_whose_rows_are_all_rows_found_an_empty_table(facts, expected):
    """After an overwrite the same figures say nothing about the rows before."""
    source = source_of({**TABLE, "mode": "AppendData", **facts})
    assert source.before(None, None, has_partitions=False) is expected
