"""Places of files, as the OpenLineage naming spec names them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openlineage.client.naming.dataset import (
    ABFSS,
    DBFS,
    GCS,
    HDFS,
    S3,
    WASBS,
    DatasetNaming,
    LocalFileSystem,
)

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind
from airflow_provider_spark_lineage.spark.sources import identify, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import Before, Catalog, DatasetId, Symlink
from airflow_provider_spark_lineage.spark.sources.files import Files
from airflow_provider_spark_lineage.spark.sources.paths import MAX_SIBLINGS, split_location, trim_partitions


def named(naming: DatasetNaming) -> DatasetId:
    return DatasetId(naming.get_namespace(), naming.get_name())


def ids(*paths: str) -> list[DatasetId]:
    return [identity.id for identity in identify({"paths": list(paths)})]


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("s3://bucket/raw/orders", named(S3("bucket", "raw/orders"))),
        ("s3a://bucket/raw/orders/", named(S3("bucket", "raw/orders"))),
        ("s3n://bucket/raw/orders", named(S3("bucket", "raw/orders"))),
        ("gs://bucket/raw/orders", named(GCS("bucket", "raw/orders"))),
        ("hdfs://nn:8020/raw/orders", named(HDFS("nn", "8020", "/raw/orders"))),
        ("hdfs://nameservice/raw", DatasetId("hdfs://nameservice", "/raw")),
        (
            "abfss://lake@account.dfs.core.windows.net/raw/orders",
            named(ABFSS("lake", "account", "raw/orders")),
        ),
        ("ABFSS://lake@account.dfs.core.windows.net/raw", named(ABFSS("lake", "account", "raw"))),
        (
            "abfs://lake@account.dfs.core.windows.net/raw",
            DatasetId("abfs://lake@account.dfs.core.windows.net", "raw"),
        ),
        (
            "wasbs://lake@account.dfs.core.windows.net/raw/orders/",
            named(WASBS("lake", "account", "raw/orders")),
        ),
        # Azure's blob storage has an address of its own, which the client's class does not know.
        (
            "wasbs://lake@account.blob.core.windows.net/raw/orders?sig=secret",
            DatasetId("wasbs://lake@account.blob.core.windows.net", "raw/orders"),
        ),
        (
            "wasb://lake@account.blob.core.windows.net/raw",
            DatasetId("wasb://lake@account.blob.core.windows.net", "raw"),
        ),
        ("file:/in/orders", named(LocalFileSystem("/in/orders"))),
        ("file:///in/orders", named(LocalFileSystem("/in/orders"))),
        ("/in/orders", named(LocalFileSystem("/in/orders"))),
        ("/in//orders/", named(LocalFileSystem("/in/orders"))),
        ("/in/a:b", named(LocalFileSystem("/in/a:b"))),
        ("/in/with space", named(LocalFileSystem("/in/with space"))),
        ("S3A://bucket/key", named(S3("bucket", "key"))),
        ("s3a://bucket", DatasetId("s3://bucket", "/")),
        ("gs://bucket", DatasetId("gs://bucket", "/")),
        ("dbfs://workspace/mnt/orders", named(DBFS("workspace", "/mnt/orders"))),
        # Spark on Databricks does not give the workspace.
        ("dbfs:/mnt/orders", DatasetId("dbfs", "/mnt/orders")),
        ("viewfs:/orders", DatasetId("viewfs", "/orders")),
    ],
)
def test_location_is_named_by_the_naming_spec(location: str, expected: DatasetId) -> None:
    """The same place has one name, whichever of Hadoop's schemes and spellings it was given by."""
    assert ids(location) == [expected]


def test_credentials_in_the_authority_are_dropped() -> None:
    """A key inside a URI never becomes part of a name, nor of the address beside it."""
    (identity,) = identify({"paths": ["s3a://KEY:SECRET@bucket/raw"]})
    assert identity.id == DatasetId("s3://bucket", "raw")
    assert "SECRET" not in str(identity)


