"""Which of several expected values stands for which of several actual ones: the best assignment.

Taking the first that fits would let a loosely written expectation use up the event that a strict one needs.
Everything here works on positions; what a difference is, the caller says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from airflow_provider_spark_lineage.testing.matchers import Matcher

Cost = Callable[[int, int], int]
"""How badly the expected value at the first position fits the actual one at the second; 0 is a match."""

EXACT_CELLS = 2_500
"""Up to 50 by 50 the cheapest of all assignments is found; above, whole matches first, then the likeliest."""

_IMPERFECT = 1_000_000
"""One pair that differs in much is better than two that differ in little: fewer events are reported."""

_COMMON = 50
"""A value that so many actual ones share tells nothing about which of them is meant."""


def pair(
    expected: Sequence[Any], actual: Sequence[Any], fits: Callable[[int, int], bool], cost: Cost
) -> list[tuple[int, int]]:
    """Positions (expected, actual) that belong together, as many as the shorter side has."""
    if len(expected) == 1 and len(actual) == 1:
        return [(0, 0)]
    if not expected or not actual:
        return []
    index = _Index(actual)
    matches = _whole_matches([index.candidates(value) for value in expected], fits)
    if len(matches) == min(len(expected), len(actual)):
        return sorted(matches.items())
    if len(expected) * len(actual) <= EXACT_CELLS:
        return _cheapest(range(len(expected)), range(len(actual)), cost)
    left = [i for i in range(len(expected)) if i not in matches]
    free = sorted(set(range(len(actual))) - set(matches.values()))
    if len(left) * len(free) <= EXACT_CELLS:
        rest = _cheapest(left, free, cost)
    else:
        rest = _likeliest(left, free, expected, index)
    return sorted([*matches.items(), *rest])


class _Index:
    """Actual values by the scalars inside them, so that few pairs have to be compared whole."""

    def __init__(self, actual: Sequence[Any]) -> None:
        self._actual = actual
        self._by_path: dict[tuple[str, ...], dict[Any, list[int]]] = {}

    def candidates(self, expected: Any) -> Sequence[int]:
        """Every position that can match at all: those with the rarest of the expected scalars."""
        shortest: Sequence[int] = range(len(self._actual))
        for positions in self.shared(expected):
            if len(positions) < len(shortest):
                shortest = positions
        return shortest

    def shared(self, expected: Any) -> Iterator[Sequence[int]]:
        """For each expected scalar the positions that have it too."""
        for path, value in _scalars(expected):
            positions = self._by_path.get(path)
            if positions is None:
                positions = self._by_path[path] = self._positions(path)
            yield positions.get(value, ())

    def _positions(self, path: tuple[str, ...]) -> dict[Any, list[int]]:
        positions: dict[Any, list[int]] = {}
        for position, whole in enumerate(self._actual):
            value = whole
            for part in path:
                value = value.get(part) if isinstance(value, Mapping) else None
            if not isinstance(value, Mapping | list):
                positions.setdefault(value, []).append(position)
        return positions


def _scalars(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Literal scalars reachable through mappings; null is left out, as it looks like an absent key here."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _scalars(item, (*path, key))
    elif value is not None and not isinstance(value, list | Matcher):
        yield path, value


def _whole_matches(candidates: Sequence[Sequence[int]], fits: Callable[[int, int], bool]) -> dict[int, int]:
    """As many perfect pairs as there can be: augmenting paths, the choosiest expectation first."""
    known: dict[tuple[int, int], bool] = {}
    owner: dict[int, int] = {}
    held: dict[int, int] = {}

    def fitting(i: int, j: int) -> bool:
        if (i, j) not in known:
            known[i, j] = fits(i, j)
        return known[i, j]

    for start in sorted(range(len(candidates)), key=lambda position: len(candidates[position])):
        came_from: dict[int, int] = {}
        free = _reach_free(start, candidates, fitting, owner, came_from)
        while free is not None:
            i = came_from[free]
            owner[free], held[i], free = i, free, held.get(i)
    return held


def _reach_free(
    start: int,
    candidates: Sequence[Sequence[int]],
    fitting: Callable[[int, int], bool],
    owner: dict[int, int],
    came_from: dict[int, int],
) -> int | None:
    """An actual position nobody has, if need be by moving its holders' values on to their next choice."""
    queue = [start]
    for i in queue:
        for j in candidates[i]:
            if j in came_from or not fitting(i, j):
                continue
            came_from[j] = i
            if j not in owner:
                return j
            queue.append(owner[j])
    return None


def _cheapest(rows: Sequence[int], columns: Sequence[int], cost: Cost) -> list[tuple[int, int]]:
    """The assignment with the smallest sum of costs."""
    table = [[_weighed(cost(i, j)) for j in columns] for i in rows]
    if len(rows) <= len(columns):
        chosen = _hungarian(table)
    else:
        chosen = [(i, j) for j, i in _hungarian([list(column) for column in zip(*table, strict=True)])]
    return sorted((rows[i], columns[j]) for i, j in chosen)


def _weighed(cost: int) -> int:
    return _IMPERFECT + cost if cost else 0


def _hungarian(table: list[list[int]]) -> list[tuple[int, int]]:
    """The Hungarian method with potentials (Kuhn, Munkres); no more rows than columns.

    Row and column 0 are sentinels: `row_of[0]` is the row that is being placed.
    """
    if not table:
        return []
    width = len(table[0])
    by_row, by_column, row_of = [0] * (len(table) + 1), [0] * (width + 1), [0] * (width + 1)
    for row in range(1, len(table) + 1):
        row_of[0] = row
        way = _shortest_way(table, by_row, by_column, row_of)
        column = way[0]
        while column:
            row_of[column] = row_of[way[column]]
            column = way[column]
    return [(row_of[column] - 1, column - 1) for column in range(1, width + 1) if row_of[column]]


def _shortest_way(
    table: list[list[int]], by_row: list[int], by_column: list[int], row_of: list[int]
) -> list[int]:
    """For each column the one before it on the way from the new row; the free column found is at 0."""
    width = len(by_column) - 1
    way = [0] * (width + 1)
    slack: list[float] = [float("inf")] * (width + 1)
    unseen = set(range(1, width + 1))
    seen = [0]
    column = 0
    while row_of[column]:
        row = row_of[column]
        for other in unseen:
            reduced = table[row - 1][other - 1] - by_row[row] - by_column[other]
            if reduced < slack[other]:
                slack[other], way[other] = reduced, column
        column = min(unseen, key=slack.__getitem__)
        step = int(slack[column])
        for other in seen:
            by_row[row_of[other]] += step
            by_column[other] -= step
        for other in unseen:
            slack[other] -= step
        unseen.remove(column)
        seen.append(column)
    way[0] = column
    return way


def _likeliest(
    rows: Sequence[int], columns: Sequence[int], expected: Sequence[Any], index: _Index
) -> list[tuple[int, int]]:
    """Each row with the free column that shares most of its rare scalars; any free one where none does."""
    free = set(columns)
    pairs = []
    for i in rows:
        if not free:
            break
        votes = Counter(j for found in index.shared(expected[i]) if len(found) <= _COMMON for j in found)
        j = max(free & votes.keys(), key=lambda position: (votes[position], -position), default=min(free))
        free.discard(j)
        pairs.append((i, j))
    return pairs
