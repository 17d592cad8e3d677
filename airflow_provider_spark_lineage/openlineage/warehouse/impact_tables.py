"""Tables of what depends on each column: `column_impact` and `blast_radius`, computed by Spark.

Each task reads the arrays that the last load stored beside the tables, and searches from some of the columns.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError, extra
from airflow_provider_spark_lineage.openlineage.graph.closure import Closure, Downstream
from airflow_provider_spark_lineage.openlineage.warehouse.asking import loaded_tables
from airflow_provider_spark_lineage.openlineage.warehouse.early_ends import ended_early
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    EACH_LOAD,
    GRAPH,
    loading,
    publish,
    remove_unused,
)
from airflow_provider_spark_lineage.openlineage.warehouse.storage import folder_of
from airflow_provider_spark_lineage.openlineage.warehouse.tables import IMPACT_TABLES

with extra("warehouse"):
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

_COLUMNS_OF_A_TASK = 50_000

_MOST_ROWS = 50_000
"""Limit of the rows of a batch."""


@dataclass
class ImpactSummary:
    """Summary of `write_impact`."""

    load_id: str
    """The load whose lineage the tables have."""
    columns: int = 0
    """Columns of all datasets: rows of `blast_radius`."""
    rows: int = 0
    """Rows of `column_impact`."""
    seconds: float = 0

    def document(self) -> dict[str, Any]:
        """Return the summary as a JSON object."""
        return asdict(self)


def write_impact(
    spark: Any, path: Path | str, *, direct_only: bool = False, depth: int | None = None
) -> ImpactSummary:
    """Write the tables `column_impact` and `blast_radius` of a warehouse anew, from its last load.

    With `direct_only` values alone are followed; `depth` limits the number of jobs on a path. Raises
    BadInputError without a warehouse, and during a load.
    """
    began = time.monotonic()
    path = impact_folder(path)
    with loading(path), ended_early("warehouse impact"):
        before = loaded_tables(path)
        remove_unused(before)
        summary = ImpactSummary(before.load_id)
        after = deepcopy(before)
        name = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S}-impact-{secrets.token_hex(4)}"
        graphs = before.folders(GRAPH)
        counts = dict.fromkeys(IMPACT_TABLES, 0)
        for table in IMPACT_TABLES:
            after.tables[table] = {EACH_LOAD: [f"data/{name}/{table}"]} if graphs else {}
            for graph, place in zip(graphs, after.folders(table), strict=True):
                rows = impact_rows(table, graph, before.load_id, direct_only=direct_only, depth=depth)
                _write(spark, rows, table, Path(graph), Path(place))
                files = Path(place).glob("*.parquet")
                counts[table] += sum(pq.read_metadata(file).num_rows for file in files)
        publish(after)
        remove_unused(before, after)
    summary.rows, summary.columns = counts["column_impact"], counts["blast_radius"]
    summary.seconds = round(time.monotonic() - began, 1)
    return summary


def impact_folder(path: Path | str) -> Path:
    """Return the folder of a warehouse; raise BadInputError if it has none, or is an address."""
    folder = folder_of(path)
    if not isinstance(folder, Path):
        raise BadInputError(f"{folder} is an address: `warehouse impact` needs a folder of a file system.")
    loaded_tables(folder)
    return folder.absolute()


def _write(spark: Any, rows: Any, table: str, graph: Path, folder: Path) -> None:
    tasks = 1 + pq.read_metadata(graph / "columns.parquet").num_rows // _COLUMNS_OF_A_TASK
    ids = spark.range(0, tasks, 1, tasks).selectExpr("id AS task", f"{tasks} AS tasks")
    ids.mapInArrow(rows, IMPACT_TABLES[table].ddl).write.parquet(str(folder))
    if not folder.is_dir():
        raise BadInputError(
            f"Spark wrote {folder} to another machine or file system: the warehouse must be a folder that"
            " Spark and this process share."
        )


def impact_rows(
    table: str, graph: str, load_id: str, *, direct_only: bool = False, depth: int | None = None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a function that yields rows of a table for batches with the numbers of tasks.

    Each task gets every so many column, because neighbours are alike: a hub has others beside it.
    """

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        stored = _stored(graph, not direct_only)
        for batch in batches:
            for row in batch.to_pylist():
                columns = stored.columns[row["task"] :: row["tasks"]]
                for reached in stored.closure.downstream(columns, depth=depth):
                    yield from _ROWS[table](stored, reached, load_id)

    return rows


