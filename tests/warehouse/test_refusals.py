"""What a load refuses before it starts."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse.event_sources import source_of
from airflow_provider_spark_lineage.openlineage.warehouse.load import load
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables, publish, read_tables


@pytest.fixture
def events(tmp_path):
    file = tmp_path / "events.jsonl"
    file.write_text("{}")
    return file


@pytest.mark.parametrize(
    ("stored", "asked"), [("parquet", "delta"), ("delta", "iceberg"), ("iceberg", "parquet")]
)
def test_another_format_than_that_of_the_warehouse_is_refused(tmp_path, events, stored, asked):
    """It would be a second set of tables in one folder."""
    (tmp_path / "w").mkdir()
    publish(StoredTables(tmp_path / "w", "20260101", stored_as=stored, versions={"runs": 3}))
    with pytest.raises(BadInputError, match=f"has tables of {stored}, not of {asked}: give another folder"):
        load(None, events, tmp_path / "w", stored_as=asked)
    kept = read_tables(tmp_path / "w")
    assert (kept.stored_as, kept.versions) == (stored, {"runs": 3})


def test_a_format_that_does_not_exist_is_refused(tmp_path, events):
    """With the names of those that do."""
    with pytest.raises(BadInputError, match=r"hudi is not a format .*: choose parquet, delta, iceberg"):
        load(None, events, tmp_path / "w", stored_as="hudi")


@pytest.mark.parametrize(
    "address", ["kafka://host:9092", "kafka://host:9092/", "kafka:///topic", "kafka://h/a/b"]
)
def test_an_address_without_a_topic_is_refused(tmp_path, address):
    """With the form that it should have."""
    with pytest.raises(BadInputError, match="write kafka://host:port/topic"):
        load(None, address, tmp_path / "w")


def test_options_of_kafka_with_files_are_refused(tmp_path, events):
    """They would do nothing, and are in no message."""
    with pytest.raises(BadInputError, match=r"events\.jsonl is not kafka") as raised:
        load(None, events, tmp_path / "w", kafka_options={"kafka.sasl.jaas.config": "s3cret"})
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("name", ["data/bronze/orders", "delta/events", "orders"])
def test_a_folder_with_files_of_others_is_refused_and_stays(tmp_path, events, name):
    """Also if its folders are called `data` or `delta`, as in a warehouse."""
    file = tmp_path / "lake" / name / "part-0.parquet"
    file.parent.mkdir(parents=True)
    file.write_text("rows")
    with pytest.raises(BadInputError, match="has other files and no warehouse: give another folder"):
        load(None, events, tmp_path / "lake")
    assert [each for each in (tmp_path / "lake").rglob("*") if each.is_file()] == [file]


@pytest.mark.parametrize("name", ["_run.jsonl", ".run.jsonl", "run.jsonl._COPYING_"])
def test_a_file_that_spark_leaves_out_is_refused(tmp_path, name):
    """It would count as loaded, and none of its events would be."""
    file = tmp_path / name
    file.write_text("{}")
    with pytest.raises(BadInputError, match="Spark leaves out files with such a name: give it another one"):
        source_of(file, {}).lines(None, StoredTables(tmp_path / "w"), "data")


def test_an_option_of_kafka_without_a_value_is_one_sentence(tmp_path):
    """Its text may be a password, and is not repeated."""
    arguments = ["--events", "kafka://h:1/t", "--warehouse", str(tmp_path / "w"), "--kafka-option", "s3cret"]
    done = CliRunner().invoke(main, ["warehouse", "load", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--kafka-option has no KEY=VALUE" in done.stderr
    assert "s3cret" not in done.stderr
