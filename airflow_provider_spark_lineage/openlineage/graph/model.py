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
from itertools import chain, count
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobWrite

with extra("graph"):
    import numpy as np

BY_VALUE, BY_ROWS = 0, 1
"""How a node is reached: by a path of DIRECT edges, or by a path with any other step."""

HOW = ("value", "rows")
"""Words for both."""

_START, _OF_DATASET, _FIRST_EDGE = 0, 1, 2
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
        edges: Mapping[str, Any],
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
        self.source, self.target, self.kind, self.masking, self.write = (edges[key] for key in _COLUMNS)
        """For each edge its ends, its kind, whether it masks, and the position of its write."""
        self.kinds = kinds
        """Type and subtype of each kind; `kind` has the kind of each edge, by its position here."""
        self.is_direct = np.array([kind[0] == "DIRECT" for kind in kinds])[self.kind]
        self._writes = writes

    @classmethod
    @collector_paused()
    def of(cls, current: Current) -> LineageGraph:
        """Return the graph of the current lineage."""
        numbers = _Numbers()
        for dataset, fields_ in current.fields.items():
            numbers.add_columns(dataset, dict(fields_))
        for read in current.reads:
            numbers[read.input]
        edges = _Edges(numbers)
        for number, write in enumerate(current.writes):
            edges.add(number, write)
        fields = {dataset: tuple(numbers[dataset])[1:] for dataset in sorted(numbers)}
        return cls(fields, edges.arrays(), [*edges.kinds], current.writes)

    def __len__(self) -> int:
        """Return the number of edges."""
        return len(self.source)

    def step(self, edge: int) -> PathStep:
        """Return what an edge is, by its position."""
        kind, subtype = self.kinds[self.kind[edge]]
        source, target = self.node(int(self.source[edge])), self.node(int(self.target[edge]))
        return PathStep(
            source, target, kind, subtype, bool(self.masking[edge]), self._writes[self.write[edge]]
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

    def dataset_of(self, number: int) -> Id:
        """Return the dataset of a node."""
        return self.datasets[self._dataset_of[number]]

    def places_of(self, nodes: Any) -> Any:
        """Return for each of some nodes the position of its dataset in `datasets`."""
        return self._dataset_of[nodes]

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

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self._dataset_of)

    def starts_of(self, nodes: Any) -> Any:
        """Return for each of some nodes all rows of its dataset."""
        return self._starts[self._dataset_of[nodes]]

    def counts_of(self, nodes: Any) -> Any:
        """Return for each of some nodes the number of columns of its dataset."""
        places = self._dataset_of[nodes]
        return self._starts[places + 1] - self._starts[places] - 1

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
        return self._index(self.source)

    @cached_property
    def _up(self) -> tuple[Any, Any]:
        return self._index(self.target)

    def _index(self, ends: Any) -> tuple[Any, Any]:
        """Return the edges sorted by one of their ends, and where the edges of each node begin."""
        order = np.argsort(ends, kind="stable").astype(np.int32)
        counts = np.bincount(ends, minlength=len(self._dataset_of))
        return order, np.concatenate(([0], np.cumsum(counts)))


class Reach:
    """Result of a search: for each node the number of jobs between, by value and by rows."""

    def __init__(self, search: _Search, nodes: Any) -> None:
        self._search = search
        self.nodes: list[int] = nodes.tolist()
        """All nodes that were reached, and the starts, sorted."""

    def depths(self, nodes: Any, how: int) -> np.ndarray[Any, Any]:
        """Return for each of some nodes what `depth` returns for one."""
        depths: np.ndarray[Any, Any] = self._search.levels[how][nodes] - 1
        return depths

    def depth(self, node: int, how: int | None = None) -> int:
        """Return the least number of jobs on a path to a node, 0 for a start; -1 if it was not reached."""
        states = (BY_VALUE, BY_ROWS) if how is None else (how,)
        depths = [int(self._search.levels[each][node]) - 1 for each in states]
        return min((each for each in depths if each >= 0), default=-1)

    def edges(self) -> np.ndarray[Any, Any]:
        """Return the positions of all edges that lead from a reached node to what follows from it."""
        edges: np.ndarray[Any, Any] = self._search.edges_of(np.array(self.nodes, np.int64))[0]
        return edges

    def how(self, node: int) -> list[str]:
        """Return how a node was reached: `value`, `rows` or both."""
        return [HOW[each] for each in (BY_VALUE, BY_ROWS) if self._search.levels[each][node]]

    def before(self, node: int, how: int) -> tuple[int, int] | None:
        """Return the node before a node on its path, and how that one is reached; None for a start."""
        if int(self._search.steps[how][node]) == _START:
            return None
        way = int(self._search.ways[how][node])
        return way >> 1, way & 1

    def last_job(self, node: int, how: int) -> PathStep | None:
        """Return the step of `path` that is nearest to a node and that a job made; None if there is none."""
        search = self._search
        while (step := int(search.steps[how][node])) != _START:
            if step != _OF_DATASET:
                return search.graph.step(step - _FIRST_EDGE)
            way = int(search.ways[how][node])
            node, how = way >> 1, way & 1
        return None

    def path(self, node: int, how: int) -> list[PathStep]:
        """Return a shortest path between a start and a node, in the direction of the data."""
        search, path = self._search, []
        graph = search.graph
        while (step := int(search.steps[how][node])) != _START:
            way = int(search.ways[how][node])
            if step == _OF_DATASET:
                source, target = (node, way >> 1) if search.upstream else (way >> 1, node)
                path.append(PathStep(graph.node(source), graph.node(target), *ROWS, False, None))
            else:
                path.append(graph.step(step - _FIRST_EDGE))
            node, how = way >> 1, way & 1
        return path if search.upstream else path[::-1]


