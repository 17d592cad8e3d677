"""Facts about Delta tables to names: by location, at a version, behind a catalog table or not."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.sources import identify, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import Before, Catalog, Symlink

TABLE = {
    "delta_path": "s3a://lake/sales/orders",
    "version": 7,
    "table": ["spark_catalog", "sales", "orders"],
    "warehouse": "s3a://lake",
}


def test_a_table_is_named_by_its_location_at_a_version():
    """The path is the name, the table is a symlink, version 0 is a version as any other."""
    (identity,) = identify(TABLE)
    assert (identity.id.namespace, identity.id.name) == ("s3://lake", "sales/orders")
    assert identity.symlinks == (Symlink("s3://lake/", "sales.orders"),)
    assert (identity.storage_layer, identity.file_format, identity.version) == ("delta", "parquet", "7")
    assert identity.catalog == Catalog("delta", "delta", "spark_catalog", "", "s3://lake/")
    (first,) = identify({**TABLE, "version": 0})
    assert first.version == "0"


def test_a_written_table_has_the_version_that_the_write_made():
    """A command that changes a table in place knows both versions: its output has the later one."""
    (identity,) = identify({**TABLE, "written_version": 8})
    assert identity.version == "8"


STALE = {**TABLE, "is_time_travel": False, "started_at": 100, "ended_at": 200}
"""A frame that was made when the table had version 7."""


@pytest.mark.parametrize(
    ("facts", "version"),
    [
        ({"last_version": 7, "last_commit_at": 50}, "7"),
        ({"last_version": 9, "last_commit_at": 50}, "9"),
        ({"last_version": 8, "last_commit_at": 150}, "7"),
        ({"last_version": 8, "last_commit_at": 250}, "7"),
        ({"last_version": 9, "last_commit_at": 150}, ""),
        ({"last_version": 9, "last_commit_at": 50, "is_time_travel": True}, "7"),
        # An object store tells whole seconds.
        ({"last_version": 8, "last_commit_at": 0}, ""),
        ({"last_version": 7, "last_commit_at": 0}, "7"),
        ({"last_version": 8, "last_commit_at": 0, "started_at": 1_000}, "8"),
    ],
)
def test_a_frame_reads_the_last_version_whenever_it_was_made(facts, version):
    """Commits before the read are read, too; several later ones hide the version, unless it was asked for."""
    (identity,) = identify({**STALE, **facts})
    assert identity.version == version


@pytest.mark.parametrize(("last", "version"), [(7, "7"), (9, "9")])
def test_the_query_of_an_rdd_reads_the_last_version_without_a_time(last, version):
    """Spark reports no execution of it: its facts have no start."""
    facts = {**STALE, "last_version": last, "last_commit_at": 50}
    del facts["started_at"], facts["ended_at"]
    (identity,) = identify(facts)
    assert identity.version == version


@pytest.mark.parametrize(
    ("committed_at", "is_noop"), [(100_000, True), (299_000, False), (300_050, False), (300_150, False)]
)
def test_a_command_of_a_table_object_made_earlier_may_commit_nothing(committed_at, is_noop):
    """The object knows an older version; the file system's clock may be behind, by seconds in a store."""
    facts = {"version_before": 7, "written_version": 8, "committed_at": committed_at}
    times = {"started_at": 300_000, "ended_at": 300_100}
    assert source_of({**STALE, **facts, **times, "mode": "DeleteCommand"}).is_noop() is is_noop


def test_a_command_that_still_runs_may_have_committed():
    """Such an execution has no end yet."""
    written = {**TABLE, "mode": "AppendData", "written_version": 8, "started_at": 100, "committed_at": 150}
    (identity,) = identify(written)
    assert identity.version == "8"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/data/2024-01-31", ("file", "/data/2024-01-31")),
        ("file:/data/orders/day=1", ("file", "/data/orders/day=1")),
        ("abfss://c@a.dfs.core.windows.net/t", ("abfss://c@a.dfs.core.windows.net", "t")),
    ],
)
def test_a_path_is_a_table_whatever_it_is_called(path, name):
    """A folder that looks like a partition is the table itself; without a catalog there is no symlink."""
    (identity,) = identify({"delta_path": path, "file_system": "file:///"})
    assert (identity.id.namespace, identity.id.name) == name
    assert identity.symlinks == ()
    assert identity.catalog is None


def test_a_path_without_a_scheme_lies_in_the_default_file_system():
    """A user's path `/tables/t` may be in HDFS."""
    (identity,) = identify({"delta_path": "/tables/t", "file_system": "hdfs://nn:8020"})
    assert (identity.id.namespace, identity.id.name) == ("hdfs://nn:8020", "/tables/t")


@pytest.mark.parametrize(
    ("facts", "internal"),
    [
        (TABLE, False),
        ({"delta_action": "DeltaLogFileIndex"}, True),
        ({"delta_path": "/t", "delta_action": "merge"}, True),
        ({"delta_path": "/t", "delta_action": "streaming"}, False),
        ({"origins": [{"paths": ["file:/t/_delta_log/00.json"]}]}, True),
        ({"origins": [{"paths": ["file:/t/part-0.parquet"]}]}, False),
        ({"origins": []}, False),
    ],
)
def test_deltas_own_reads_are_left_out(facts, internal):
    """The transaction log, and the files that a command of Delta's chose; a stream's files are the user's."""
    assert source_of(facts).is_internal() is internal


@pytest.mark.parametrize(
    ("facts", "keeps"),
    [
        ({"partition_overwrite": "dynamic"}, True),
        ({"partition_overwrite": "Dynamic", "partition_columns": ["day"]}, True),
        ({"partition_overwrite_setting": "DYNAMIC", "partition_columns": ["day"]}, True),
        ({"partition_overwrite": "static", "partition_overwrite_setting": "DYNAMIC"}, False),
        ({"partition_overwrite": "dynamic", "partition_columns": []}, False),
        ({}, False),
    ],
)
def test_a_dynamic_overwrite_keeps_partitions(facts, keeps):
    """The option decides before the setting; without partitions there is nothing to keep."""
    assert source_of({"delta_path": "/t", **facts}).keeps_partitions() is keeps
    assert not source_of(facts).keeps_partitions()


@pytest.mark.parametrize(
    ("facts", "columns"),
    [
        ({}, ()),
        ({"replace_where": False, "condition_columns": []}, ()),
        (
            {"replace_where": True, "condition_columns": ["'day", "'a.b", "'`odd.name`", "'day"]},
            ("day", "a", "odd.name"),
        ),
        ({"replace_where": True}, None),
    ],
)
def test_columns_of_a_condition_are_named_without_sparks_additions(facts, columns):
    """A condition whose columns are unknown gives None, not an empty list."""
    assert source_of(facts).replaced_by() == columns


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"first_commit_at": 150}, Before.ABSENT),
        ({"first_commit_at": 99}, Before.UNKNOWN),
        ({"first_commit_at": 201}, Before.UNKNOWN),
        ({"files_before": 0}, Before.EMPTY),
        ({"files_before": 3}, Before.UNKNOWN),
        ({}, Before.UNKNOWN),
    ],
)
def test_a_table_had_no_data_before_its_first_version(facts, expected):
    """The first version was committed during the execution, or Delta knew of no file."""
    source = source_of({"delta_path": "file:/t", "started_at": 100, "ended_at": 200, **facts})
    assert source.before(None, None, has_partitions=False) is expected
