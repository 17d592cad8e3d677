"""Figures of the graph of many runs, in processor time: events to graph, and the search from a hub.

    python benchmarks/graph.py [--events 100000] [--jobs 20000] [--datasets 100000] [--tables 1000000]

Events have the size of real ones: schemas of 20 columns, 20 column edges and a filter. The second part is a
graph of 2 million column edges: a search there is compared with reading the same edges once in plain Python.
The third part is a graph of a million datasets of two columns, each made from another one.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused, read_events
from airflow_provider_spark_lineage.openlineage.graph.current import (
    ColumnEdge,
    Current,
    JobName,
    JobRead,
    JobRun,
    JobWrite,
)
from airflow_provider_spark_lineage.openlineage.graph.impact import Impact, document_of
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.selection import Selected, select

COLUMNS = [f"column_{number}" for number in range(20)]
FIELDS = tuple((name, "string") for name in COLUMNS)


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def event(kind: str, job: int, run: int) -> dict[str, Any]:
    """Return an event of a job that copies a dataset, filtered."""
    schema = {"fields": [{"name": name, "type": "string"} for name in COLUMNS]}
    source, target = f"/lake/layer_{job % 7}/table_{job // 7}", f"/lake/layer_{job % 7 + 1}/table_{job // 7}"
    read = {"namespace": "s3://lake", "name": source}
    how = [{"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}]
    fields = {name: {"inputFields": [{**read, "field": name, "transformations": how}]} for name in COLUMNS}
    filtered = [{**read, "field": COLUMNS[0], "transformations": [{"type": "INDIRECT", "subtype": "FILTER"}]}]
    lineage = {"columnLineage": {"fields": fields, "dataset": filtered}} if kind == "COMPLETE" else {}
    return {
        "eventType": kind,
        "eventTime": f"2026-01-{run % 28 + 1:02}T06:00:00Z",
        "producer": "https://example.com",
        "job": {"namespace": "jobs", "name": f"dag_{job % 100}.task_{job}", "facets": {}},
        "run": {"runId": f"{job}-{run}", "facets": {}},
        "inputs": [{**read, "facets": {"schema": schema}}],
        "outputs": [{"namespace": "s3://lake", "name": target, "facets": {"schema": schema, **lineage}}],
    }


def of_events(count: int, jobs: int) -> None:
    """Print how long events take from their file to a graph."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "events.jsonl"
        with place.open("w") as out:
            for number in range(count // 2):
                for kind in ("START", "COMPLETE"):
                    out.write(json.dumps(event(kind, number % jobs, number // jobs)) + "\n")
        size = place.stat().st_size / 1e6
        began = process_time()
        events = read_events(place)
        parsed = process_time()
        graph = LineageGraph.of(Current.of(events))
        built = process_time()
    print(f"{count:,} events of {jobs:,} jobs, {size:,.0f} MB: read {parsed - began:.1f} s,", end=" ")
    print(f"graph of {len(graph):,} edges {built - parsed:.1f} s, peak {memory_mb():,.0f} MB")


def wide(datasets: int) -> Current:
    """Return lineage in 12 layers; popular inputs get more popular."""
    chance = random.Random(1)  # noqa: S311
    size = datasets // 12
    popular: list[list[int]] = [[] for _ in range(12)]
    # Parsed lineage has each name once, too.
    names = [("s3://lake", f"table_{number}") for number in range(datasets)]
    writes = []
    for number in range(datasets):
        layer = number // size if number < size * 12 else 11
        run = JobRun(f"run{number}", "complete", "2026-01-01T00:00:00Z", 1)
        edges = []
        sources: set[tuple[str, str]] = set()
        if layer:
            before = popular[layer - 1]
            for column in COLUMNS:
                source = chance.choice(before) if before and chance.random() < 0.5 else None
                source = chance.randrange((layer - 1) * size, layer * size) if source is None else source
                before.append(source)
                sources.add(names[source])
                edges.append(
                    ColumnEdge(column, names[source], chance.choice(COLUMNS), "DIRECT", "IDENTITY", False)
                )
        writes.append(
            JobWrite(
                JobName("jobs", f"job{number}"),
                names[number],
                run,
                (*FIELDS,),
                tuple(edges),
                tuple(sorted(sources)),
                "overwrite",
                (),
            )
        )
    return Current(tuple(writes), (), {write.job: write.run for write in writes})


def of_a_hub(datasets: int) -> None:
    """Print how long the graph of many datasets takes, and the impact of its most used column."""
    current = wide(datasets)
    before = memory_mb()
    began = process_time()
    graph = LineageGraph.of(current)
    built = process_time() - began
    edges = sum(len(write.edges) for write in current.writes)
    print(
        f"{datasets:,} datasets, {edges:,} column edges: graph in {built:.1f} s, {before:,.0f} MB before,",
        end=" ",
    )
    print(f"peak {memory_mb():,.0f} MB")
    uses: dict[tuple[Any, str], int] = {}
    began = process_time()
    for write in current.writes:
        for edge in write.edges:
            uses[edge.source, edge.field] = uses.get((edge.source, edge.field), 0) + 1
    once = process_time() - began
    dataset, field = max(uses, key=lambda key: uses[key])
    node = graph.node_of(dataset, field)
    assert node is not None
    graph.reach([node])
    for by_rows in (False, True):
        began = process_time()
        reach = graph.reach([node], by_rows=by_rows)
        took = process_time() - began
        word = "values and rows" if by_rows else "values"
        print(f"  search of the hub by {word}: {len(reach.nodes):,} nodes in {took * 1000:.1f} ms;", end=" ")
        print(f"one loop over the edges takes {once / took:,.0f} times as long")
    began = process_time()
    impact = Impact(current, graph, [Selected(dataset, field)], direct_only=True)
    counts = len(impact.columns), len(impact.datasets), len(impact.jobs)
    print(f"  impact of the hub by value: {counts} columns, datasets, jobs in", end=" ")
    print(f"{(process_time() - began) * 1000:.0f} ms")


def tree(tables: int) -> Current:
    """Return the lineage of a tree: each dataset feeds two others, and all come from the first."""
    writes, reads = [], []
    schema = ("a", "string"), ("b", "string")
    for number in range(1, tables + 1):
        job, run = (
            JobName("jobs", f"job{number}"),
            JobRun(f"run{number}", "complete", "2026-01-01T00:00:00Z", 1),
        )
        source = "s3://lake", f"table_{number // 2}"
        edges = tuple(ColumnEdge(name, source, name, "DIRECT", "IDENTITY", False) for name in "ab")
        writes.append(
            JobWrite(job, ("s3://lake", f"table_{number}"), run, schema, edges, (source,), "overwrite", ())
        )
        reads.append(JobRead(job, source, run, schema))
    return Current(tuple(writes), tuple(reads), {write.job: write.run for write in writes})


def of_many_datasets(tables: int) -> None:
    """Print how long a graph of many small datasets takes, and the impact of one column and of all."""
    with collector_paused():
        current = tree(tables)
    before = memory_mb()
    began = process_time()
    graph = LineageGraph.of(current)
    print(
        f"{tables:,} datasets of 2 columns, {len(graph):,} edges: graph in {process_time() - began:.1f} s,"
        f" {before:,.0f} MB before, peak {memory_mb():,.0f} MB"
    )
    for name in (f"table_{tables // 4 + 1}.a", "table_0.a"):
        began = process_time()
        selected = select(current, graph, name)
        after = process_time()
        document = document_of(Impact(current, graph, [selected]))
        print(
            f"  {name}: found in {after - began:.1f} s, impact of {len(document['columns']):,} columns in"
            f" {process_time() - after:.1f} s, peak {memory_mb():,.0f} MB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="What the graph of many runs costs.")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--datasets", type=int, default=100_000)
    parser.add_argument("--tables", type=int, default=1_000_000)
    arguments = parser.parse_args()
    of_a_hub(arguments.datasets)
    of_many_datasets(arguments.tables)
    of_events(arguments.events, arguments.jobs)


if __name__ == "__main__":
    main()
