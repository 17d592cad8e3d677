"""Figures of the snapshot of the graph in a warehouse: its size, and what a command needs to read it.

    python benchmarks/graph_snapshot.py [--datasets 100000]

The graph is that of `graph.py`: 2 million column edges. The reader is a process of its own, whose memory
counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from graph import COLUMNS, wide


def peak_mb() -> float:
    """Return the peak of the memory of this process, without that of the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def read(folder: Path) -> None:
    """Print what reading a snapshot, and the impact of its first column, take."""
    from airflow_provider_spark_lineage.openlineage.graph.impact import Impact
    from airflow_provider_spark_lineage.openlineage.graph.selection import Selected
    from airflow_provider_spark_lineage.openlineage.warehouse.graph_snapshot import read_graph

    began, used = perf_counter(), process_time()
    stored = read_graph(folder)
    took, used = perf_counter() - began, process_time() - used
    print(f"  read {len(stored.graph):,} edges in {took:.1f} s ({used:.1f} s of processor)", end=", ")
    print(f"peak {peak_mb():,.0f} MB")
    for direct_only in (True, False):
        began, used = perf_counter(), process_time()
        selection = [Selected(("s3://lake", "table_0"), COLUMNS[0])]
        impact = Impact(stored.current, stored.graph, selection, direct_only=direct_only)
        found = len(impact.columns), len(impact.datasets), len(impact.jobs)
        words = "by value" if direct_only else "by value and rows"
        print(f"  impact of a column {words}: {found} columns, datasets, jobs in", end=" ")
        print(f"{perf_counter() - began:.2f} s ({process_time() - used:.2f} s of processor)", end=", ")
        print(f"peak {peak_mb():,.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description="What the snapshot of the graph costs.")
    parser.add_argument("--datasets", type=int, default=100_000)
    parser.add_argument("--read", type=Path, help="Read this folder, in this process.")
    arguments = parser.parse_args()
    if arguments.read:
        read(arguments.read)
        return
    from airflow_provider_spark_lineage.openlineage.warehouse.graph_snapshot import write_graph

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "graph"
        current = wide(arguments.datasets)
        began = process_time()
        write_graph(folder, current)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        edges = sum(len(write.edges) for write in current.writes)
        print(f"{arguments.datasets:,} datasets, {edges:,} column edges:", end=" ")
        print(f"written in {process_time() - began:.1f} s, {size:,.0f} MB")
        subprocess.run([sys.executable, __file__, "--read", str(folder)], check=True)


if __name__ == "__main__":
    main()