class _Search:
    """A breadth-first search over nodes in two states: reached by value, and by rows."""

    def __init__(self, graph: LineageGraph, upstream: bool, by_rows: bool, keep: Any) -> None:
        self.graph, self.upstream, self._by_rows, self._keep = graph, upstream, by_rows, keep
        self._order, self._offsets = graph._up if upstream else graph._down
        self._ends = graph.source if upstream else graph.target
        # Zeros cost nothing until they are written: most searches reach few of millions of nodes.
        self.levels, self.steps, self.ways = (np.zeros((2, graph.size), np.int32) for _ in range(3))
        """For each state and node its depth plus 1, its step (an edge plus `_FIRST_EDGE`), and the node
        before, times 2, plus its state."""
        self._reached: list[Any] = []

    def run(self, starts: Iterable[int], depth: int | None) -> Reach:
        graph = self.graph
        nodes = np.unique(np.fromiter(starts, np.int64))
        is_rows = nodes == graph.starts_of(nodes)
        frontier = [self._visit(BY_VALUE, nodes[~is_rows], 0)]
        frontier.append(self._visit(BY_ROWS, nodes[is_rows], 0) if self._by_rows else nodes[:0])
        frontier[BY_ROWS] = self._closed(frontier, 0)
        level = 0
        while (len(frontier[0]) or len(frontier[1])) and (depth is None or level < depth):
            level += 1
            following = [nodes[:0], nodes[:0]]
            for how in (BY_VALUE, BY_ROWS):
                edges, origins = self.edges_of(frontier[how])
                is_direct = graph.is_direct[edges]
                for after in (BY_VALUE, BY_ROWS) if how == BY_VALUE else (BY_ROWS,):
                    if after == BY_ROWS and not self._by_rows:
                        continue
                    # By value a direct edge leads on by value; by rows every edge leads on by rows.
                    some = slice(None) if how == BY_ROWS else is_direct if after == BY_VALUE else ~is_direct
                    steps, ways = edges[some] + _FIRST_EDGE, origins[some] * 2 + how
                    new_nodes = self._visit(after, self._ends[edges[some]], level, steps, ways)
                    following[after] = np.concatenate((following[after], new_nodes))
            following[BY_ROWS] = self._closed(following, level)
            frontier = following
        return Reach(self, np.unique(np.concatenate(self._reached)))

    def edges_of(self, nodes: Any) -> tuple[Any, Any]:
        """Return the edges of some nodes, and for each edge the node."""
        begins, counts = self._offsets[nodes], self._offsets[nodes + 1] - self._offsets[nodes]
        places = np.repeat(begins - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        edges = self._order[places + np.arange(len(places))]
        origins = np.repeat(nodes, counts)
        if self._keep is not None:
            wanted = self._keep[edges]
            edges, origins = edges[wanted], origins[wanted]
        return edges, origins

    def _visit(self, how: int, nodes: Any, level: int, steps: Any = _START, ways: Any = 0) -> Any:
        """Note nodes that were not reached in this way before, and return them, each once."""
        is_new = self.levels[how][nodes] == 0
        new_nodes, first = np.unique(nodes[is_new], return_index=True)
        self.levels[how, new_nodes] = level + 1
        for array_, values in ((self.steps, steps), (self.ways, ways)):
            array_[how, new_nodes] = values if np.isscalar(values) else values[is_new][first]
        self._reached.append(new_nodes)
        return new_nodes

    def _closed(self, reached: list[Any], level: int) -> Any:
        """Return the nodes reached by rows, and the columns, or rows, that follow in the same dataset."""
        graph, rows = self.graph, reached[BY_ROWS]
        if not self._by_rows:
            return rows
        if self.upstream:
            # What a column has depends on which rows there are.
            for how in (BY_VALUE, BY_ROWS):
                nodes = reached[how]
                new_nodes = self._visit(BY_ROWS, graph.starts_of(nodes), level, _OF_DATASET, nodes * 2 + how)
                rows = np.concatenate((rows, new_nodes))
            return rows
        all_rows = rows[rows == graph.starts_of(rows)]
        counts = graph.counts_of(all_rows)
        firsts = np.repeat(all_rows + 1 - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        columns = firsts + np.arange(len(firsts))
        ways = np.repeat(all_rows, counts) * 2 + BY_ROWS
        return np.concatenate((rows, self._visit(BY_ROWS, columns, level, _OF_DATASET, ways)))


_COLUMNS = {"source": "i4", "target": "i4", "kind": "i4", "masking": "u1", "write": "i4"}
"""The arrays of edges, with the type of their items."""

ROWS = ("ROWS", "")
"""Kind of the edges from all rows of a source to all rows of its output."""


class _NumbersOf(dict[Any, int]):
    """Numbers in the order of appearance: a key that is new gets the next one."""

    __slots__ = ("_count",)

    def __init__(self, count: count[int]) -> None:
        self._count = count

    def __missing__(self, key: Any) -> int:
        number = self[key] = next(self._count)
        return number


class _Numbers(dict[Id, _NumbersOf]):
    """The numbers of all rows (the key None, which comes first) and of the columns of each dataset."""

    def __init__(self) -> None:
        self._count = count()

    def __missing__(self, dataset: Id) -> _NumbersOf:
        own = self[dataset] = _NumbersOf(self._count)
        own[None]
        return own

    def add_columns(self, dataset: Id, names: Iterable[str]) -> None:
        """Number the columns of a dataset that has none yet."""
        self[dataset].update(zip(names, self._count, strict=False))


class _Edges:
    """Edges as they are added."""

    def __init__(self, numbers: _Numbers) -> None:
        self._numbers = numbers
        self.kinds = _NumbersOf(count())
        self.kinds[ROWS]
        self._source, self._target, self._kind, self._write = (array("i") for _ in range(4))
        self._masked: list[int] = []
        """Positions of the edges that mask."""
        self._rows = array("i"), array("i"), array("i")
        """Source, output and write of the edges between all rows."""

    def add(self, number: int, write: JobWrite) -> None:
        """Add the edges of a write. There may be millions: each step is one for all of its edges."""
        numbers, own = self._numbers, self._numbers[write.output]
        if write.edges:
            columns, datasets, names, types, subtypes, masking = zip(*write.edges, strict=True)
            if None in columns:
                # A value that every column has is one that decides them all.
                types = tuple(
                    "INDIRECT" if column is None and kind == "DIRECT" else kind
                    for column, kind in zip(columns, types, strict=True)
                )
            if True in masking:
                first = len(self._source)
                self._masked += [first + place for place, masks in enumerate(masking) if masks]
            self._source.extend(
                [numbers[dataset][name] for dataset, name in zip(datasets, names, strict=True)]
            )
            self._target.extend([own[column] for column in columns])
            self._kind.extend([self.kinds[kind] for kind in zip(types, subtypes, strict=True)])
            self._write.extend([number] * len(columns))
        sources, outputs, writes = self._rows
        sources.extend([numbers[source][None] for source in write.sources])
        outputs.extend([own[None]] * len(write.sources))
        writes.extend([number] * len(write.sources))

    def arrays(self) -> dict[str, Any]:
        """Return the edges between nodes: those of a dataset beside each other, its rows first."""
        by_dataset = (self._numbers[dataset].values() for dataset in sorted(self._numbers))
        order = np.fromiter(chain.from_iterable(by_dataset), np.int32)
        nodes = np.empty_like(order)
        """For each number its node."""
        nodes[order] = np.arange(len(order))
        none = np.zeros(len(self._rows[0]), np.int8)
        masking = np.zeros(len(self._source), np.int8)
        masking[self._masked] = 1
        parts = {
            "source": (nodes[_of(self._source)], nodes[_of(self._rows[0])]),
            "target": (nodes[_of(self._target)], nodes[_of(self._rows[1])]),
            "kind": (self._kind, none),
            "masking": (masking, none),
            "write": (self._write, self._rows[2]),
        }
        return {
            name: np.concatenate([np.asarray(part, dtype=_COLUMNS[name]) for part in some])
            for name, some in parts.items()
        }


def _of(numbers: array[int]) -> Any:
    """Return an array of numpy with the same content."""
    return np.frombuffer(numbers, np.int32) if numbers else np.zeros(0, np.int32)