@pytest.mark.parametrize(
    ("path", "trimmed"),
    [
        ("/in/orders/day=2024-01-01", "/in/orders"),
        ("/in/orders/year=2024/month=01", "/in/orders"),
        ("/in/orders/day=__HIVE_DEFAULT_PARTITION__", "/in/orders"),
        ("/in/orders/day=1/part-0.parquet", "/in/orders"),
        ("/in/orders/part-00000-0bd7e0d4-1111-2222-3333-b06e0bd7e0d4-c000.snappy.parquet", "/in/orders"),
        ("/in/orders/2024-01-01", "/in/orders"),
        ("/in/orders/20240101", "/in/orders"),
        ("/in/orders/2024/01/31", "/in/orders"),
        ("/in/orders/2024/01", "/in/orders"),
        ("/in/orders/2024-01", "/in/orders"),
        ("/in/orders/20240101T120000Z", "/in/orders"),
        ("s3a://bucket/orders/dt=2024-01-01", "s3a://bucket/orders"),
        ("/models/churn/stages/0_StringIndexer_0bd7e0d4b06e/data", "/models/churn"),
        # These are names, not dates.
        ("/plays/stages/1_first", "/plays/stages/1_first"),
        ("/in/orders/2024", "/in/orders/2024"),
        ("/in/orders/1234", "/in/orders/1234"),
        ("/in/orders/20249999", "/in/orders/20249999"),
        ("/in/orders/01", "/in/orders/01"),
        ("/in/orders", "/in/orders"),
        ("/in/orders.parquet", "/in/orders.parquet"),
        # A root is not a dataset's folder.
        ("/2024-01-01", "/2024-01-01"),
        ("s3a://bucket/day=1", "s3a://bucket/day=1"),
    ],
)
def test_partition_suffixes_are_trimmed(path: str, trimmed: str) -> None:
    """`k=v` and dates at the end are a part of a dataset, not its name."""
    assert trim_partitions(path) == trimmed


@given(
    st.lists(
        st.sampled_from(
            ["a", "k=v", "2024-01-01", "2024", "01", "part-0.csv", "=", "x.y", "stages", "1_A_0123456789ab"]
        ),
        max_size=6,
    )
)
def test_trimming_is_idempotent_and_only_shortens(parts: list[str]) -> None:
    """A trimmed name has nothing left to trim."""
    path = "/" + "/".join(parts)
    once = trim_partitions(path)
    assert trim_partitions(once) == once
    assert path.startswith(once)


@given(st.text(alphabet="ab/:@. =", max_size=12), st.sampled_from(["", "file:", "s3a://b/", "hdfs://h:1/"]))
def test_any_location_has_a_name(rest: str, scheme: str) -> None:
    """No spelling of a location raises, and none gives an empty name."""
    namespace, name = split_location(scheme + "/" + rest)
    assert namespace
    assert name


def test_originals_are_kept_beside_a_trimmed_name() -> None:
    """The partitions that were read are still known."""
    (identity,) = identify({"paths": ["file:/in/o/day=1", "file:/in/o/day=2"]})
    assert identity.id == DatasetId("file", "/in/o")
    assert identity.locations == ("file:/in/o/day=1", "file:/in/o/day=2")


def test_files_of_one_folder_are_the_folder() -> None:
    """A read of many files is one dataset, their common directory."""
    assert ids("file:/in/o/a.csv", "file:/in/o/b.csv") == [DatasetId("file", "/in/o")]


def test_one_file_keeps_its_name() -> None:
    """A dataset of a single file is that file."""
    assert ids("file:/in/o/a.csv") == [DatasetId("file", "/in/o/a.csv")]


def test_folders_that_only_lie_beside_each_other_are_datasets_of_their_own() -> None:
    """Reading `/in/a` and `/in/b` does not read `/in`."""
    assert ids("file:/in/b", "file:/in/a") == [DatasetId("file", "/in/a"), DatasetId("file", "/in/b")]


def test_files_of_unrelated_folders_are_not_their_root() -> None:
    """Two files in two places have no folder in common that anybody would call a dataset."""
    assert ids("file:/x/a.csv", "file:/y/b.csv") == [
        DatasetId("file", "/x/a.csv"),
        DatasetId("file", "/y/b.csv"),
    ]
    assert ids("s3://one/a.csv", "s3://two/b.csv") == [
        DatasetId("s3://one", "a.csv"),
        DatasetId("s3://two", "b.csv"),
    ]


