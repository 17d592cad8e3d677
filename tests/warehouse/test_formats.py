"""Tables of Delta and Iceberg: the same rows as those of parquet, in files that are read without either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from spark_packages import need
from warehouse.histories import comparable, graph_of, history
from warehouse.test_load import assert_same, load_in_parts, written

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse.asking import current_lineage
from airflow_provider_spark_lineage.openlineage.warehouse.load import load
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import read_tables

pytestmark = pytest.mark.spark

need("delta", "iceberg")

EVENTS = history(0, days=2, jobs=3)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A session with the extensions of both, and settings that a user may have."""
    from soundness.session import LAKES
    from spark_sessions import started

    spark = started(
        "warehouse of lakes",
        {
            **LAKES,
            "spark.sql.session.timeZone": "Asia/Tokyo",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.sources.partitionOverwriteMode": "dynamic",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("tables")),
        },
    )
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def parquet(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of a history, loaded at once."""
    folder = tmp_path_factory.mktemp("parquet")
    load(spark, written(folder / "events.jsonl", EVENTS), folder / "warehouse")
    return folder / "warehouse"


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("name", ["delta", "iceberg"])
def test_any_history_has_the_same_rows_in_a_lake(spark, tmp_path, monkeypatch, name, seed):
    """Shuffled, split, repeated and killed loads have the rows of one load, and the lineage of the graph."""
    documents = history(seed, days=2, jobs=3)
    load(spark, written(tmp_path / "whole" / "events.jsonl", documents), tmp_path / "a")
    load_in_parts(spark, tmp_path, monkeypatch, documents, seed, parts=2, stored_as=name)
    assert_same(tmp_path / "a", tmp_path / "b")
    assert comparable(current_lineage(tmp_path / "b")) == comparable(graph_of(documents))


@pytest.mark.parametrize("name", ["delta", "iceberg"])
def test_a_lake_has_the_rows_of_parquet(spark, parquet, tmp_path, monkeypatch, name):
    """In any order, split and repetition, and after a load that died between two tables."""
    folder = tmp_path / "a #1 %20 é"
    load_in_parts(spark, folder, monkeypatch, EVENTS, 0, parts=2, stored_as=name)
    assert_same(parquet, folder / "b")
    stored = read_tables(folder / "b")
    assert stored.stored_as == name
    # The tables themselves have the rows, too, and the state that `current.json` names.
    assert {file.partition("/")[0] for file in stored.tables["runs"]["2026-01-01"]} == {name}
    with pytest.raises(BadInputError, match=f"has tables of {name}, not of parquet: give another folder"):
        load(spark, folder / "parts", folder / "b", stored_as="parquet")
    # An event of no run writes no date of runs.
    alone = {"eventTime": "2026-01-01T00:00:00Z", "producer": "x", "dataset": {"namespace": "x", "name": "y"}}
    assert load(spark, written(folder / "alone.jsonl", [alone]), folder / "b").new_events == 1
