"""Figures of `warehouse impact`: the tables of what depends on each column, by Spark on two cores.

    python benchmarks/impact_tables.py [--datasets 100000] [--filters] [--direct-only] [--depth N]

The graph is that of `graph.py`: 2 million column edges. With `--filters`, each dataset is filtered, too, by a
column of one of its sources.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import psutil
from graph import COLUMNS, wide

from airflow_provider_spark_lineage.openlineage.graph.current import ColumnEdge, Current
from airflow_provider_spark_lineage.openlineage.warehouse.graph_snapshot import write_graph
from airflow_provider_spark_lineage.openlineage.warehouse.impact_tables import write_impact
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    GRAPH,
    StoredTables,
    publish,
    read_tables,
)


def filtered(current: Current) -> Current:
    """Return lineage in which each dataset is filtered by a column of one of its sources."""
    chance = random.Random(3)  # noqa: S311
    writes = []
    for write in current.writes:
        column = chance.choice(COLUMNS)
        filters = [
            ColumnEdge(None, edge.source, column, "INDIRECT", "FILTER", False) for edge in write.edges[:1]
        ]
        writes.append(replace(write, edges=(*write.edges, *filters)))
    return replace(current, writes=tuple(writes))


def processes_below() -> tuple[float, float]:
    """Return the processor time of Spark and its workers of Python, and the memory of the largest."""
    seconds, largest = 0.0, 0
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
            if "python" in process.name():
                largest = max(largest, process.memory_info().rss)
    return seconds, largest / 1e6


def main() -> None:
    from pyspark.sql import SparkSession

    parser = argparse.ArgumentParser(description="What the tables of all impacts cost.")
    parser.add_argument("--datasets", type=int, default=100_000)
    parser.add_argument("--filters", action="store_true", help="Filter each dataset by a column of a source.")
    parser.add_argument("--direct-only", action="store_true")
    parser.add_argument("--depth", type=int)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        current = wide(arguments.datasets)
        write_graph(Path(name, "data", "1", "graph"), filtered(current) if arguments.filters else current)
        del current
        tables = StoredTables(Path(name), "1")
        tables.tables[GRAPH] = {"": ["data/1/graph"]}
        publish(tables)
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.pyspark.python", sys.executable)
            .getOrCreate()
        )
        summary = write_impact(spark, name, direct_only=arguments.direct_only, depth=arguments.depth)
        seconds, memory = processes_below()
        spark.stop()
        sizes = [
            sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
            for table in ("column_impact", "blast_radius")
            for folder in read_tables(name).folders(table)
        ]
    print(f"{summary.columns:,} columns: {summary.rows:,} rows, {sizes[0]:,.0f} MB;", end=" ")
    print(f"blast_radius {sizes[1]:,.0f} MB; {summary.seconds:.0f} s, {seconds:.0f} s of processor;", end=" ")
    print(f"a worker of Python has {memory:,.0f} MB at the end")


if __name__ == "__main__":
    main()
