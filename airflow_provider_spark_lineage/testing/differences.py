"""Where an actual JSON value differs from an expected one; knows nothing of events, keys or files.

Objects are compared as subsets. Lists are compared as sets if their elements have an identity, and element by
element otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.testing.matchers import Matcher, json_type

IDENTITIES: tuple[tuple[str, ...], ...] = (
    ("namespace", "name", "field"),
    ("namespace", "name"),
    ("name",),
)
"""Keys that identify a list element, the longest first: input fields, datasets, schema fields."""

UNORDERED = frozenset({"transformations"})
"""Lists whose elements have no identity in the spec, and whose order means nothing either."""

MOST_GUESSES = 50_000
"""Pairs of elements for which the number of differences is counted; above, elements are paired in order."""

Path = tuple[str, ...]


class Element(str):
    """A part of a path that names a list element, written in brackets."""

    __slots__ = ()


_DATASETS: tuple[Path, ...] = (("inputs",), ("outputs",))
"""Lists of an event that are sets by the spec, also if an expected element is a matcher without a name."""


class Absent:
    """A value that is not there; a class of its own because null is a value."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT = Absent()


class Mismatch(NamedTuple):
    """One place where the two values differ."""

    path: Path
    expected: Any
    actual: Any
    reason: str
    """Completes the sentence "the actual value ..."."""


def path_text(path: Path) -> str:
    """Return `inputs[file /in].facets."odd.key"`: keys with dots, list elements in brackets."""
    text = ""
    for part in path:
        if isinstance(part, Element):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if part.replace("_", "a").isalnum() else f'"{part}"')
    return text


def differences(expected: Any, actual: Any, path: Path = (), *, exact: bool = False) -> Iterator[Mismatch]:
    """Yield every place where `actual` is not what `expected` wants, lazily: the first says that they differ.

    With `exact`, objects have the expected keys and no others.
    """
    if isinstance(expected, Matcher):
        if expected.name in _HOLDERS:
            yield from _HOLDERS[expected.name](expected, actual, path, exact)
        elif reason := expected.check(actual):
            yield Mismatch(path, expected, actual, reason)
    elif isinstance(expected, dict):
        yield from _in_object(expected, actual, path, exact)
    elif isinstance(expected, list):
        yield from _in_list(expected, actual, path, exact)
    # True == 1 in Python; in JSON they are a boolean and a number.
    elif expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
        wanted, given = json_type(expected), json_type(actual)
        reason = "has another value" if wanted == given else f"is not {wanted} but {given}"
        yield Mismatch(path, expected, actual, reason)


def matches(expected: Any, actual: Any, path: Path = (), *, exact: bool = False) -> bool:
    """Return whether there is no difference."""
    return next(differences(expected, actual, path, exact=exact), None) is None


