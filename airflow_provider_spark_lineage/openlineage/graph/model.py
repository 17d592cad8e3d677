"""The graph as arrays, with searches in both directions.

A node is a column, or *all rows* of a dataset. An edge leads from a source to what follows from it: a DIRECT
edge from a column to a column, an INDIRECT edge of one field to that field, one of a whole output to all rows
of the output, and all rows of a source to all rows of its output. All rows of a dataset lead to each of its
columns: the search knows it, and no edges are stored for it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobWrite

with extra("graph"):
    import numpy as np

BY_VALUE, BY_ROWS = 0, 1
"""How a node is reached: by a path of DIRECT edges, or by a path with any other step."""

HOW = ("value", "rows")
"""Words for both."""

_START, _OF_DATASET = -1, -2
"""Marks of the beginning of a path, and of a step from all rows of a dataset to its column."""


class GraphNode(NamedTuple):
    """A column, or all rows of a dataset if `field` is None."""

    namespace: str
    name: str
    field: str | None

    @property
    def dataset(self) -> Id:
        """The id of its dataset."""
        return self.namespace, self.name


class PathStep(NamedTuple):
    """One step of a path, from a node to what follows from it."""

    source: GraphNode
    target: GraphNode
    type: str
    """`DIRECT` or `INDIRECT`; `ROWS` from all rows to a column of the dataset, or to rows made from them."""
    subtype: str
    masking: bool
    write: JobWrite | None
    """The write that made the edge; None if no job is needed for it."""


class LineageGraph:
    """The lineage of many runs. Build it with `of`."""

    def __init__(
        self,
        fields: Mapping[Id, Iterable[str]],
        edges: Mapping[str, array[int]],
        kinds: list[tuple[str, str]],
        writes: tuple[JobWrite, ...],
    ) -> None:
        self._fields = {dataset: tuple(fields[dataset]) for dataset in sorted(fields)}
        self.datasets = tuple(self._fields)
        """All datasets, sorted by namespace and name."""
        self._place = {dataset: place for place, dataset in enumerate(self.datasets)}
        sizes = np.fromiter((len(some) + 1 for some in self._fields.values()), np.int64, len(self._fields))
        self._starts = np.concatenate(([0], np.cumsum(sizes)))
        self._dataset_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._source, self._target, self.kind, self.masking, self._write = (
            np.frombuffer(edges[key], dtype=dtype) if len(edges[key]) else np.zeros(0, dtype)
            for key, dtype in _COLUMNS.items()
        )
        self.kinds = kinds
        """Type and subtype of each kind; `kind` has the kind of each edge, by its position here."""
        self._is_direct = np.array([kind[0] == "DIRECT" for kind in kinds])[self.kind]
        self._writes = writes

    @classmethod
    def of(cls, current: Current) -> LineageGraph:
        """Return the graph of the current lineage."""
        fields: dict[Id, dict[str, int]] = {dataset: {} for dataset in current.datasets}
        for dataset, types in current.fields.items():
            fields.setdefault(dataset, {}).update(dict.fromkeys(types, 0))
        for write in current.writes:
            own = fields[write.output]
            for edge in write.edges:
                fields[edge.source][edge.field] = 0
                if edge.column is not None:
                    own[edge.column] = 0
        start = 0
        starts: dict[Id, int] = {}
        for dataset in sorted(fields):
            starts[dataset] = start
            for number, name in enumerate(fields[dataset], start + 1):
                fields[dataset][name] = number
            start += len(fields[dataset]) + 1
        arrays, kinds = _arrays(current.writes, fields, starts)
        return cls(fields, arrays, kinds, current.writes)

    def __len__(self) -> int:
        """Return the number of edges."""
        return len(self._source)

    def step(self, edge: int) -> PathStep:
        """Return what an edge is, by its position."""
        kind, subtype = self.kinds[self.kind[edge]]
        source, target = self.node(int(self._source[edge])), self.node(int(self._target[edge]))
        return PathStep(
            source, target, kind, subtype, bool(self.masking[edge]), self._writes[self._write[edge]]
        )

    def fields_of(self, dataset: Id) -> tuple[str, ...]:
        """Return the columns of a dataset; none if it is unknown."""
        return self._fields.get(dataset, ())

    def node_of(self, dataset: Id, field: str | None = None) -> int | None:
        """Return the node of a column, or of all rows; None if there is none."""
        place = self._place.get(dataset)
        if place is None:
            return None
        start = int(self._starts[place])
        if field is None:
            return start
        fields = self._fields[dataset]
        return start + 1 + fields.index(field) if field in fields else None

    def node(self, number: int) -> GraphNode:
        """Return the column or dataset of a node."""
        place = int(self._dataset_of[number])
        dataset, offset = self.datasets[place], number - int(self._starts[place])
        return GraphNode(*dataset, self._fields[dataset][offset - 1] if offset else None)

    def is_all_rows(self, number: int) -> bool:
        """Return whether a node means all rows of its dataset."""
        return number == int(self._starts[self._dataset_of[number]])

    def nodes_of(self, dataset: Id) -> range:
        """Return the nodes of a dataset: all rows, then each column; none if it is unknown."""
        place = self._place.get(dataset)
        if place is None:
            return range(0)
        return range(int(self._starts[place]), int(self._starts[place + 1]))

    def edges_that(self, *, masking: bool = False, subtypes: Iterable[str] = ()) -> np.ndarray[Any, Any]:
        """Return for each edge whether it masks (if asked), or is DIRECT with one of the subtypes."""
        wanted = {("DIRECT", subtype) for subtype in subtypes}
        result: np.ndarray[Any, Any] = np.array([kind in wanted for kind in self.kinds])[self.kind]
        return result | self.masking.astype(bool) if masking else result

    def reach(
        self,
        starts: Iterable[int],
        *,
        upstream: bool = False,
        by_rows: bool = True,
        depth: int | None = None,
        keep: np.ndarray[Any, Any] | None = None,
    ) -> Reach:
        """Return the nodes that follow from some nodes, or, `upstream`, those that lead to them.

        Without `by_rows` only values are followed, by DIRECT edges. `depth` limits the number of jobs on a
        path. `keep` says for each edge whether to follow it.
        """
        return _Search(self, upstream, by_rows, keep).run(starts, depth)

    @cached_property
    def _down(self) -> tuple[Any, Any]:
        return self._index(self._source)

    @cached_property
    def _up(self) -> tuple[Any, Any]:
        return self._index(self._target)

    def _index(self, ends: Any) -> tuple[Any, Any]:
        """Return the edges sorted by one of their ends, and where the edges of each node begin."""
        order = np.argsort(ends, kind="stable").astype(np.int32)
        counts = np.bincount(ends, minlength=len(self._dataset_of))
        return order, np.concatenate(([0], np.cumsum(counts)))


class Reach:
    """Result of a search: for each node the number of jobs between, by value and by rows."""

    def __init__(self, graph: LineageGraph, depths: Any, steps: Any, ways: Any, *, upstream: bool) -> None:
        self._graph = graph
        self._depths, self._steps, self._ways = depths, steps, ways
        self._upstream = upstream

    @cached_property
    def nodes(self) -> list[int]:
        """All nodes that were reached, and the starts."""
        reached: list[int] = (self._depths >= 0).any(axis=0).nonzero()[0].tolist()
        return reached

    def depth(self, node: int, how: int | None = None) -> int:
        """Return the least number of jobs on a path to a node, 0 for a start; -1 if it was not reached."""
        depths = [
            int(self._depths[each, node]) for each in ((how,) if how is not None else (BY_VALUE, BY_ROWS))
        ]
        return min((each for each in depths if each >= 0), default=-1)

    def how(self, node: int) -> list[str]:
        """Return how a node was reached: `value`, `rows` or both."""
        return [HOW[each] for each in (BY_VALUE, BY_ROWS) if self._depths[each, node] >= 0]

    def before(self, node: int, how: int) -> tuple[int, int] | None:
        """Return the node before a node on its path, and how that one is reached; None for a start."""
        way = int(self._ways[how, node])
        return None if way < 0 else (way >> 1, way & 1)

    def path(self, node: int, how: int) -> list[PathStep]:
        """Return a shortest path between a start and a node, in the direction of the data."""
        graph, steps = self._graph, []
        while (edge := int(self._steps[how, node])) != _START:
            if edge == _OF_DATASET:
                beyond = int(self._ways[how, node]) >> 1
                source, target = (node, beyond) if self._upstream else (beyond, node)
                step = PathStep(graph.node(source), graph.node(target), *ROWS, False, None)
            else:
                step = graph.step(edge)
            steps.append(step)
            node, how = int(self._ways[how, node]) >> 1, int(self._ways[how, node]) & 1
        return steps if self._upstream else steps[::-1]


class _Search:
    """A breadth-first search over nodes in two states: reached by value, and by rows."""

    def __init__(self, graph: LineageGraph, upstream: bool, by_rows: bool, keep: Any) -> None:
        self._graph, self._upstream, self._by_rows, self._keep = graph, upstream, by_rows, keep
        self._order, self._offsets = graph._up if upstream else graph._down
        self._ends = graph._source if upstream else graph._target
        count = len(graph._dataset_of)
        self._depths = np.full((2, count), -1, np.int32)
        self._steps = np.full((2, count), _START, np.int64)
        self._ways = np.full((2, count), -1, np.int64)
        """The node before, times two, plus how it was reached."""

    def run(self, starts: Iterable[int], depth: int | None) -> Reach:
        graph = self._graph
        nodes = np.unique(np.fromiter(starts, np.int64))
        is_rows = nodes == graph._starts[graph._dataset_of[nodes]]
        frontier = [self._visit(BY_VALUE, nodes[~is_rows], 0)]
        frontier.append(self._visit(BY_ROWS, nodes[is_rows], 0) if self._by_rows else nodes[:0])
        frontier[BY_ROWS] = self._closed(frontier, 0)
        level = 0
        while (len(frontier[0]) or len(frontier[1])) and (depth is None or level < depth):
            level += 1
            following = [nodes[:0], nodes[:0]]
            for how in (BY_VALUE, BY_ROWS):
                edges, origins = self._edges_of(frontier[how])
                is_direct = graph._is_direct[edges]
                for after in (BY_VALUE, BY_ROWS) if how == BY_VALUE else (BY_ROWS,):
                    if after == BY_ROWS and not self._by_rows:
                        continue
                    # By value a direct edge leads on by value; by rows every edge leads on by rows.
                    some = slice(None) if how == BY_ROWS else is_direct if after == BY_VALUE else ~is_direct
                    new_nodes = self._visit(
                        after, self._ends[edges[some]], level, edges[some], origins[some] * 2 + how
                    )
                    following[after] = np.concatenate((following[after], new_nodes))
            following[BY_ROWS] = self._closed(following, level)
            frontier = following
        return Reach(graph, self._depths, self._steps, self._ways, upstream=self._upstream)

    def _edges_of(self, nodes: Any) -> tuple[Any, Any]:
        """Return the edges of some nodes, and for each edge the node."""
        begins, counts = self._offsets[nodes], self._offsets[nodes + 1] - self._offsets[nodes]
        places = np.repeat(begins - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        edges = self._order[places + np.arange(len(places))]
        origins = np.repeat(nodes, counts)
        if self._keep is not None:
            wanted = self._keep[edges]
            edges, origins = edges[wanted], origins[wanted]
        return edges, origins

    def _visit(self, how: int, nodes: Any, level: int, steps: Any = None, ways: Any = None) -> Any:
        """Note nodes that were not reached in this way before, and return them, each once."""
        new = self._depths[how, nodes] < 0
        new_nodes, first = np.unique(nodes[new], return_index=True)
        self._depths[how, new_nodes] = level
        if steps is not None:
            self._steps[how, new_nodes] = steps[new][first] if not np.isscalar(steps) else steps
            self._ways[how, new_nodes] = ways[new][first]
        return new_nodes

    def _closed(self, reached: list[Any], level: int) -> Any:
        """Return the nodes reached by rows, and the columns, or rows, that follow in the same dataset."""
        graph = self._graph
        rows = reached[BY_ROWS]
        if not self._by_rows:
            return rows
        if self._upstream:
            # What a column has depends on which rows there are.
            for how in (BY_VALUE, BY_ROWS):
                nodes = reached[how]
                above = graph._starts[graph._dataset_of[nodes]]
                new_nodes = self._visit(BY_ROWS, above, level, _OF_DATASET, nodes * 2 + how)
                rows = np.concatenate((rows, new_nodes))
            return rows
        places = graph._dataset_of[rows]
        is_all = rows == graph._starts[places]
        all_rows, counts = rows[is_all], graph._starts[places[is_all] + 1] - graph._starts[places[is_all]] - 1
        firsts = np.repeat(all_rows + 1 - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        columns = firsts + np.arange(len(firsts))
        ways = np.repeat(all_rows, counts) * 2 + BY_ROWS
        return np.concatenate((rows, self._visit(BY_ROWS, columns, level, _OF_DATASET, ways)))


_COLUMNS = {"source": "int32", "target": "int32", "kind": "uint16", "masking": "uint8", "write": "int32"}
"""The arrays of edges, with the type of their items."""

_CODES = {"int32": "i", "uint16": "H", "uint8": "B"}

ROWS = ("ROWS", "")
"""Kind of the edges from all rows of a source to all rows of its output."""


def _arrays(
    writes: Iterable[JobWrite], fields: Mapping[Id, Mapping[str, int]], starts: Mapping[Id, int]
) -> tuple[dict[str, array[int]], list[tuple[str, str]]]:
    arrays = {name: array(_CODES[kind]) for name, kind in _COLUMNS.items()}
    source, target, kinds, masking, of_write = (arrays[name].append for name in _COLUMNS)
    numbers: dict[tuple[str, str], int] = {ROWS: 0}
    for number, write in enumerate(writes):
        own, all_rows = fields[write.output], starts[write.output]
        for edge in write.edges:
            source(fields[edge.source][edge.field])
            target(all_rows if edge.column is None else own[edge.column])
            kind = edge.type, edge.subtype
            if edge.column is None and edge.type == "DIRECT":
                # A value that every column has is one that decides them all.
                kind = "INDIRECT", edge.subtype
            kinds(numbers.setdefault(kind, len(numbers)))
            masking(edge.masking)
            of_write(number)
        for read in write.sources:
            source(starts[read])
            target(all_rows)
            kinds(0)
            masking(False)
            of_write(number)
    return arrays, list(numbers)
