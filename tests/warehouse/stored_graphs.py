"""A warehouse with the graph alone, as a load writes it, and without Spark."""

from __future__ import annotations

from pathlib import Path

from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.warehouse.graph_snapshot import write_graph
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import GRAPH, StoredTables, publish


def store(path: Path, current: Current) -> Path:
    """Write the graph into a folder, and return the folder."""
    write_graph(path / "data" / "1" / "graph", current)
    tables = StoredTables(path, "1")
    tables.tables[GRAPH] = {"": ["data/1/graph"]}
    publish(tables)
    return path