@pytest.mark.parametrize(
    ("printed", "short"),
    [
        ("Parquet", "parquet"),
        ("CSV", "csv"),
        ("org.apache.spark.sql.execution.datasources.json.JsonFileFormat@1a2b3c", "json"),
        ("org.apache.spark.sql.execution.datasources.orc.OrcFileFormat", "orc"),
        ("ImageFileFormat()", "image"),
        ("parquet", "parquet"),
        ("org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", "parquet"),
        ("org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", "text"),
        ("", ""),
    ],
)
def test_file_format_is_the_short_name(printed: str, short: str) -> None:
    """Whatever Spark prints for a format, a reader sees `parquet`."""
    (identity,) = identify({"paths": ["/x"], "format": printed})
    assert identity.file_format == short


def test_table_is_a_symlink_of_its_location() -> None:
    """A catalog table is named by its location; its own name is a symlink, without Spark's catalog."""
    facts = {"paths": "file:/wh/db.db/t", "table": ["spark_catalog", "db", "t"], "warehouse": "file:/wh"}
    (identity,) = identify(facts)
    assert identity.symlinks == (Symlink("file:/wh", "db.t"),)


HIVE = {
    "location": "/wh/t",
    "table": ["spark_catalog", "db", "t"],
    "warehouse": "/wh",
    "catalog_kind": "hive",
}
GLUE = {
    "metastore_client": "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory",
    "glue_catalog": "123456789012",
    "aws_region": "eu-west-1",
}


@pytest.mark.parametrize(
    ("facts", "catalog"),
    [
        (HIVE, Catalog("hive", "hive", "default", "", "file:/wh")),
        (
            {**HIVE, "metastore_uris": "thrift://meta:9083"},
            Catalog("hive", "hive", "default", "hive://meta:9083", "file:/wh"),
        ),
        (
            {**HIVE, **GLUE},
            Catalog("hive", "glue", "default", "arn:aws:glue:eu-west-1:123456789012", "file:/wh"),
        ),
        ({**HIVE, "catalog_kind": "in-memory"}, None),
        ({**HIVE, "table": None}, None),
    ],
)
def test_table_of_a_hive_metastore_says_so(facts: dict[str, Any], catalog: Catalog | None) -> None:
    """A catalog that outlives the session is named with its address; one in memory is left out."""
    (identity,) = identify(facts)
    assert identity.catalog == catalog


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("s3://lake/__unitystorage/t1", named(S3("lake", "__unitystorage/t1"))),
        (
            "abfss://lake@account.dfs.core.windows.net/managed/t1",
            named(ABFSS("lake", "account", "managed/t1")),
        ),
        ("gs://lake/managed/t1", named(GCS("lake", "managed/t1"))),
    ],
)
def test_table_of_unity_catalog_is_its_location(location: str, expected: DatasetId) -> None:
    """Its name of three parts is a symlink; the session's own catalog is not the one that has it."""
    facts = {"location": location, "table": ["main", "sales", "orders"], "warehouse": "dbfs:/wh"}
    (identity,) = identify({**facts, "catalog_kind": "hive"})
    assert identity.id == expected
    assert identity.symlinks == (Symlink("dbfs:/wh", "main.sales.orders"),)
    assert identity.catalog is None


def test_a_table_without_a_database_gives_no_symlink() -> None:
    """A bare name could be any database's table."""
    (identity,) = identify({"paths": "file:/wh/t", "table": ["t"], "warehouse": "file:/wh"})
    assert identity.symlinks == ()


def test_relation_that_no_source_knows_is_named_and_says_so() -> None:
    """It stays visible under the name that Spark has for it."""
    (identity,) = identify({"v2_table": "app.t", "v2_catalog": "derby", "provider": "x.JDBCTable"})
    assert identity.id == DatasetId("derby", "app.t")
    assert not identity.known


def test_nothing_known_gives_no_name() -> None:
    """No guesses."""
    assert identify({}) == ()


