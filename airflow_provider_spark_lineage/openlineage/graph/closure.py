"""Searches downstream of many columns at a time, over the arrays of the graph.

It finds what `LineageGraph.reach` finds from each of them, without paths: a step from thousands of columns is
one call of numpy. If all rows of a dataset follow, its columns need no pairs of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.errors import extra

with extra("graph"):
    import numpy as np

_AT_A_TIME = 4096
"""Columns that a search begins with."""

_MOST_KEYS = 1_000_000
"""Limit of the keys of one part; a part of several columns that needs more is cut in two."""


class Downstream(NamedTuple):
    """Pairs of columns, and what depends on them, as arrays with an item for each pair."""

    sources: Any
    """Nodes of the columns that the search began with."""
    origin: Any
    """For each pair the position of its column in `sources`; sorted."""
    target: Any
    """A column, or all rows of a dataset: each of its columns that has no pair of its own."""
    by_value: Any
    by_rows: Any
    depth: Any
    """Number of jobs between."""
    jobs: Any
    """For each of `sources` the number of jobs that use it, or what depends on it."""


class Closure:
    """The steps of the graph, for searches downstream.

    `starts` has for each dataset the node of all its rows, and at its end the number of nodes; `job` has for
    each edge the number of its job.
    """

    def __init__(
        self, source: Any, target: Any, is_direct: Any, job: Any, starts: Any, *, by_rows: bool = True
    ) -> None:
        self._size = int(starts[-1])
        self._rows_of = np.repeat(starts[:-1], np.diff(starts)).astype(np.int64)
        """For each node all rows of its dataset."""
        # A node has two states, as it is reached by value or by rows; a job has one, which leads nowhere.
        states = 2 * self._size + (int(job.max()) + 1 if len(job) else 0)
        self._bits = max(states, 1).bit_length()
        steps = self._steps(source.astype(np.int64), target.astype(np.int64), is_direct, job, by_rows)
        self._targets = (steps & ((1 << self._bits) - 1)).astype(np.int32)
        self._offsets = np.searchsorted(steps >> self._bits, np.arange(2 * self._size + 1))
        self._counts = np.diff(self._offsets)

    def _steps(self, source: Any, target: Any, is_direct: Any, job: Any, by_rows: bool) -> Any:
        """Return all steps, sorted: a state, shifted, and the state or job that follows."""
        job = job + 2 * self._size
        of_column = source != self._rows_of[source]
        values = of_column if by_rows else of_column & is_direct
        parts = [(2 * source[values], 2 * target[values] + ~is_direct[values], job[values])]
        if by_rows:
            rows, every = 2 * self._rows_of[source] + 1, 2 * target + 1
            parts.append((2 * source[of_column] + 1, every[of_column], job[of_column]))
            # All rows of a dataset lead to whatever one of its columns leads to.
            parts.append((rows, every, job))
        pairs = [_distinct(before << self._bits | after) for before, *both in parts for after in both]
        steps = _distinct(np.concatenate(pairs))
        some = np.array_split(steps, 1 + len(steps) // _MOST_KEYS)
        return steps[~np.concatenate([_is_in(self._all_rows_of(each), steps) for each in some])]

    def downstream(self, columns: Any, *, depth: int | None = None) -> Iterator[Downstream]:
        """Yield what depends on some columns, given as nodes: one result for several of them, in order."""
        for first in range(0, len(columns), _AT_A_TIME):
            some = np.asarray(columns[first : first + _AT_A_TIME], np.int64)
            keys = np.arange(len(some)) << self._bits | 2 * some
            parts = [_Frontier(0, len(some), [keys], [keys])]
            while parts:
                part = parts.pop()
                if part.is_too_large(self._wanted(part)):
                    parts += part.halves(self._bits)
                elif len(part.levels[-1]) and (depth is None or len(part.levels) <= depth):
                    part.add(self._following(part))
                    parts.append(part)
                else:
                    yield self._result(part, some)

    def _wanted(self, part: _Frontier) -> int:
        return int(self._counts[self._leading(part.levels[-1])[1]].sum())

    def _leading(self, keys: Any) -> tuple[Any, Any]:
        """Return the keys without those of jobs, and their states."""
        states = keys & ((1 << self._bits) - 1)
        leads = states < 2 * self._size
        return keys[leads], states[leads]

    def _following(self, part: _Frontier) -> Any:
        """Return the new keys one step further."""
        keys, states = self._leading(part.levels[-1])
        counts = self._counts[states]
        ends = np.cumsum(counts)
        places = np.repeat(self._offsets[states] - ends + counts, counts) + np.arange(counts.sum())
        new = _distinct(np.repeat(keys >> self._bits << self._bits, counts) | self._targets[places])
        for seen in part.seen:
            new = new[~_is_in(new, seen)]
        # A column needs no key of its own where all rows of its dataset have one.
        parents = self._all_rows_of(new)
        stands = np.logical_or.reduce([_is_in(parents, each) for each in (new, *part.seen)])
        return new[~stands]

    def _all_rows_of(self, keys: Any) -> Any:
        """Return for each key of a column by rows that of all rows of its dataset; -1 for other keys."""
        states = keys & ((1 << self._bits) - 1)
        is_by_rows = (states & 1 == 1) & (states < 2 * self._size)
        parents = np.full(len(keys), -1, np.int64)
        nodes = states[is_by_rows] >> 1
        rows = self._rows_of[nodes]
        own = (keys[is_by_rows] >> self._bits << self._bits) | (2 * rows + 1)
        parents[is_by_rows] = np.where(rows == nodes, -1, own)
        return parents

    def _result(self, part: _Frontier, columns: Any) -> Downstream:
        keys = np.concatenate(part.levels)
        depths = np.repeat(np.arange(len(part.levels)), [len(each) for each in part.levels])
        order = np.argsort(keys, kind="stable")
        keys, depths = keys[order], depths[order]
        states = keys & ((1 << self._bits) - 1)
        is_job = states >= 2 * self._size
        count = part.last - part.first
        jobs = np.bincount((keys[is_job] >> self._bits) - part.first, minlength=count)
        keys, depths = keys[~is_job], depths[~is_job]
        # Both states of a node are beside each other, by value first.
        pairs = keys >> 1
        begins = np.flatnonzero(_is_first(pairs))
        last = np.concatenate((begins[1:], [len(pairs)])) - 1
        by_value, by_rows = keys[begins] & 1 == 0, keys[last] & 1 == 1
        depth, pairs = np.minimum.reduceat(depths, begins), pairs[begins]
        origin, target = pairs >> (self._bits - 1), pairs & ((1 << (self._bits - 1)) - 1)
        parents = pairs - target + self._rows_of[target]
        places = np.minimum(np.searchsorted(pairs, parents), len(pairs) - 1)
        stands = pairs[places] == parents
        depth = np.where(stands, np.minimum(depth, depth[places]), depth)
        others = target != columns[origin]
        return Downstream(
            columns[part.first : part.last],
            origin[others] - part.first,
            target[others],
            by_value[others],
            (by_rows | stands)[others],
            depth[others],
            jobs,
        )


def _distinct(keys: Any) -> Any:
    """Return the keys sorted, each once."""
    # `np.unique` makes a table of hashes first, which takes 20 times as long for keys that differ.
    keys = np.sort(keys)
    return keys[_is_first(keys)]


def _is_first(keys: Any) -> Any:
    """Return for each of some sorted keys whether the one before it is another one."""
    return np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)]


def _is_in(keys: Any, known: Any) -> Any:
    """Return for each key whether a sorted array has it."""
    if not len(known):
        return np.zeros(len(keys), np.bool_)
    return known[np.minimum(np.searchsorted(known, keys), len(known) - 1)] == keys


@dataclass
class _Frontier:
    """The part of a search that begins with the columns between two positions.

    A key is such a position, shifted, and a state.
    """

    first: int
    last: int
    levels: list[Any]
    """For each depth the keys that were reached there."""
    seen: list[Any] = field(default_factory=list)
    """All of them, as sorted arrays, each less than half as long as the one before it."""

    def add(self, keys: Any) -> None:
        self.levels.append(keys)
        self.seen.append(keys)
        while len(self.seen) > 1 and 2 * len(self.seen[-1]) > len(self.seen[-2]):
            later, earlier = self.seen.pop(), self.seen.pop()
            self.seen.append(np.sort(np.concatenate((earlier, later)), kind="stable"))

    def is_too_large(self, more: int) -> bool:
        return self.last - self.first > 1 and sum(map(len, self.seen)) + more > _MOST_KEYS

    def halves(self, bits: int) -> list[_Frontier]:
        """Return the halves of the columns, the later one first."""
        middle = (self.first + self.last) // 2
        cuts = [
            [np.split(each, [np.searchsorted(each, middle << bits)]) for each in some]
            for some in (self.levels, self.seen)
        ]
        # Copies let go of the arrays of the whole.
        parts = [[[each[half].copy() for each in some] for some in cuts] for half in (1, 0)]
        return [_Frontier(middle, self.last, *parts[0]), _Frontier(self.first, middle, *parts[1])]
