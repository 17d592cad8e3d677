"""Reads tables of a warehouse without Spark, and the lineage that is current after its last load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError, extra
from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.names import DatasetNames
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import (
    ColumnEdge,
    Fields,
    JobName,
    JobRun,
    RunLineage,
    RunRead,
    RunWrite,
)
from airflow_provider_spark_lineage.openlineage.warehouse.graph_snapshot import StoredGraph, read_graph
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import GRAPH, StoredTables, whole_tables
from airflow_provider_spark_lineage.openlineage.warehouse.storage import Folder, dataset_at, whole_files

with extra("warehouse"):
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

Row = Mapping[str, Any]


def current_lineage(path: Folder | str) -> Current:
    """Return the current lineage of a warehouse; the same as `Current.of` returns for its events."""
    return lineage_in(loaded_tables(path))


def loaded_tables(path: Folder | str) -> StoredTables:
    """Return the current tables of a warehouse; raise BadInputError if there are none, or files are gone."""
    snapshot = whole_tables(path)
    if not snapshot.load_id:
        raise BadInputError(f"{snapshot.path} has no warehouse: `spark-lineage warehouse load` makes one.")
    return snapshot


def graph_in(snapshot: StoredTables) -> StoredGraph:
    """Return the current lineage of a snapshot, and its graph, as its last load stored them."""
    for folder in snapshot.folders(GRAPH):
        return read_graph(folder)
    # No load has found a run.
    with whole_files(snapshot.path):
        current = lineage_in(snapshot)
    return StoredGraph(current, LineageGraph.of(current))


def rows_of(
    snapshot: StoredTables,
    table: str,
    keys: Collection[Any] | None = None,
    *,
    column: str = "run_id",
    dates: Iterable[str] | None = None,
    columns: Collection[str] | None = None,
) -> Iterator[Row]:
    """Yield the rows of a table, of all dates or of some, and of all keys in a column or of some.

    They have all columns, or some.
    """
    for batch in _batches_of(snapshot, table, keys, column=column, dates=dates, columns=columns):
        yield from batch.to_pylist()


_MOST_ROWS = 10_000
"""Limit of the rows of a batch: as objects of Python, they take ten times the memory."""


def _batches_of(
    snapshot: StoredTables,
    table: str,
    keys: Collection[Any] | None,
    *,
    column: str,
    dates: Iterable[str] | None = None,
    columns: Collection[str] | None = None,
) -> Iterator[Any]:
    if keys is not None and not keys:
        return
    wanted = None if keys is None else ds.field(column).isin([*keys])
    chosen = None if columns is None else [*columns]
    for folder in snapshot.folders(table, dates):
        yield from dataset_at(folder).to_batches(columns=chosen, filter=wanted, batch_size=_MOST_ROWS)


def tag_facets_in(snapshot: StoredTables) -> list[tuple[int, Id, Row]]:
    """Return the newest facets `tags` of datasets, oldest first, each with its time and its dataset."""
    rows = sorted(rows_of(snapshot, "dataset_tags"), key=lambda row: (row["said_ns"], row["event_id"]))
    return [(int(row["said_ns"]), (row["namespace"], row["name"]), row) for row in rows]


@collector_paused()
def lineage_in(snapshot: StoredTables, since: int | None = None) -> Current:
    """Return the current lineage of the tables of a snapshot, of runs that ended at `since` or later."""
    return _Reading(snapshot).current(since)


def names_in(rows: Iterable[Row], datasets: Mapping[int, Id]) -> DatasetNames:
    """Return the symlinks of rows of `dataset_names`."""
    return DatasetNames.said(
        (int(row[key]), (row["namespace"], row["name"]), datasets[row["dataset_id"]])
        for row in rows
        for key in ("first_said_ns", "last_said_ns")
    )


class _Reading:
    """The rows of a snapshot that decide the current lineage."""

    def __init__(self, snapshot: StoredTables) -> None:
        datasets = datasets_in(snapshot)
        statements = rows_of(snapshot, "dataset_names", columns=_OF_NAMES)
        self._names = names_in(statements, datasets)
        current = {row["run_id"]: str(row["run_date"]) for row in rows_of(snapshot, "current_runs")}
        dates = sorted(set(current.values()))

        def rows(table: str, columns: Collection[str]) -> Iterator[Row]:
            return rows_of(snapshot, table, current, dates=dates, columns=columns)

        self._runs = sorted(rows("runs", _OF_RUNS), key=order_of)
        inputs = by_run(rows("run_inputs", _OF_INPUTS))
        outputs = by_run(rows("run_outputs", _OF_OUTPUTS))
        used = {row["lineage_id"] for rows in outputs.values() for row in rows}
        versions = versions_in(snapshot, used, datasets)
        self._rows = RunRows(datasets, schemas_in(snapshot), versions, inputs, outputs)

    def current(self, since: int | None) -> Current:
        last: dict[JobName, JobRun] = {}

        def runs() -> Iterator[RunLineage]:
            for row in self._runs:
                if since is not None and int(row["time_ns"]) < since:
                    continue
                lineage = self._rows.lineage(row)
                last[lineage.job] = lineage.run
                yield lineage

        return Current.of_runs(runs(), self._names, last)


_OF_RUNS = (
    *(
        "run_id",
        "job_namespace",
        "job_name",
        "group_id",
        "is_instance",
        "state",
        "event_time_text",
        "time_ns",
    ),
    *("last_event_id", "dag_id", "task_id", "logical_date", "owners"),
)
_OF_NAMES = ("namespace", "name", "dataset_id", "first_said_ns", "last_said_ns")
_OF_INPUTS = ("run_id", "dataset_id", "schema_id")
_OF_OUTPUTS = (*_OF_INPUTS, "lineage_id", "lifecycle")
"""Columns of the rows that decide the current lineage."""


def datasets_in(snapshot: StoredTables) -> dict[int, Id]:
    """Return the names behind the ids of datasets."""
    rows = rows_of(snapshot, "datasets", columns=("dataset_id", "namespace", "name"))
    return {row["dataset_id"]: (row["namespace"], row["name"]) for row in rows}


def schemas_in(snapshot: StoredTables) -> dict[int, Fields]:
    """Return the columns behind the ids of schemas."""
    return {row["schema_id"]: fields_in(row) for row in rows_of(snapshot, "dataset_schemas")}


def fields_in(row: Row) -> Fields:
    """Return the columns of a row of `dataset_schemas`."""
    return tuple((column["name"], column["type"]) for column in row["columns"])


@dataclass(frozen=True)
class StoredVersion:
    """A row of `lineage_versions`, with names in place of ids."""

    edges: tuple[ColumnEdge, ...]
    sources: tuple[Id, ...]
    gaps: Sequence[Row]
    is_planned: bool

    @classmethod
    def of(cls, row: Row, datasets: Mapping[int, Id]) -> StoredVersion:
        """Return the version of a row."""
        edges = (
            ColumnEdge(
                edge["target_column"], datasets[edge["source_id"]], *(edge[name] for name in _OF_EDGES)
            )
            for edge in row["edges"]
        )
        return cls._with(row, tuple(edges), datasets)

    @classmethod
    def _with(cls, row: Row, edges: tuple[ColumnEdge, ...], datasets: Mapping[int, Id]) -> StoredVersion:
        sources = tuple(datasets[source] for source in row["sources"])
        return cls(edges, sources, row["gaps"], row["is_planned"])

    @classmethod
    def in_batch(cls, batch: Any, datasets: Mapping[int, Id]) -> Iterator[tuple[int, StoredVersion]]:
        """Yield the versions of a batch of rows, each with its id; equal texts are one object."""
        edges = pc.list_flatten(batch.column("edges"))
        texts = (_texts(pc.struct_field(edges, name)) for name in ("target_column", *_OF_EDGES[:-1]))
        columns, *others = texts
        sources = map(datasets.__getitem__, pc.struct_field(edges, "source_id").to_pylist())
        masking = pc.struct_field(edges, _OF_EDGES[-1]).to_pylist()
        column_edges = map(ColumnEdge, columns, sources, *others, masking)
        sizes = pc.list_value_length(batch.column("edges")).to_pylist()
        for row, size in zip(batch.select([*_OF_VERSIONS]).to_pylist(), sizes, strict=True):
            yield row["lineage_id"], cls._with(row, tuple(islice(column_edges, size)), datasets)


_OF_VERSIONS = ("lineage_id", "sources", "gaps", "is_planned")
_OF_EDGES = ("source_column", "type", "subtype", "masking")
"""Columns of an edge in the order of `ColumnEdge`, after the ends that are datasets."""


def _texts(column: Any) -> Iterator[str | None]:
    encoded = column.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    for index in encoded.indices.to_pylist():
        yield None if index is None else texts[index]


def versions_in(
    snapshot: StoredTables, ids: Collection[int], datasets: Mapping[int, Id]
) -> dict[int, StoredVersion]:
    """Return the rows of `lineage_versions` with some ids."""
    batches = _batches_of(
        snapshot, "lineage_versions", ids, column="lineage_id", columns=(*_OF_VERSIONS, "edges")
    )
    return {number: version for each in batches for number, version in StoredVersion.in_batch(each, datasets)}


def order_of(row: Row) -> tuple[int, str]:
    """Return what orders the rows of `runs` as the graph does."""
    return int(row["time_ns"]), row["last_event_id"]


@dataclass(frozen=True)
class RunRows:
    """Rows of tables that tell the lineage of runs."""

    datasets: Mapping[int, Id]
    schemas: Mapping[int, Fields]
    versions: Mapping[int, StoredVersion]
    inputs: Mapping[str, Sequence[Row]]
    outputs: Mapping[str, Sequence[Row]]
    """Run id -> rows of `run_inputs` and `run_outputs`."""

    def lineage(self, row: Row) -> RunLineage:
        """Return the lineage of a row of `runs`."""
        run = JobRun(
            id=row["run_id"],
            state=row["state"],
            time=row["event_time_text"],
            time_ns=int(row["time_ns"]),
            dag_id=row["dag_id"],
            task_id=row["task_id"],
            logical_date=row["logical_date"],
            owners=tuple(row["owners"]),
        )
        return RunLineage(
            job=JobName(row["job_namespace"], row["job_name"]),
            run=run,
            group=row["group_id"] if row["is_instance"] else "",
            reads=tuple(
                RunRead(self.datasets[each["dataset_id"]], self._fields(each))
                for each in self._by_name(self.inputs, row)
            ),
            writes=tuple(map(self._write, self._by_name(self.outputs, row))),
        )

    def _by_name(self, touched: Mapping[str, Sequence[Row]], run: Row) -> list[Row]:
        """Return the rows of a run in the order of `lineage_of`, whatever order the files have.

        If two names mean one dataset, the columns at the later name count.
        """
        return sorted(touched.get(run["run_id"], ()), key=lambda row: self.datasets[row["dataset_id"]])

    def _write(self, row: Row) -> RunWrite:
        version = self.versions[row["lineage_id"]]
        output = self.datasets[row["dataset_id"]]
        return RunWrite(
            output=output,
            fields=self._fields(row),
            edges=version.edges,
            sources=version.sources,
            mode=row["lifecycle"],
            gaps=tuple(_gap(gap, output) for gap in version.gaps),
            is_planned=version.is_planned,
        )

    def _fields(self, row: Row) -> Fields:
        return self.schemas[row["schema_id"]] if row["schema_id"] is not None else ()


def by_run(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return rows by their run ids."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["run_id"]].append(row)
    return grouped


def _gap(gap: Row, output: Id) -> dict[str, Any]:
    return {
        "where": gap["place"],
        "kind": gap["kind"],
        "reason": gap["reason"],
        "output": dict(zip(("namespace", "name"), output, strict=True)) if gap["of_output"] else None,
        "column": gap["column"],
    }