def test_noop_keeps_nothing() -> None:
    """Spark's `noop` format throws rows away, so writing to it gives no output."""
    assert source_of(
        {"provider": "org.apache.spark.sql.execution.datasources.noop.NoopTable$"}
    ).discards_rows()
    assert not source_of({"provider": "org.example.Table"}).discards_rows()


def test_a_write_to_noop_has_no_dataset_whatever_its_options_name() -> None:
    """Replacing `jdbc` by `noop` to measure a query leaves the options of JDBC."""
    noop = "org.apache.spark.sql.execution.datasources.noop.NoopTable$"
    options = {"url": "jdbc:postgresql://h/sales", "dbtable": "orders"}
    discarding = source_of({"provider": noop, "options": options})
    assert discarding.discards_rows()
    assert discarding.identify() == ()


@pytest.mark.parametrize("table", [None, ["spark_catalog", "db", "lines"]])
@pytest.mark.parametrize("text", ["Text", "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"])
def test_column_of_text_is_called_value_unless_a_table_names_it(text: str, table: list[str] | None) -> None:
    """Spark reads text files as `value`; a table of one column has its own name for it."""
    facts = {"paths": "/t/lines", "format": text, "table": table}
    assert source_of(facts).stored_name("line") == ("line" if table else "value")
    assert source_of({**facts, "format": "Parquet"}).stored_name("line") == "line"


def test_schema_inference_is_spark_s_own_read() -> None:
    """Reading a CSV as text to infer its types is nothing that the user asked for; a stream of text is."""
    inferring = {
        "paths": ["/x.csv"],
        "format": "Text",
        "option_names": ["path", "__globpaths__"],
        "is_stream": False,
    }
    assert source_of(inferring).is_internal()
    assert not source_of({**inferring, "is_stream": True}).is_internal()
    assert not source_of({**inferring, "option_names": ["path"]}).is_internal()
    assert not source_of({**inferring, "format": "CSV"}).is_internal()


def test_stream_over_a_pattern_is_the_folders_that_it_reads() -> None:
    """Each batch reads other files: their folders are the datasets, whatever the files are called."""
    facts = {"paths": ["file:/in/a/1.csv", "file:/in/a/2.csv", "file:/in/b/x.csv"], "format": "CSV"}
    assert [identity.id.name for identity in identify({**facts, "is_stream": True})] == ["/in/a", "/in/b"]


def test_rdd_is_named_by_the_files_behind_it() -> None:
    """Folders that Spark wrote are datasets; a file that a person named keeps its name."""
    origins = [
        {"paths": ["file:/in/o/day=1/part-0.parquet", "file:/in/o/day=2/part-1.parquet"]},
        {"paths": ["/x/a.csv"]},
    ]
    identities = identify({"origins": origins})
    assert [identity.id for identity in identities] == [
        DatasetId("file", "/in/o"),
        DatasetId("file", "/x/a.csv"),
    ]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("file:/in/orders/*.csv", "/in/orders"),
        ("file:/in/orders/part-*", "/in/orders"),
        ("file:/in/{2024,2025}/*.txt", "/in"),
        ("file:/in/orders/year=202[45]", "/in/orders"),
        ("file:/in/orders", "/in/orders"),
    ],
)
def test_files_that_an_rdd_reads_by_a_pattern_are_their_common_directory(path: str, name: str) -> None:
    """A pattern is not a dataset: nobody writes to `/in/*.csv`."""
    (identity,) = identify({"origins": [{"paths": [path]}]})
    assert identity.id == DatasetId("file", name)


