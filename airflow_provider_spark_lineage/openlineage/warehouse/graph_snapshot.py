"""The graph beside the tables: the arrays of `LineageGraph`, and what `Current` knows, as parquet.

A load writes it, and commands read it without Spark. The arrays are read at once; writes, reads and schemas
become objects when they are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, cast

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobRead, JobWrite
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import ColumnEdge, Fields, JobName, JobRun
from airflow_provider_spark_lineage.openlineage.warehouse.lazy import ByDataset, Each, Later, Made
from airflow_provider_spark_lineage.openlineage.warehouse.storage import (
    Folder,
    folder_of,
    read_columns,
    whole_files,
    write_rows,
)

with extra("warehouse"):
    import numpy as np
    import pyarrow as pa

_NONE = -1
"""Number of a schema that is not known."""

_RUN = {
    "job_namespace": pa.string(),
    "job_name": pa.string(),
    "is_last": pa.bool_(),
    "id": pa.string(),
    "state": pa.string(),
    "time": pa.string(),
    "time_ns": pa.decimal128(21, 0),
    "dag_id": pa.string(),
    "task_id": pa.string(),
    "logical_date": pa.string(),
    "owners": pa.list_(pa.string()),
}
"""Columns of `runs`; those from `id` on are the fields of `JobRun`."""

_TEXTS = pa.dictionary(pa.int32(), pa.string())
"""Texts that are often the same: read as numbers, and a list of the texts."""


class StoredGraph(NamedTuple):
    """A snapshot as it is read."""

    current: Current
    graph: LineageGraph


# ---- writing -------------------------------------------------------------------------------------------


@collector_paused()
def write_graph(folder: Folder, current: Current) -> None:
    """Write the graph of the current lineage into a folder, which must not exist."""
    graph = LineageGraph.of(current)
    folder.mkdir(parents=True)
    numbers = {dataset: number for number, dataset in enumerate(graph.datasets)}
    runs: dict[tuple[JobName, JobRun], int] = {}
    schemas: dict[Fields, int] = {(): _NONE}

    def number_of_run(job: JobName, run: JobRun) -> int:
        return runs.setdefault((job, run), len(runs))

    def number_of_schema(fields: Fields) -> int:
        return schemas.setdefault(fields, len(schemas) - 1)

    tables = {
        "writes": {
            "output": _numbers(numbers[write.output] for write in current.writes),
            "run": _numbers(number_of_run(write.job, write.run) for write in current.writes),
            "schema": _numbers(number_of_schema(tuple(write.fields)) for write in current.writes),
            "mode": [write.mode for write in current.writes],
            "gaps": [json.dumps([*write.gaps]) if write.gaps else "" for write in current.writes],
            "is_planned": [write.is_planned for write in current.writes],
            "edges": _numbers(len(write.edges) for write in current.writes),
        },
        "reads": {
            "input": _numbers(numbers[read.input] for read in current.reads),
            "run": _numbers(number_of_run(read.job, read.run) for read in current.reads),
            "schema": _numbers(number_of_schema(tuple(read.fields)) for read in current.reads),
        },
        "datasets": {
            "namespace": pa.array((dataset[0] for dataset in graph.datasets), _TEXTS),
            "name": pa.array((dataset[1] for dataset in graph.datasets), pa.string()),
            "columns": _numbers(len(graph.fields_of(dataset)) for dataset in graph.datasets),
            "schema": _numbers(
                number_of_schema(tuple(current.fields.get(dataset, ()))) for dataset in graph.datasets
            ),
        },
        "columns": {
            "name": pa.array((name for each in graph.datasets for name in graph.fields_of(each)), _TEXTS)
        },
        "edges": _edges(graph, current),
        "names": _names(current),
    }
    for job, run in current.runs.items():
        number_of_run(job, run)
    tables["runs"] = _runs(runs, current.runs)
    columns = [(number, *field) for fields, number in schemas.items() for field in fields]
    tables["schemas"] = {
        "schema": _numbers(column[0] for column in columns),
        "name": pa.array((column[1] for column in columns), _TEXTS),
        "type": pa.array((column[2] for column in columns), _TEXTS),
    }
    for name, parts in tables.items():
        write_rows(pa.table(parts), folder / f"{name}.parquet")
    kinds = json.dumps(graph.kinds)
    (folder / "kinds.json").write_text(kinds, encoding="utf-8")


def _numbers(values: Iterable[int]) -> Any:
    return np.fromiter(values, np.int32)


def _edges(graph: LineageGraph, current: Current) -> dict[str, Any]:
    """Return the arrays of the graph; an edge of a value to all rows counts as INDIRECT there."""
    was_direct = np.zeros(len(graph), np.bool_)
    place = 0
    for write in current.writes:
        for edge in write.edges:
            if edge.column is None and edge.type == "DIRECT":
                was_direct[place] = True
            place += 1
    return {
        "source": graph.source,
        "target": graph.target,
        "kind": graph.kind,
        "masking": graph.masking.astype(np.bool_),
        "write": graph.write,
        "was_direct": was_direct,
    }


def _runs(runs: Iterable[tuple[JobName, JobRun]], last: Mapping[JobName, JobRun]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [
        {
            **vars(run),
            "job_namespace": job.namespace,
            "job_name": job.name,
            "is_last": last.get(job) == run,
            "owners": list(run.owners),
        }
        for job, run in runs
    ]
    return {name: pa.array((row[name] for row in rows), kind) for name, kind in _RUN.items()}


def _names(current: Current) -> dict[str, Any]:
    """Return other names, each with its dataset; without one, if it is used for several at a time."""
    rows = [(*alias, *dataset) for alias, dataset in current.aliases.items()]
    rows += [(*name, None, None) for name in current.contradictions]  # type: ignore[misc]
    return {name: pa.array((row[place] for row in rows), pa.string()) for place, name in enumerate(_NAMES)}


# ---- reading -------------------------------------------------------------------------------------------


def read_graph(folder: Folder | str) -> StoredGraph:
    """Return the graph of a folder; raise BadInputError if a file of it is gone or broken."""
    with whole_files(folder):
        return _Stored(folder_of(folder)).whole()


class _Stored:
    """The files of a snapshot; a file is read when it is needed."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    @collector_paused()
    def whole(self) -> StoredGraph:
        graph, current = self._graph, self._current
        outputs = self._array("writes", "output")
        is_of_rows = slice(int(self._offsets[-1]), None)
        fed = graph.write[is_of_rows]
        # What `Current` would find by making all of its writes and reads.
        vars(current).update(
            datasets=graph.datasets,
            has_gaps=any(self._gaps),
            fields=self._fields_of_datasets(),
            fed=ByDataset(
                self._places,
                graph.places_of(graph.source[is_of_rows]),
                lambda edge: current.writes[int(fed[edge])],
            ),
            positions=ByDataset(self._places, outputs, lambda place: place),
            writers=ByDataset(self._places, outputs, lambda place: current.writes[place]),
            readers=ByDataset(
                self._places, self._array("reads", "input"), lambda place: current.reads[place]
            ),
        )
        return StoredGraph(current, graph)

    @cached_property
    def _graph(self) -> LineageGraph:
        namespaces, names = self._lists("datasets", "namespace", "name")
        [columns] = self._lists("columns", "name")
        ends = np.cumsum(self._array("datasets", "columns")).tolist()
        begins = [0, *ends[:-1]] if ends else []
        fields = {
            (namespace, name): tuple(columns[begin:end])
            for namespace, name, begin, end in zip(namespaces, names, begins, ends, strict=True)
        }
        edges = {
            name: self._array("edges", name) for name in ("source", "target", "kind", "masking", "write")
        }
        kinds = json.loads((self._folder / "kinds.json").read_text(encoding="utf-8"))
        return LineageGraph(fields, edges, [(kind, subtype) for kind, subtype in kinds], self._writes)  # type: ignore[arg-type]

    @cached_property
    def _current(self) -> Current:
        names = [*zip(*self._lists("names", *_NAMES), strict=True)]
        jobs = enumerate(zip(*self._lists("runs", "job_namespace", "job_name", "is_last"), strict=True))
        reads = Each(len(self._array("reads", "input")), self._read)
        return Current(
            writes=self._writes,  # type: ignore[arg-type]
            reads=reads,  # type: ignore[arg-type]
            runs=Made({JobName(*job): number for number, (*job, is_last) in jobs if is_last}, self._run),
            aliases={row[:2]: row[2:] for row in names if row[2] is not None},
            contradictions=tuple(row[:2] for row in names if row[2] is None),
        )

    def _fields_of_datasets(self) -> Mapping[Id, Fields]:
        schemas = self._array("datasets", "schema")
        known = zip(self._graph.datasets, schemas.tolist(), strict=True)
        numbers = {dataset: number for dataset, number in known if number != _NONE}
        return Made(numbers, self._fields)

    @cached_property
    def _places(self) -> dict[Id, int]:
        return {dataset: place for place, dataset in enumerate(self._graph.datasets)}

    # ---- writes, reads and runs ----------------------------------------------------------------------

    @cached_property
    def _writes(self) -> Each[JobWrite]:
        return Each(len(self._gaps), self._write)

    @cached_property
    def _gaps(self) -> list[str]:
        gaps: list[str] = self._lists("writes", "gaps")[0]
        return gaps

    @cached_property
    def _offsets(self) -> Any:
        return np.concatenate(([0], np.cumsum(self._array("writes", "edges"), dtype=np.int64)))

    @cached_property
    def _of_writes(self) -> list[tuple[int, int, int, str, bool]]:
        return [*zip(*self._lists("writes", "output", "run", "schema", "mode", "is_planned"), strict=True)]

    def _write(self, place: int) -> JobWrite:
        output, run, schema, mode, is_planned = self._of_writes[place]
        begin, end = self._offsets[place : place + 2].tolist()
        sources_of = self._graph.datasets
        first, last = self._rows_of_writes[place : place + 2].tolist()
        return JobWrite(
            job=self._jobs[run],
            output=sources_of[output],
            run=self._run(run),
            fields=self._later_fields(schema),
            edges=Later(end - begin, lambda: self._edges(begin, end)),  # type: ignore[arg-type]
            sources=Later(last - first, lambda: self._sources(first, last)),  # type: ignore[arg-type]
            mode=mode,
            gaps=tuple(json.loads(self._gaps[place])) if self._gaps[place] else (),
            is_planned=is_planned,
        )

    @cached_property
    def _rows_of_writes(self) -> Any:
        """For each write the position of its first edge between all rows."""
        begin = int(self._offsets[-1])
        return begin + np.searchsorted(self._graph.write[begin:], np.arange(len(self._gaps) + 1))

    def _read(self, place: int) -> JobRead:
        dataset, run, schema = self._of_reads[place]
        return JobRead(
            self._jobs[run], self._graph.datasets[dataset], self._run(run), self._later_fields(schema)
        )

    @cached_property
    def _of_reads(self) -> list[tuple[int, int, int]]:
        return [*zip(*self._lists("reads", "input", "run", "schema"), strict=True)]

    def _edges(self, begin: int, end: int) -> tuple[ColumnEdge, ...]:
        return tuple(map(self._edge, range(begin, end)))

    def _edge(self, place: int) -> ColumnEdge:
        graph = self._graph
        source, target = graph.node(int(graph.source[place])), graph.node(int(graph.target[place]))
        kind, subtype = graph.kinds[graph.kind[place]]
        kind = "DIRECT" if self._was_direct[place] else kind
        return ColumnEdge(
            target.field, source.dataset, source.field or "", kind, subtype, bool(graph.masking[place])
        )

    @cached_property
    def _was_direct(self) -> Any:
        return self._array("edges", "was_direct")

    def _sources(self, begin: int, end: int) -> tuple[Id, ...]:
        return tuple(self._graph.dataset_of(each) for each in self._graph.source[begin:end].tolist())

    @cached_property
    def _jobs(self) -> list[JobName]:
        return [JobName(*row) for row in zip(*self._lists("runs", "job_namespace", "job_name"), strict=True)]

    @cached_property
    def _of_runs(self) -> list[tuple[Any, ...]]:
        return [*zip(*self._lists("runs", *[*_RUN][3:]), strict=True)]

    def _run(self, number: int) -> JobRun:
        if self._made_runs[number] is None:
            run_id, state, time, time_ns, dag_id, task_id, date, owners = self._of_runs[number]
            self._made_runs[number] = JobRun(
                run_id, state, time, int(time_ns), dag_id, task_id, date, tuple(owners)
            )
        return cast("JobRun", self._made_runs[number])

    @cached_property
    def _made_runs(self) -> list[JobRun | None]:
        return [None] * len(self._of_runs)

    # ---- schemas -------------------------------------------------------------------------------------

    def _later_fields(self, schema: int) -> Any:
        if schema == _NONE:
            return ()
        begin, end = self._schemas[0][schema : schema + 2].tolist()
        return Later(end - begin, lambda: self._fields(schema))

    def _fields(self, schema: int) -> Fields:
        offsets, columns = self._schemas
        begin, end = offsets[schema : schema + 2]
        return tuple(columns[begin:end]) if schema != _NONE else ()

    @cached_property
    def _schemas(self) -> tuple[Any, list[tuple[str, str]]]:
        numbers = self._array("schemas", "schema")
        count = int(numbers[-1]) + 1 if len(numbers) else 0
        names, types = self._lists("schemas", "name", "type")
        return np.searchsorted(numbers, np.arange(count + 1)), [*zip(names, types, strict=True)]

    # ---- files ---------------------------------------------------------------------------------------

    def _array(self, table: str, column: str) -> Any:
        return self._read_columns(table, column).column(0).to_numpy()

    def _lists(self, table: str, *columns: str) -> list[list[Any]]:
        read = self._read_columns(table, *columns)
        return [_listed(read.column(name)) for name in columns]

    def _read_columns(self, table: str, *columns: str) -> Any:
        return read_columns(self._folder / f"{table}.parquet", [*columns])


_NAMES = ("namespace", "name", "dataset_namespace", "dataset_name")


def _listed(column: Any) -> list[Any]:
    """Return a column as a list; equal texts of a dictionary are one object."""
    if not pa.types.is_dictionary(column.type):
        values: list[Any] = column.to_pylist()
        return values
    return [
        text
        for chunk in column.chunks
        for texts in [chunk.dictionary.to_pylist()]
        for text in map(texts.__getitem__, chunk.indices.to_pylist())
    ]
