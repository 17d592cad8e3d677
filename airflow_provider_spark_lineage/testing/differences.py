"""Where an actual JSON value differs from an expected one; knows nothing of events, keys or files.

Objects are a subset match. Lists are sets where their elements say who they are, and exact elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.testing.assignment import pair
from airflow_provider_spark_lineage.testing.matchers import Matcher, json_type

IDENTITIES: tuple[tuple[str, ...], ...] = (
    ("namespace", "name", "field"),
    ("namespace", "name"),
    ("name",),
)
"""By which keys list elements know each other, the longest first: input fields, datasets, schema fields."""

UNORDERED = frozenset({"transformations"})
"""Lists whose elements have no identity in the spec but whose order means nothing either."""

Path = tuple[str, ...]


class Absent:
    """Stands for a value that is not there; a class of its own because null is a value."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT = Absent()


class Element(str):
    """The part of a path that picks a list element, written in brackets."""

    __slots__ = ()


class Mismatch(NamedTuple):
    """One place where the two values differ."""

    path: Path
    expected: Any
    actual: Any
    reason: str


def differences(expected: Any, actual: Any, path: Path = ()) -> Iterator[Mismatch]:
    """Every place where `actual` is not what `expected` wants, lazily: the first tells that they differ."""
    if isinstance(expected, Matcher):
        reason = expected.refuses(actual)
        if reason:
            yield Mismatch(path, expected, actual, reason)
    elif isinstance(expected, Mapping):
        yield from _in_object(expected, actual, path)
    elif isinstance(expected, list):
        yield from _in_list(expected, actual, path)
    elif not _same_scalar(expected, actual):
        yield Mismatch(path, expected, actual, _scalar_reason(expected, actual))


def _same_scalar(expected: Any, actual: Any) -> bool:
    # True == 1 in Python; in JSON they are a boolean and a number.
    return isinstance(expected, bool) == isinstance(actual, bool) and bool(expected == actual)


def _scalar_reason(expected: Any, actual: Any) -> str:
    wanted, found = json_type(expected), json_type(actual)
    return "has another value" if wanted == found else f"is not {wanted} but {found}"


def _in_object(expected: Mapping[str, Any], actual: Any, path: Path) -> Iterator[Mismatch]:
    if not isinstance(actual, Mapping):
        yield Mismatch(path, expected, actual, f"is not an object but {json_type(actual)}")
        return
    for key, value in expected.items():
        if key in actual:
            yield from differences(value, actual[key], (*path, key))
        elif not (isinstance(value, Matcher) and value.accepts_absence):
            yield Mismatch((*path, key), value, ABSENT, "is absent")


def _in_list(expected: list[Any], actual: Any, path: Path) -> Iterator[Mismatch]:
    if not isinstance(actual, list):
        yield Mismatch(path, expected, actual, f"is not a list but {json_type(actual)}")
        return
    identity = _identity(expected or actual, path)
    if identity is not None:
        yield from _in_set(expected, actual, path, identity)
    elif len(expected) != len(actual):
        yield Mismatch(path, expected, actual, f"has {len(actual)} elements, not {len(expected)}")
    else:
        for position, (wanted, found) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(wanted, found, (*path, Element(position)))


def _identity(elements: Sequence[Any], path: Path) -> tuple[str, ...] | None:
    """The keys that tell the elements apart; empty where only their order is known to mean nothing."""
    if path and path[-1] in UNORDERED and not isinstance(path[-1], Element):
        return ()
    for keys in IDENTITIES if elements else ():
        if all(_has_identity(element, keys) for element in elements):
            return keys
    return None


def _has_identity(element: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(element, Mapping) and all(isinstance(element.get(key), str | Matcher) for key in keys)


def _in_set(
    expected: list[Any], actual: list[Any], path: Path, identity: tuple[str, ...]
) -> Iterator[Mismatch]:
    pairs = _pairs_by_identity(expected, actual, identity)
    for i, wanted in enumerate(expected):
        if i in pairs:
            found = actual[pairs[i]]
            yield from differences(wanted, found, (*path, _label(found, identity, pairs[i])))
        else:
            yield Mismatch((*path, _label(wanted, identity, i)), wanted, ABSENT, "is not in the list")
    taken = set(pairs.values())
    for j, found in enumerate(actual):
        if j not in taken:
            yield Mismatch((*path, _label(found, identity, j)), ABSENT, found, "is not expected in the list")


def _pairs_by_identity(expected: list[Any], actual: list[Any], identity: tuple[str, ...]) -> dict[int, int]:
    """Expected position -> actual position, for elements that mean the same dataset or field.

    Literal identities go first: a matcher as name takes only what nobody asked for by name.
    """
    groups: dict[Any, tuple[list[int], list[int]]] = {}
    wild: list[int] = []
    for i, element in enumerate(expected):
        name = _name(element, identity)
        if any(isinstance(part, Matcher) for part in name):
            wild.append(i)
        else:
            groups.setdefault(name, ([], []))[0].append(i)
    rest: list[int] = []
    for j, element in enumerate(actual):
        name = _name(element, identity)
        if name in groups:
            groups[name][1].append(j)
        else:
            rest.append(j)
    pairs: dict[int, int] = {}
    for ours, theirs in groups.values():
        found = _best(expected, actual, ours, theirs)
        pairs.update(found)
        rest += sorted(set(theirs) - set(found.values()))
    return {**pairs, **_wild_pairs(expected, actual, wild, rest, identity)}


def _name(element: Any, identity: tuple[str, ...]) -> tuple[Any, ...]:
    if not identity or not _has_identity(element, identity):
        return () if not identity else (id(element),)
    return tuple(element[key] for key in identity)


def _wild_pairs(
    expected: list[Any], actual: list[Any], wild: list[int], rest: list[int], identity: tuple[str, ...]
) -> dict[int, int]:
    found = _best(expected, actual, wild, rest, identity)
    return {i: j for i, j in found.items() if _accepts_name(expected[i], actual[j], identity)}


def _accepts_name(expected: Any, actual: Any, identity: tuple[str, ...]) -> bool:
    wanted = {key: expected[key] for key in identity}
    return next(differences(wanted, actual), None) is None


def _best(
    expected: list[Any], actual: list[Any], ours: list[int], theirs: list[int], identity: tuple[str, ...] = ()
) -> dict[int, int]:
    """The best assignment of `ours` to `theirs`; a name that a matcher refuses outweighs all else."""

    def fits(i: int, j: int) -> bool:
        return next(differences(expected[ours[i]], actual[theirs[j]]), None) is None

    def cost(i: int, j: int) -> int:
        wanted, found = expected[ours[i]], actual[theirs[j]]
        foreign = 0 if _accepts_name(wanted, found, identity) else 1_000_000_000
        return foreign + sum(1 for _ in differences(wanted, found))

    found = pair([expected[i] for i in ours], [actual[j] for j in theirs], fits, cost)
    return {ours[i]: theirs[j] for i, j in found}


def _label(element: Any, identity: tuple[str, ...], position: int) -> Element:
    if not identity or not _has_identity(element, identity):
        return Element(position)
    return Element(" ".join(str(element[key]) for key in identity))
