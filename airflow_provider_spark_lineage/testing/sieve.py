"""What an expected value asks for at the least, asked quickly: sieves out most of the pairs that cannot fit.

Comparing two values whole says where they differ, at ten times the cost. Whatever is refused here,
`differences` refuses too; what is not refused here may still differ. Captures and order are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from airflow_provider_spark_lineage.testing.matchers import Matcher

Sieve = Callable[[Any], int]
"""Takes an actual value; returns in about how many places it differs for certain, 0 where it may fit."""

MOST_ELEMENTS = 5
"""Elements of a list that are looked for: each is compared with all that there are."""

_NOT_THERE = object()


def sieve(expected: Any) -> Sieve:
    """The sieve of one expected value.

    >>> sieve({"run": {"v": 1}, "outputs": []})({"run": {"v": 2}, "outputs": [{"name": "a"}]})
    2
    """
    return _sieve(expected, None)


def finest(expected: Any) -> Sieve:
    """The same, satisfied with one difference: for asking only whether two values may fit."""
    return _sieve(expected, 1)


def leaves(value: Any) -> int:
    """About how many values have to be compared to know how two such values differ."""
    if isinstance(value, Mapping):
        return sum(map(leaves, value.values()))
    if isinstance(value, list):
        inside = sum(map(leaves, value))
        # Elements that know each other by literal names are not compared with each other.
        return inside * len(value) if any(map(_is_wild, value)) else inside
    return 1


def _is_wild(element: Any) -> bool:
    values = element.values() if isinstance(element, Mapping) else (element,)
    return any(isinstance(value, Matcher) for value in values)


def _sieve(expected: Any, most: int | None) -> Sieve:
    if isinstance(expected, Mapping):
        return _object(expected, most)
    if isinstance(expected, list):
        return _list(expected, most)
    if type(expected) is Matcher:
        check = expected.check
        return lambda actual: 1 if check(actual) else 0
    if isinstance(expected, Matcher):
        # A matcher that holds values may look at captures; only `differences` knows.
        return lambda actual: 0
    is_bool = isinstance(expected, bool)
    return lambda actual: 0 if actual == expected and isinstance(actual, bool) == is_bool else 1


def _object(expected: Mapping[str, Any], most: int | None) -> Sieve:
    parts = [(key, _sieve(value, most), _accepts_absence(value)) for key, value in expected.items()]

    def check(actual: Any) -> int:
        if not isinstance(actual, Mapping):
            return 1
        found = 0
        for key, part, may_lack in parts:
            value = actual.get(key, _NOT_THERE)
            found += part(value) if value is not _NOT_THERE else (0 if may_lack else 1)
            if found and most:
                return found
        return found

    return check


def _list(expected: list[Any], most: int | None) -> Sieve:
    number = len(expected)
    step = max(1, number // MOST_ELEMENTS)
    # The last ones too: what was added to a list stands there.
    some = [finest(value) for value in expected[::-step][:MOST_ELEMENTS]]

    def check(actual: Any) -> int:
        if not isinstance(actual, list):
            return 1
        found = abs(number - len(actual))
        if found and most:
            return found
        return found + sum(1 for part in some if all(map(part, actual)))

    return check


def _accepts_absence(value: Any) -> bool:
    return isinstance(value, Matcher) and value.accepts_absence
