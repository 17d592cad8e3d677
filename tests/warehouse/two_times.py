"""Two times of a history, and the changes between them: by a warehouse, and by the events themselves."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from graph.estate import dataset, edges, run
from warehouse.histories import graph_of

from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns
from airflow_provider_spark_lineage.openlineage.graph.changes import compared
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.warehouse.asking import loaded_tables, rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.changes_between import changes_in
from airflow_provider_spark_lineage.openlineage.warehouse.past import Past

Documents = list[dict[str, Any]]


def times_of(chance: random.Random, days: str) -> list[int]:
    """Return two times: the begins of days, or whole and half hours of them."""
    hour = f"T{chance.randrange(24):02}:{chance.choice(['00', '30'])}:00Z"
    texts = [f"2026-01-0{chance.choice(days)}{each}" for each in ("T00:00:00Z", hour)]
    return sorted(map(instant_ns, texts))


def rebuilt(documents: Documents, times: list[int], without: list[JobName] = ()) -> tuple[Any, ...]:
    """Return the changes between two graphs, without some jobs, and the names that are not followed."""
    graphs = [graph_of(documents, as_of=time) for time in times]
    some = [
        Current(
            tuple(write for write in graph.writes if write.job not in without),
            tuple(read for read in graph.reads if read.job not in without),
            {job: last for job, last in graph.runs.items() if job not in without},
        )
        for graph in graphs
    ]
    names = sorted({name for graph in graphs for name in graph.contradictions})
    return [each.document() for each in compared(*some)], names


def found_in(path: Path, times: list[int]) -> tuple[Any, ...]:
    found = changes_in(Past(loaded_tables(path)), *times)
    return [each.document() for each in found.changes], found.contradictions, found.left_out


def keep_current(path: Path, documents: Documents) -> None:
    """Write the runs that decide the current lineage, as a load does; the plain tables have all."""
    current = graph_of(documents)
    ids = {each.run.id for each in (*current.writes, *current.reads)}
    ids |= {last.id for last in current.runs.values()}
    tables = loaded_tables(path)
    rows = [row for row in rows_of(tables, "runs") if row["is_counted"]]
    groups = {(row["job_id"], row["group_id"]) for row in rows if row["run_id"] in ids}
    kept = [
        {"run_id": row["run_id"], "run_date": row["event_date"]}
        for row in rows
        if (row["job_id"], row["group_id"]) in groups
    ]
    [folder] = tables.folders("current_runs")
    file = Path(folder) / "part-0.parquet"
    pq.write_table(pa.Table.from_pylist(kept, pq.read_schema(file)), file)


def over_midnight() -> Documents:
    """Return a DAG run over midnight: one task ends before it, and one is under way."""
    facet = {"airflowDagRun": {"dag": {"dag_id": "shop"}, "dagRun": {"run_id": "r", "clear_number": 0}}}
    parent = {"parent": {"run": {"runId": "dag"}, "job": {"namespace": "jobs", "name": "shop"}}}
    early = dataset("early", "id", **edges("id <- raw.id"))
    late = dataset("late", "id", **edges("id <- early.id"))
    events = [
        run("shop", day=1, hour=22, state="START", id="dag", facets=facet, ours=False),
        run("shop.early", [dataset("raw", "id")], [early], day=1, hour=23, id="1", facets=parent),
        run("shop.late", [early, dataset("side")], day=1, hour=23, state="START", id="2", facets=parent),
        run("shop.late", [early], [late], day=2, hour=1, id="2", facets=parent),
        run("shop", day=2, hour=2, id="dag", facets=facet, ours=False),
    ]
    return [
        *events,
        run("shop.early", [dataset("raw", "id")], [early], day=3, hour=23, id="3"),
        run("other", [dataset("x")], [dataset("y")], day=3, hour=1),
    ]