def _in_object(expected: dict[str, Any], actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    # isinstance is much faster for dict than for the abstract Mapping.
    if not isinstance(actual, (dict, Mapping)):
        yield Mismatch(path, expected, actual, f"is not an object but {json_type(actual)}")
        return
    for key, value in expected.items():
        if key in actual:
            yield from differences(value, actual[key], (*path, key), exact=exact)
        elif not (isinstance(value, Matcher) and value.accepts_absence):
            yield Mismatch((*path, key), value, ABSENT, "is absent")
    for key in actual if exact else ():
        if key not in expected:
            yield Mismatch((*path, key), ABSENT, actual[key], "is not expected in the object")


def _in_list(expected: list[Any], actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    identity = _identity(expected or actual, path) if isinstance(actual, list) else None
    if identity is None:
        yield from _elements(expected, actual, path, exact)
    else:
        yield from _in_set(expected, actual, path, identity, exact)


def _elements(expected: list[Any], actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    if not isinstance(actual, list):
        yield Mismatch(path, expected, actual, f"is not a list but {json_type(actual)}")
    elif len(expected) != len(actual):
        yield Mismatch(path, expected, actual, f"has {len(actual)} elements, not {len(expected)}")
    else:
        for position, (wanted, value) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(wanted, value, (*path, Element(position)), exact=exact)


def _in_set(
    expected: list[Any],
    actual: list[Any],
    path: Path,
    identity: tuple[str, ...],
    exact: bool,
    *,
    allow_more: bool = False,
) -> Iterator[Mismatch]:
    pairs = _pairs_in_set(expected, actual, identity, exact)
    for i, wanted in enumerate(expected):
        if i in pairs:
            element = actual[pairs[i]]
            label = _label(element, identity, pairs[i])
            yield from differences(wanted, element, (*path, label), exact=exact)
        else:
            yield Mismatch((*path, _label(wanted, identity, i)), wanted, ABSENT, "is not in the list")
    paired = set(pairs.values())
    for j, element in enumerate(() if allow_more else actual):
        if j not in paired:
            label = _label(element, identity, j)
            yield Mismatch((*path, label), ABSENT, element, "is not expected in the list")


# The matchers that hold values.


def _optional(matcher: Matcher, actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    return differences(matcher.argument, actual, path, exact=exact)


def _exact(matcher: Matcher, actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    return differences(matcher.argument, actual, path, exact=True)


def _one_of(matcher: Matcher, actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    if not any(matches(value, actual, path, exact=exact) for value in matcher.argument):
        reason = f"is none of the {len(matcher.argument)} values that it may be"
        yield Mismatch(path, matcher, actual, reason)


def _at_least(matcher: Matcher, actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    wanted = matcher.argument
    if isinstance(actual, list):
        yield from _in_set(wanted, actual, path, _identity(wanted, path) or (), exact, allow_more=True)
    else:
        yield Mismatch(path, matcher, actual, f"is not a list but {json_type(actual)}")


def _in_order(matcher: Matcher, actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    return _elements(matcher.argument, actual, path, exact)


def _unless_empty(matcher: Matcher, actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    return iter(()) if actual == [] else differences(matcher.argument, actual, path, exact=exact)


_HOLDERS: Mapping[str, Callable[[Matcher, Any, Path, bool], Iterator[Mismatch]]] = {
    "optional": _optional,
    "one_of": _one_of,
    "exact": _exact,
    "at_least": _at_least,
    # Only for the templates of Airflow's own system tests.
    "in_order": _in_order,
    "unless_empty": _unless_empty,
}


# Which element of one list belongs to which element of another.


def pairs_of_elements(expected: list[Any], actual: list[Any], path: Path) -> dict[int, int]:
    """Return the position in `actual` by the position in `expected`, for elements that are compared."""
    identity = _identity(expected or actual, path)
    if identity is not None:
        return _pairs_in_set(expected, actual, identity, exact=False)
    if len(expected) == len(actual):
        return {i: i for i in range(len(expected))}
    # A longer or shorter list differs as a whole; pair equal elements, so that the change stands out.
    return best_pairs(expected, actual, differences, only_matches=True)


def best_pairs(
    expected: Sequence[Any],
    actual: Sequence[Any],
    compare: Callable[[Any, Any], Iterator[Mismatch]],
    weight: Callable[[Mismatch], int] = lambda mismatch: 1,
    *,
    only_matches: bool = False,
) -> dict[int, int]:
    """Return the position in `actual` by the position in `expected`: whole matches first, then the nearest.

    As many elements as possible are paired with one that they match (Kuhn's algorithm): the first match of
    a loose expectation may be the only match of a strict one. The others are paired by the fewest
    differences.
    """
    if len(expected) == len(actual) == 1 and not only_matches:
        return {0: 0}
    found: dict[int, list[int]] = {}
    searches: dict[int, Iterator[int]] = {}
    owner: dict[int, int] = {}

    def search(i: int) -> Iterator[int]:
        # Events mostly arrive in the order in which they are expected: start at the same position.
        for j in (*range(i, len(actual)), *range(min(i, len(actual)))):
            if next(compare(expected[i], actual[j]), None) is None:
                yield j

    def candidates(i: int) -> Iterator[int]:
        """Yield the positions that match, and remember them: every pair is compared only once."""
        yield from found.setdefault(i, [])
        for j in searches.setdefault(i, search(i)):
            found[i].append(j)
            yield j

    def assign(i: int, tried: set[int]) -> bool:
        for j in candidates(i):
            if j not in owner:
                owner[j] = i
                return True
        for j in found[i]:
            if j not in tried:
                tried.add(j)
                if assign(owner[j], tried):
                    owner[j] = i
                    return True
        return False

    for i in range(len(expected)):
        assign(i, set())
    pairs = {i: j for j, i in owner.items()}
    if only_matches:
        return pairs
    rest = [i for i in range(len(expected)) if i not in pairs]
    free = [j for j in range(len(actual)) if j not in owner]
    if len(rest) * len(free) > MOST_GUESSES:
        return {**pairs, **dict(zip(rest, free, strict=False))}
    costs = [
        (sum(map(weight, compare(expected[i], actual[j]))), abs(i - j), i, j) for i, j in product(rest, free)
    ]
    for _, _, i, j in sorted(costs):
        if i not in pairs and j in free:
            pairs[i] = j
            free.remove(j)
    return pairs


def _pairs_in_set(
    expected: list[Any], actual: list[Any], identity: tuple[str, ...], exact: bool
) -> dict[int, int]:
    """Pair elements of the same identity; an expected one with a matcher as name gets what is left."""

    def compare(wanted: Any, element: Any) -> Iterator[Mismatch]:
        return differences(wanted, element, exact=exact)

    by_name: dict[Any, tuple[list[int], list[int]]] = {}
    unnamed: list[int] = []
    for i, element in enumerate(expected):
        name = _name(element, identity)
        if any(isinstance(part, Matcher) for part in name):
            unnamed.append(i)
        else:
            by_name.setdefault(name, ([], []))[0].append(i)
    left: list[int] = []
    for j, element in enumerate(actual):
        group = by_name.get(_name(element, identity))
        (group[1] if group else left).append(j)
    pairs: dict[int, int] = {}
    for wanted, given in by_name.values():
        chosen = best_pairs([expected[i] for i in wanted], [actual[j] for j in given], compare)
        pairs.update({wanted[i]: given[j] for i, j in chosen.items()})
        left += sorted(set(given) - set(pairs.values()))
    if unnamed:
        named_by_matcher = {i: expected[i] for i in unnamed}
        pairs.update(_pairs_by_matcher(named_by_matcher, {j: actual[j] for j in left}, identity, exact))
    return pairs


def _pairs_by_matcher(
    expected: Mapping[int, Any], actual: Mapping[int, Any], identity: tuple[str, ...], exact: bool
) -> dict[int, int]:
    """Pair elements that match, then those of which at least the names match."""

    def compare_names(i: int, j: int) -> Iterator[Mismatch]:
        element = actual[j] if isinstance(actual[j], Mapping) else {}
        for key, name in zip(identity, _name(expected[i], identity), strict=True):
            yield from differences(name, element.get(key))

    def compare(i: int, j: int) -> Iterator[Mismatch]:
        yield from compare_names(i, j)
        yield from differences(expected[i], actual[j], exact=exact)

    unnamed, left = list(expected), list(actual)
    chosen = best_pairs(unnamed, left, compare, only_matches=True)
    pairs = {unnamed[i]: left[j] for i, j in chosen.items()}
    rest, free = [i for i in unnamed if i not in pairs], [j for j in left if j not in pairs.values()]
    chosen = best_pairs(rest, free, compare_names, only_matches=True)
    return {**pairs, **{rest[i]: free[j] for i, j in chosen.items()}}


def _identity(elements: Sequence[Any], path: Path) -> tuple[str, ...] | None:
    """Return the keys that identify the elements; empty if only their order is known to mean nothing."""
    if path and path[-1] in UNORDERED and not isinstance(path[-1], Element):
        return ()
    for keys in IDENTITIES if elements else ():
        if all(_has_identity(element, keys) for element in elements):
            return keys
    return () if path in _DATASETS else None


def _has_identity(element: Any, keys: tuple[str, ...]) -> bool:
    fields = _fields(element)
    return isinstance(fields, Mapping) and all(isinstance(fields.get(key), str | Matcher) for key in keys)


def _fields(element: Any) -> Any:
    """Return the object, also out of `!exact`."""
    return element.argument if isinstance(element, Matcher) and element.name == "exact" else element


def _name(element: Any, identity: tuple[str, ...]) -> tuple[Any, ...]:
    if identity and not _has_identity(element, identity):
        return (id(element),)
    return tuple(_fields(element)[key] for key in identity)


def _label(element: Any, identity: tuple[str, ...], position: int) -> Element:
    if not identity or not _has_identity(element, identity):
        return Element(position)
    return Element(" ".join(str(_fields(element)[key]) for key in identity))
