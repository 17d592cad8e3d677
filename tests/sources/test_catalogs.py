"""Names that catalogs give to tables, on recorded facts, compared with OpenLineage's own naming."""

from __future__ import annotations

import pytest
from openlineage.client import naming

from airflow_provider_spark_lineage.spark.sources import identify, source_of
from airflow_provider_spark_lineage.spark.sources.catalogs import symlinks, table_name
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Symlink
from airflow_provider_spark_lineage.spark.sources.tables import loaded

HIVE = {"catalog_kind": "hive", "warehouse": "file:/wh", "table": ["spark_catalog", "db", "t"]}
GLUE = {
    **HIVE,
    "metastore_client": "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory",
    "glue_catalog": "123456789012",
    "aws_region": "eu-west-1",
}


@pytest.mark.parametrize(
    ("uris", "host", "port"),
    [
        ("thrift://meta:9084", "meta", "9084"),
        ("thrift://meta", "meta", "9083"),
        (" thrift://one:1,thrift://two:2", "one", "1"),
    ],
)
def test_table_of_a_metastore_has_its_address(uris: str, host: str, port: str) -> None:
    """The namespace is the first metastore of the list; its port is Hive's where none is given."""
    hive = naming.dataset.Hive(host, port, "db", "t")
    assert symlinks({**HIVE, "metastore_uris": uris}) == (Symlink(hive.get_namespace(), hive.get_name()),)


def test_embedded_metastore_is_its_warehouse() -> None:
    """Without an address, metastores are told apart by the place of their tables."""
    assert symlinks(HIVE) == (Symlink("file:/wh", "db.t"),)
    assert symlinks({**HIVE, "warehouse": "s3a://lake/wh/"}) == (Symlink("s3://lake/wh", "db.t"),)


def test_the_address_of_an_unused_metastore_names_nothing() -> None:
    """A setting in a shared file does not make a table one of Hive's."""
    facts = {**HIVE, "catalog_kind": "in-memory", "metastore_uris": "thrift://meta:9083"}
    assert symlinks(facts) == (Symlink("file:/wh", "db.t"),)


def test_table_of_glue_is_named_by_region_and_account() -> None:
    """Glue behind Hive's interface: the address of a metastore is meaningless then."""
    glue = naming.dataset.AWSGlue("eu-west-1", "123456789012", "db", "t")
    expected = (Symlink(glue.get_namespace(), glue.get_name()),)
    assert symlinks({**GLUE, "metastore_uris": "thrift://unused:9083"}) == expected
    by_account = {**GLUE, "glue_catalog": None, "glue_account": "123456789012"}
    assert symlinks(by_account) == expected
    assert symlinks({**by_account, "aws_region": None, "aws_default_region": "eu-west-1"}) == expected


def test_glue_without_its_account_is_the_warehouse() -> None:
    """Half of a name would be another's."""
    assert symlinks({**GLUE, "glue_catalog": None}) == (Symlink("file:/wh", "db.t"),)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("db.t", ("db", "t")),
        ("db.`2024`", ("db", "2024")),
        ("`my db`.`a.b``c`", ("my db", "a.b`c")),
        ("t", ()),
    ],
)
def test_quoted_identifier_is_taken_apart(text: str, parts: tuple[str, ...]) -> None:
    """Spark puts parts with odd letters between backticks; a name without a database is of no use."""
    assert table_name({"table_text": text}) == parts


def test_table_of_another_catalog_keeps_that_catalog_s_name() -> None:
    """Unity Catalog's names have three parts; only the session catalog's name is meaningless elsewhere."""
    assert table_name({"table": ["main", "db", "t"]}) == ("main", "db", "t")
    assert table_name({"table": ["spark_catalog", "db", "t"]}) == ("db", "t")


def test_view_is_named_by_its_catalog() -> None:
    """It lies nowhere."""
    (view,) = identify({"view": ["spark_catalog", "db", "v"], "warehouse": "file:/wh"})
    assert (view.id, view.type) == (DatasetId("file:/wh", "db.v"), "VIEW")
    (dropped,) = identify({"table": ["db", "v"], "is_view": True, "warehouse": "file:/wh"})
    assert dropped.id == view.id


def test_renamed_table_was_where_its_database_keeps_tables_or_kept_its_place() -> None:
    """A managed table's folder moves with its name; of one that stays the old name is the catalog's."""
    facts = {
        "warehouse": "file:/wh",
        "location": "file:/wh/new",
        "default_location": "file:///wh/new",
        "previous_table": ["db", "old"],
        "previous_location": "file:/wh/old",
        "table_type": "MANAGED",
        "format": "parquet",
    }
    assert source_of(facts).previous() == (DatasetId("file", "/wh/old"),)
    assert source_of({**facts, "location": "s3a://b/x"}).previous() == (DatasetId("file:/wh", "db.old"),)


def test_loaded_files_of_this_machine_are_local() -> None:
    """LOAD DATA LOCAL names a folder of the driver, whatever Hadoop's default file system is."""
    assert [identity.id for identity in loaded({"loaded": "/in/x", "is_local": True})] == [
        DatasetId("file", "/in/x")
    ]
    assert [identity.id for identity in loaded({"loaded": "s3a://b/x", "is_local": False})] == [
        DatasetId("s3://b", "x")
    ]