def test_many_folders_beside_one_another_are_their_directory() -> None:
    """A handful of folders are a dataset each; hundreds that one glob names are one, their places kept."""
    few = identify({"paths": [f"s3a://b/logs/host{number}" for number in range(MAX_SIBLINGS)]})
    assert len(few) == MAX_SIBLINGS
    given = [f"s3a://b/logs/host{number}" for number in range(MAX_SIBLINGS + 1)]
    (identity,) = identify({"paths": given})
    assert identity.id == DatasetId("s3://b", "logs")
    assert identity.locations == tuple(given)
    # A bucket is not a dataset.
    assert len(identify({"paths": [f"s3a://b/t{number}" for number in range(99)]})) == 99


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"sink": "FileSink[/out]", "file_system": "hdfs://nn:8020"}, DatasetId("hdfs://nn:8020", "/out")),
        ({"sink": "FileSink[/out]", "file_system": "file:///"}, DatasetId("file", "/out")),
        (
            {"sink": "FileSink[s3a://lake/out]", "file_system": "hdfs://nn:8020"},
            DatasetId("s3://lake", "out"),
        ),
        ({"delta_path": "/out", "file_system": "hdfs://nn:8020"}, DatasetId("hdfs://nn:8020", "/out")),
        ({"delta_path": "/day=1/at 12:00", "file_system": "file:///"}, DatasetId("file", "/day=1/at 12:00")),
    ],
)
def test_a_path_as_the_user_wrote_it_lies_in_the_default_file_system(
    facts: dict[str, Any], expected: DatasetId
) -> None:
    """A stream's output `/out` is read back as `hdfs://nn:8020/out`: one dataset."""
    (identity,) = identify(facts)
    assert (identity.id, identity.note) == (expected, None)


@pytest.mark.parametrize("facts", [{"sink": "FileSink[out/x]"}, {"delta_path": "out/x"}])
def test_a_relative_path_says_that_its_folder_is_not_known(facts: dict[str, Any]) -> None:
    (identity,) = identify({**facts, "file_system": "hdfs://nn:8020"})
    assert identity.id == DatasetId("hdfs://nn:8020", "/out/x")
    assert identity.note is not None
    assert identity.note.kind is GapKind.UNKNOWN_LOCATION


@pytest.mark.parametrize(
    ("facts", "folder", "expected"),
    [
        ({"alone_in": 1}, "day=1", True),
        ({"alone_in": 2}, "day=1", True),
        ({"alone_in": 1}, "2026/11", False),
        ({"alone_in": 2}, "2026/11", True),
        ({"alone_in": 0}, "day=1", False),
        ({}, "day=1", False),
        # A partition of a table may be in any folder.
        ({"alone_in": 1, "table": ["spark_catalog", "db", "t"]}, "day=1", False),
    ],
)
def test_a_folder_is_alone_if_all_folders_up_to_its_dataset_hold_nothing_else(
    facts: dict[str, Any], folder: str, expected: bool
) -> None:
    """Each folder between it and the dataset counts."""
    assert source_of({**FILES, **facts}).is_alone(folder) is expected


FILES = {"paths": "file:/out", "format": "Parquet"}
SINK = {"sink": "FileSink[file:/out]"}
TABLE_OF_FILES = {**FILES, "table": ["spark_catalog", "db", "t"]}


@pytest.mark.parametrize(
    ("facts", "has_partitions", "expected"),
    [
        ({**FILES, "oldest_write": [2, 90]}, True, Before.ABSENT),
        ({**TABLE_OF_FILES, "oldest_write": [2, 90]}, False, Before.EMPTY),
        # A partition of a table may be in any folder.
        ({**TABLE_OF_FILES, "oldest_write": [2, 90]}, True, Before.UNKNOWN),
        ({**FILES, "oldest_write": [1, 90]}, False, Before.UNKNOWN),
        ({**FILES, "oldest_write": [2, 91]}, False, Before.UNKNOWN),
        (FILES, False, Before.UNKNOWN),
        # An overwrite of partitions that left no older file.
        ({**FILES, "oldest_write": [2, 90], "dynamic_partitions": True}, True, Before.GONE),
        ({**FILES, "oldest_write": [1, 90], "dynamic_partitions": True}, True, Before.UNKNOWN),
        ({**SINK, "batch": 0}, False, Before.ABSENT),
        ({**SINK, "batch": 1}, False, Before.UNKNOWN),
        # Spark reads the other files of a table, too.
        ({**SINK, "batch": 0, "table": ["db", "t"]}, False, Before.UNKNOWN),
    ],
)
def test_a_folder_had_no_data_before_if_a_write_has_its_oldest_files(facts, has_partitions, expected) -> None:
    """A write of two files and 90 bytes; later writes do not hide what was there."""
    assert Files(facts).before(2, 90, has_partitions=has_partitions) is expected
