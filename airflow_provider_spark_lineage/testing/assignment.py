"""Which of several expected values stands for which of several actual ones: the best assignment.

Taking the first that fits would let a loosely written expectation use up the event that a strict one needs.
Everything here works on positions; what a difference is, the caller says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from airflow_provider_spark_lineage.testing.matchers import Matcher
from airflow_provider_spark_lineage.testing.sieve import finest, leaves, sieve

Cost = Callable[[int, int], int]
"""How badly the expected value at the first position fits the actual one at the second; 0 is a match."""

EXACT_CELLS = 2_500
"""Up to 50 by 50 the cheapest of all assignments is found; above, whole matches first, then the likeliest."""

EXACT_LEAVES = 250_000
"""Values inside those cells that are compared at most; above, a cell costs about what a sieve says."""

_IMPERFECT = 1_000_000
"""One pair that differs in much is better than two that differ in little: fewer events are reported."""

_TELLING = 100
"""What a rough cost adds where an expected value is found in another actual one only."""

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
    matches = _whole_matches([_fitting(i, expected[i], actual, index, fits) for i in range(len(expected))])
    if len(matches) == min(len(expected), len(actual)):
        return sorted(matches.items())
    rows, columns = range(len(expected)), range(len(actual))
    if len(rows) * len(columns) <= EXACT_CELLS and _affordable(expected, len(columns)):
        return _cheapest(rows, columns, cost)
    left = [i for i in rows if i not in matches]
    free = sorted(set(columns) - set(matches.values()))
    if len(left) * len(free) > EXACT_CELLS:
        rest = _likeliest(left, free, expected, index)
    elif _affordable([expected[i] for i in left], len(free)):
        rest = _cheapest(left, free, cost)
    else:
        rest = _cheapest(left, free, _rough_cost(expected, actual, index))
    return sorted([*matches.items(), *rest])


def _affordable(expected: Sequence[Any], actual: int) -> bool:
    return sum(map(leaves, expected)) * actual <= EXACT_LEAVES


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


class _Fitting:
    """The actual positions that fit one expected value, looked for as far as somebody asks."""

    def __init__(self, number: int, fitting: Iterator[int]) -> None:
        self.number = number
        """How many positions there are to look at."""

        self._found: list[int] = []
        self._rest = fitting

    def __iter__(self) -> Iterator[int]:
        yield from self._found
        for j in self._rest:
            self._found.append(j)
            yield j


def _fitting(
    i: int, expected: Any, actual: Sequence[Any], index: _Index, fits: Callable[[int, int], bool]
) -> _Fitting:
    refused, candidates = finest(expected), index.candidates(expected)
    return _Fitting(len(candidates), (j for j in candidates if not refused(actual[j]) and fits(i, j)))


def _whole_matches(fitting: Sequence[_Fitting]) -> dict[int, int]:
    """As many perfect pairs as there can be: augmenting paths, the choosiest expectation first."""
    owner: dict[int, int] = {}
    held: dict[int, int] = {}
    for start in sorted(range(len(fitting)), key=lambda position: fitting[position].number):
        came_from: dict[int, int] = {}
        free = _reach_free(start, fitting, owner, came_from)
        while free is not None:
            i = came_from[free]
            owner[free], held[i], free = i, free, held.get(i)
    return held


def _reach_free(
    start: int, fitting: Sequence[_Fitting], owner: dict[int, int], came_from: dict[int, int]
) -> int | None:
    """An actual position nobody has, if need be by moving its holders' values on to their next choice."""
    queue = [start]
    for i in queue:
        for j in fitting[i]:
            if j in came_from:
                continue
            came_from[j] = i
            if j not in owner:
                return j
            queue.append(owner[j])
    return None


def _rough_cost(expected: Sequence[Any], actual: Sequence[Any], index: _Index) -> Cost:
    """What a sieve says; a value that one actual value alone has tells which one is meant."""
    sieves = [sieve(value) for value in expected]
    alone = [{found[0] for found in index.shared(value) if len(found) == 1} for value in expected]

    def cost(i: int, j: int) -> int:
        return sieves[i](actual[j]) + (_TELLING if alone[i] and j not in alone[i] else 0)

    return cost


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