@lru_cache(maxsize=1)
def _stored(folder: str, by_rows: bool) -> _StoredArrays:
    """Return the arrays; Spark's worker keeps its process, and so these, for the tasks that follow."""
    return _StoredArrays(Path(folder), by_rows)


class _StoredArrays:
    """The arrays and names of a stored graph."""

    def __init__(self, folder: Path, by_rows: bool) -> None:
        edges, datasets, columns, writes, runs = (
            pq.read_table(folder / f"{name}.parquet").unify_dictionaries().combine_chunks()
            for name in ("edges", "datasets", "columns", "writes", "runs")
        )
        self._namespaces, self._names = datasets["namespace"], datasets["name"]
        self._column_names = columns["name"]
        sizes = datasets["columns"].to_numpy() + 1
        self.starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        self.place = np.repeat(np.arange(len(sizes)), sizes)
        """For each node the position of its dataset."""
        nodes = np.arange(self.starts[-1])
        self.columns = nodes[nodes != self.starts[self.place]]
        kinds = json.loads((folder / "kinds.json").read_text(encoding="utf-8"))
        is_direct = np.array([kind == "DIRECT" for kind, _ in kinds], np.bool_)
        numbers: dict[Any, int] = {}
        names = zip(runs["job_namespace"].to_pylist(), runs["job_name"].to_pylist(), strict=True)
        jobs = np.array([numbers.setdefault(job, len(numbers)) for job in names], np.int64)
        self.closure = Closure(
            edges["source"].to_numpy(),
            edges["target"].to_numpy(),
            is_direct[edges["kind"].to_numpy()],
            jobs[writes["run"].to_numpy()][edges["write"].to_numpy()],
            self.starts,
            by_rows=by_rows,
        )

    def is_all_rows(self, nodes: Any) -> Any:
        return nodes == self.starts[self.place[nodes]]

    def names(self, nodes: Any) -> list[Any]:
        """Return namespaces, names and columns of some nodes; the column of all rows is null."""
        places = self.place[nodes]
        columns = pa.array(nodes - places - 1, mask=self.is_all_rows(nodes))
        texts = (self._namespaces.take(places), self._names.take(places), self._column_names.take(columns))
        # Spark reads no dictionaries.
        return [each.combine_chunks().cast(pa.string()) for each in texts]


def _column_impact(stored: _StoredArrays, reached: Downstream, load_id: str) -> Iterator[Any]:
    for first in range(0, len(reached.target), _MOST_ROWS):
        some = slice(first, first + _MOST_ROWS)
        values = [reached.by_value[some], reached.by_rows[some], reached.depth[some].astype(np.int32)]
        yield _batch(
            "column_impact",
            *stored.names(reached.sources[reached.origin[some]]),
            *stored.names(reached.target[some]),
            *map(pa.array, values),
            load_id=load_id,
        )


def _blast_radius(stored: _StoredArrays, reached: Downstream, load_id: str) -> Iterator[Any]:
    count = len(reached.sources)
    own = stored.place[reached.sources]
    place = stored.place[reached.target]
    is_rows = stored.is_all_rows(reached.target)
    # Pairs are sorted: of one dataset its rows come first, and its columns follow.
    is_new = np.ones(len(place), np.bool_)
    is_new[1:] = (reached.origin[1:] != reached.origin[:-1]) | (place[1:] != place[:-1])
    group = np.cumsum(is_new) - 1
    of_group, at = reached.origin[is_new], place[is_new]
    listed = np.bincount(group, ~is_rows, minlength=len(at)).astype(np.int64)
    # All rows of a dataset are all of its columns, without the one that the search began with.
    columns = np.where(is_rows[is_new], np.diff(stored.starts)[at] - 1 - (at == own[of_group]), listed)
    counts = (
        np.bincount(of_group, columns, minlength=count),
        np.bincount(reached.origin, reached.by_value, minlength=count),
        np.bincount(of_group, at != own[of_group], minlength=count),
        reached.jobs,
    )
    for first in range(0, count, _MOST_ROWS):
        some = slice(first, first + _MOST_ROWS)
        values = [pa.array(each[some].astype(np.int64)) for each in counts]
        yield _batch("blast_radius", *stored.names(reached.sources[some]), *values, load_id=load_id)


def _batch(table: str, *values: Any, load_id: str) -> Any:
    names = [column.name for column in IMPACT_TABLES[table].columns]
    return pa.RecordBatch.from_arrays([*values, pa.array([load_id] * len(values[0]), pa.string())], names)


_ROWS: dict[str, Callable[[_StoredArrays, Downstream, str], Iterator[Any]]] = {
    "column_impact": _column_impact,
    "blast_radius": _blast_radius,
}
