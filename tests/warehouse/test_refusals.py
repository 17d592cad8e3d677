"""What a load refuses before it starts."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.errors import BadInputError
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


def test_an_option_of_kafka_without_a_value_is_one_sentence(tmp_path):
    """Its text may be a password, and is not repeated."""
    arguments = ["--events", "kafka://h:1/t", "--warehouse", str(tmp_path / "w"), "--kafka-option", "s3cret"]
    done = CliRunner().invoke(main, ["warehouse", "load", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--kafka-option has no KEY=VALUE" in done.stderr
    assert "s3cret" not in done.stderr
