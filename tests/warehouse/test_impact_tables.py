"""The tables of what depends on each column: their rows are the answers of `impact`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from click.testing import CliRunner
from graph.plain_graph import random_current

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.impact import UNKNOWN, Impact
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.selection import Selected
from airflow_provider_spark_lineage.openlineage.warehouse.engines import statements
from airflow_provider_spark_lineage.openlineage.warehouse.graph_snapshot import write_graph
from airflow_provider_spark_lineage.openlineage.warehouse.impact_tables import impact_rows
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    GRAPH,
    StoredTables,
    publish,
    read_tables,
)
from airflow_provider_spark_lineage.openlineage.warehouse.tables import IMPACT_TABLES

EVENTS = Path(__file__).resolve().parents[1] / "viewer" / "events" / "pipeline.jsonl.gz"

PAGE = Path(__file__).resolve().parents[2] / "docs" / "warehouse.md"

Column = tuple[str, str, str]


def rows_of(folder: Path, table: str, tasks: int = 3, **options: Any) -> list[tuple[Any, ...]]:
    """Return the rows that some tasks yield, without Spark."""
    function = impact_rows(table, str(folder), "load", **options)
    batches = [pa.RecordBatch.from_pylist([{"task": task, "tasks": tasks}]) for task in range(tasks)]
    return [tuple(row.values()) for batch in function(iter(batches)) for row in batch.to_pylist()]


def answers(current: Current, **options: Any) -> tuple[dict[tuple[Column, Column], Any], dict[Column, Any]]:
    """Return what `impact` says of every column, and how many columns, datasets and jobs it lists."""
    graph = LineageGraph.of(current)
    pairs, counts = {}, {}
    for dataset in graph.datasets:
        for name in graph.fields_of(dataset):
            impact = Impact(current, graph, [Selected(dataset, name)], **options)
            for (target, column), reached in impact.columns.items():
                how = "value" in reached.how, "rows" in reached.how, reached.depth
                pairs[(*dataset, name), (*target, column)] = how
            known = [
                sum(bool(each.how) and each.how != [UNKNOWN] for each in some.values())
                for some in (impact.datasets, impact.jobs)
            ]
            values = sum("value" in each.how for each in impact.columns.values())
            counts[(*dataset, name)] = (len(impact.columns), values, *known)
    return pairs, counts


def written_out(rows: list[tuple[Any, ...]], graph: LineageGraph) -> dict[tuple[Column, Column], Any]:
    """Return the rows of `column_impact` with a row for each column in place of all rows of a dataset."""
    pairs = {(row[:3], row[3:6]): row[6:9] for row in rows}
    assert len(pairs) == len(rows)
    for source, target in [pair for pair in pairs if pair[1][2] is None]:
        how = pairs.pop((source, target))
        for name in graph.fields_of(target[:2]):
            if (*target[:2], name) != source:
                pairs.setdefault((source, (*target[:2], name)), how)
    return pairs


@pytest.mark.parametrize("options", [{}, {"direct_only": True}, {"depth": 1}, {"depth": 2}], ids=str)
def test_the_rows_are_the_answers_of_impact(tmp_path, options):
    """Each column, how it depends and how far away; how many columns, datasets and jobs; with cycles."""
    for seed in range(25):
        current = random_current(seed)
        graph = LineageGraph.of(current)
        write_graph(tmp_path / str(seed), current)
        pairs, counts = answers(current, **options)
        assert written_out(rows_of(tmp_path / str(seed), "column_impact", **options), graph) == pairs, seed
        found = rows_of(tmp_path / str(seed), "blast_radius", **options)
        assert {row[:3]: row[3:7] for row in found} == counts, seed


def test_the_query_of_the_page_lists_each_column(tmp_path):
    """A user copies it, for another column."""
    current = Current.of(read_events(EVENTS))
    write_graph(tmp_path / "graph", current)
    function = {table: impact_rows(table, str(tmp_path / "graph"), "load") for table in IMPACT_TABLES}
    task = pa.RecordBatch.from_pylist([{"task": 0, "tasks": 1}])
    database = duckdb.connect()
    for table, rows in function.items():
        database.register(table, pa.Table.from_batches(rows(iter([task]))))
    [query] = re.findall(r"```sql\n-- What depends on .*?\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    source = "file", "/data/bronze/flights", "carrier"
    expected = {(*pair[1][1:], *how) for pair, how in answers(current)[0].items() if pair[0] == source}
    assert sorted(database.execute(query).fetchall()) == sorted(expected)
    assert len(expected) > 10


def test_tasks_share_the_columns_evenly(tmp_path):
    """Columns that are beside each other are in different tasks, and each column is in one task."""
    write_graph(tmp_path / "graph", Current.of(read_events(EVENTS)))
    function = impact_rows("blast_radius", str(tmp_path / "graph"), "load")
    sizes = []
    names: set[Any] = set()
    for task in range(7):
        batches = [*function(iter([pa.RecordBatch.from_pylist([{"task": task, "tasks": 7}])]))]
        sizes.append(sum(batch.num_rows for batch in batches))
        names |= {tuple(row.values())[:3] for batch in batches for row in batch.to_pylist()}
    assert max(sizes) - min(sizes) <= 1
    assert len(names) == sum(sizes)


@pytest.fixture
def warehouse(tmp_path):
    """A warehouse with the graph alone, as a load writes it."""
    write_graph(tmp_path / "w" / "data" / "1" / "graph", Current.of(read_events(EVENTS)))
    tables = StoredTables(tmp_path / "w", "first")
    tables.tables[GRAPH] = {"": ["data/1/graph"]}
    publish(tables)
    return tmp_path / "w"


def test_the_tables_are_empty_before_they_are_computed(warehouse):
    """Queries for them run, and have no rows."""
    database = duckdb.connect()
    for statement in statements(warehouse, "duckdb"):
        database.execute(statement)
    for table, declared in IMPACT_TABLES.items():
        rows = database.execute(f"SELECT * FROM {table}")  # noqa: S608
        assert [each[0] for each in rows.description] == [column.name for column in declared.columns]
        assert rows.fetchall() == []


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("none", "`spark-lineage warehouse load` makes one"),
        ("s3a://bucket/w", "needs a folder of a file system"),
    ],
)
def test_a_place_without_tables_is_one_sentence(tmp_path, monkeypatch, place, sentence):
    """And no folder is made; no Spark starts."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["warehouse", "impact", "--warehouse", place])
    assert (done.exit_code, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.spark
def test_spark_writes_the_tables(warehouse, tmp_path):
    """Both have the rows of `impact`, name their load, and are there after the next one, too."""
    (tmp_path / "spark-defaults.conf").write_text("spark.master local[2]\n")
    words = ["warehouse", "impact", "--warehouse", str(warehouse), "--json"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SPARK_")}
    done = subprocess.run(
        [sys.executable, "-m", "airflow_provider_spark_lineage", *words],
        env={**environment, "SPARK_CONF_DIR": str(tmp_path)},
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tables = read_tables(warehouse)
    current = Current.of(read_events(EVENTS))
    pairs, counts = answers(current)
    rows = {
        table: [
            tuple(row.values())
            for row in ds.dataset(tables.folders(table)[0], format="parquet").to_table().to_pylist()
        ]
        for table in IMPACT_TABLES
    }
    assert written_out(rows["column_impact"], LineageGraph.of(current)) == pairs
    assert {row[:3]: row[3:7] for row in rows["blast_radius"]} == counts
    assert {row[-1] for some in rows.values() for row in some} == {"first"}
    summary = json.loads(done.stdout)
    sizes = len(rows["column_impact"]), len(rows["blast_radius"])
    assert (summary["rows"], summary["columns"]) == sizes
    database = duckdb.connect()
    for statement in statements(warehouse, "duckdb"):
        database.execute(statement)
    assert database.execute("SELECT count(*), count(DISTINCT load_id) FROM column_impact").fetchall() == [
        (sizes[0], 1)
    ]
