"""Differences between an actual and an expected JSON value, independent of events, keys and files.

Objects are compared as subsets. Lists are compared as sets if their elements have an identity, and element by
element otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.testing.matchers import Matcher, json_type

_DATASET = ("namespace", "name")

IDENTITIES: tuple[tuple[str, ...], ...] = (
    ("namespace", "name", "field"),
    _DATASET,
    ("name",),
)
"""Keys that identify a list element, the longest first: input fields, datasets, schema fields."""

UNORDERED = frozenset({"transformations"})
"""Lists whose elements have no identity in the spec, and whose order has no meaning."""

MOST_GUESSES = 50_000
"""Maximum of pairs whose differences are counted; above it, elements are paired in order."""

Path = tuple[str, ...]


class Element(str):
    """A part of a path that names a list element, written in brackets."""

    __slots__ = ()


_DATASETS: tuple[Path, ...] = (("inputs",), ("outputs",))
"""Lists of an event that are sets by the spec, also if an expected element is a matcher without a name."""


class Absent:
    """A missing value; not None, because null is a value in JSON."""

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
    """Yield every place where `actual` does not match `expected`; lazily, so that a check may stop early.

    With `exact`, objects have the expected keys and no others.
    """
    if isinstance(expected, Matcher):
        yield from _by_matcher(expected, actual, path, exact)
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
    """Return whether the actual value has no differences."""
    return next(differences(expected, actual, path, exact=exact), None) is None


def _by_matcher(matcher: Matcher, actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    held = matcher.argument
    if matcher.name in ("optional", "exact"):
        yield from differences(held, actual, path, exact=exact or matcher.name == "exact")
    elif matcher.name == "one_of":
        if not any(matches(value, actual, path, exact=exact) for value in held):
            yield Mismatch(path, matcher, actual, f"is none of the {len(held)} values that it may be")
    elif matcher.name == "at_least":
        identity = _identity(held, path) or ()
        yield from _in_set(held, actual, path, identity, exact=exact, allow_more=True)
    elif reason := matcher.check(actual):
        yield Mismatch(path, matcher, actual, reason)


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
        yield from _in_order(expected, actual, path, exact)
    else:
        yield from _in_set(expected, actual, path, identity, exact=exact)


def _in_order(expected: list[Any], actual: Any, path: Path, exact: bool) -> Iterator[Mismatch]:
    if not isinstance(actual, list):
        yield Mismatch(path, expected, actual, f"is not a list but {json_type(actual)}")
    elif len(expected) != len(actual):
        yield Mismatch(path, expected, actual, f"has {len(actual)} elements, not {len(expected)}")
    else:
        for position, (wanted, value) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(wanted, value, (*path, Element(position)), exact=exact)


def _in_set(
    expected: list[Any],
    actual: Any,
    path: Path,
    identity: tuple[str, ...],
    *,
    exact: bool,
    allow_more: bool = False,
) -> Iterator[Mismatch]:
    if not isinstance(actual, list):
        yield Mismatch(path, expected, actual, f"is not a list but {json_type(actual)}")
        return
    pairs = _pairs_in_set(expected, actual, identity, exact)
    free = others(actual, pairs.values()) if not allow_more else []
    for i, wanted in enumerate(expected):
        if i in pairs:
            element = actual[pairs[i]]
            label = _label(element, identity, pairs[i])
            yield from differences(wanted, element, (*path, label), exact=exact)
        else:
            label = _label(wanted, identity, i)
            yield Mismatch((*path, label), wanted, ABSENT, "is not in the list")
    hints = _hints(others(expected, pairs), free, expected, actual, identity) if free else {}
    for j in free:
        reason = f"is not expected in the list{hints.get(j, '')}"
        given = _named(actual[j], identity)
        yield Mismatch((*path, _label(actual[j], identity, j)), ABSENT, given, reason)


_MOST_HINTS = 100
"""Maximum of pairs of missing and unexpected datasets that are compared for a hint."""

_MOST_PATHS = 4
"""Maximum of places that a hint names."""


def _named(element: Any, identity: tuple[str, ...]) -> Any:
    """Return a dataset by its name alone: its facets would hide which one it is."""
    if identity != _DATASET or not _has_identity(element, identity):
        return element
    return {key: _fields(element)[key] for key in identity}


def _hints(
    missing: list[int], free: list[int], expected: list[Any], actual: list[Any], identity: tuple[str, ...]
) -> dict[int, str]:
    """Return what differs between each unexpected dataset and the nearest missing one."""
    if identity != _DATASET or not missing or len(missing) * len(free) > _MOST_HINTS:
        return {}
    pairs = _nearest(product(missing, free), lambda i, j: differences(expected[i], actual[j]))
    hints = {}
    for i, j in pairs.items():
        places = [path_text(each.path) for each in differences(expected[i], actual[j])]
        more = f" and {len(places) - _MOST_PATHS} more" if len(places) > _MOST_PATHS else ""
        listed = ", ".join(places[:_MOST_PATHS]) + more
        nearest = _label(expected[i], identity, i)
        hints[j] = f"; the nearest missing one is {nearest}, which differs in {listed}"
    return hints


# Pairs of elements of two lists.


def pairs_of_elements(expected: list[Any], actual: list[Any], path: Path) -> dict[int, int]:
    """Return the position in `actual` by the position in `expected`, for elements that belong together."""
    identity = _identity(expected or actual, path)
    if identity is not None:
        return _pairs_in_set(expected, actual, identity, exact=False)
    # If the lengths differ, only matching elements are known to belong together.
    return best_pairs(expected, actual, differences, only_matches=len(expected) != len(actual))


def best_pairs(
    expected: Sequence[Any],
    actual: Sequence[Any],
    compare: Callable[[Any, Any], Iterator[Mismatch]],
    *,
    only_matches: bool = False,
) -> dict[int, int]:
    """Return the position in `actual` by the position in `expected`: full matches first, then the nearest.

    As many elements as possible get a full match. If not all can have one, those with the fewest candidates
    choose first, because a loose expectation must not take the only match of a strict one. The nearest
    element has the fewest differences, then the most characters in common.
    """
    if len(expected) == len(actual) == 1 and not only_matches:
        return {0: 0}

    @cache
    def are_equal(i: int, j: int) -> bool:
        return next(compare(expected[i], actual[j]), None) is None

    def matching(order: Iterable[int]) -> dict[int, int]:
        pairs: dict[int, int] = {}
        free = dict.fromkeys(range(len(actual)))
        for i in order:
            # Events mostly arrive in the expected order.
            j = i if i in free and are_equal(i, i) else next((j for j in free if are_equal(i, j)), None)
            if j is not None:
                pairs[i] = j
                del free[j]
        return pairs

    pairs = matching(range(len(expected)))
    if len(pairs) < min(len(expected), len(actual)):
        candidates = [[j for j in range(len(actual)) if are_equal(i, j)] for i in range(len(expected))]
        order = sorted(range(len(expected)), key=lambda i: len(candidates[i]))
        pairs = _all_paired(matching(order), candidates, order)
    if only_matches:
        return pairs
    rest, free = others(expected, pairs), others(actual, pairs.values())
    if len(rest) * len(free) > MOST_GUESSES:
        return {**pairs, **dict(zip(rest, free, strict=False))}
    return pairs | _nearest(product(rest, free), lambda i, j: compare(expected[i], actual[j]))


def _all_paired(
    pairs: dict[int, int], candidates: Sequence[Sequence[int]], order: Iterable[int]
) -> dict[int, int]:
    """Return pairs of as many elements as possible, by augmenting paths (bipartite matching).

    An element without a pair takes a candidate of another one that has a second candidate, and so on.
    """
    owners = {j: i for i, j in pairs.items()}
    for start in order:
        if start in pairs:
            continue
        reached_by: dict[int, int] = {}
        waiting, end = [start], None
        while waiting and end is None:
            i = waiting.pop()
            new = [j for j in candidates[i] if j not in reached_by]
            reached_by.update(dict.fromkeys(new, i))
            end = next((j for j in new if j not in owners), None)
            waiting += [owners[j] for j in new if j in owners]
        # Follow the path back: each element takes the candidate that it reached, and frees its old one.
        while end is not None:
            i = reached_by[end]
            freed = pairs.get(i)
            pairs[i], owners[end] = end, i
            end = freed
    return pairs


def _nearest(
    guesses: Iterable[tuple[int, int]], compare: Callable[[int, int], Iterable[Mismatch]]
) -> dict[int, int]:
    """Return the pairs with the fewest differences, then the most characters in common.

    Elements with the fewest candidates choose first.
    """
    guesses = list(guesses)
    choices = Counter(i for i, _ in guesses)

    def cost(i: int, j: int) -> tuple[Any, ...]:
        mismatches = list(compare(i, j)) if len(guesses) <= MOST_GUESSES else []
        # The digits that differ do not measure the distance of two numbers.
        wanted = [each.expected for each in mismatches if not isinstance(each.expected, int | float)]
        given = [each.actual for each in mismatches if not isinstance(each.actual, int | float)]
        # It compares the characters without their order, in linear time.
        alike = SequenceMatcher(None, f"{wanted}", f"{given}").quick_ratio()
        return choices[i], len(mismatches), -alike, abs(i - j), i, j

    costs = [cost(i, j) for i, j in guesses]
    pairs: dict[int, int] = {}
    paired: set[int] = set()
    for *_, i, j in sorted(costs):
        if i not in pairs and j not in paired:
            pairs[i] = j
            paired.add(j)
    return pairs


def _pairs_in_set(
    expected: list[Any], actual: list[Any], identity: tuple[str, ...], exact: bool
) -> dict[int, int]:
    """Pair elements with the same identity, then expected elements with a matcher as name with the rest."""

    def compare(wanted: Any, element: Any) -> Iterator[Mismatch]:
        return differences(wanted, element, exact=exact)

    def compare_names(wanted: Any, element: Any) -> Iterator[Mismatch]:
        return differences({key: _fields(wanted)[key] for key in identity}, element)

    groups: dict[Any, tuple[list[int], list[int]]] = {}
    unnamed: list[int] = []
    for i, element in enumerate(expected):
        name = _name(element, identity)
        if any(isinstance(part, Matcher) for part in name):
            unnamed.append(i)
        else:
            groups.setdefault(name, ([], []))[0].append(i)
    for j, element in enumerate(actual):
        groups.setdefault(_name(element, identity), ([], []))[1].append(j)
    pairs: dict[int, int] = {}
    for wanted, given in groups.values():
        if wanted and given:
            pairs |= _among(wanted, given, expected, actual, compare)
    if not unnamed:
        return pairs
    pairs |= _among(unnamed, others(actual, pairs.values()), expected, actual, compare, only_matches=True)
    # A matching name counts more than the content: consider only elements whose name matches.
    rest = product([i for i in unnamed if i not in pairs], others(actual, pairs.values()))
    named = [(i, j) for i, j in rest if next(compare_names(expected[i], actual[j]), None) is None]
    return pairs | _nearest(named, lambda i, j: compare(expected[i], actual[j]))


def _among(
    wanted: list[int], given: list[int], expected: list[Any], actual: list[Any], compare: Any, **options: bool
) -> dict[int, int]:
    """Return the best pairs of the elements at these positions."""
    chosen = best_pairs([expected[i] for i in wanted], [actual[j] for j in given], compare, **options)
    return {wanted[i]: given[j] for i, j in chosen.items()}


def others(elements: Sequence[Any], positions: Any) -> list[int]:
    """Return the positions of all elements that are not among these."""
    known = set(positions)
    return [position for position in range(len(elements)) if position not in known]


def _identity(elements: Sequence[Any], path: Path) -> tuple[str, ...] | None:
    """Return the keys that identify the elements; empty for a set without keys, None for a list in order."""
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
    """Return the object, unwrapped if it is in `!exact`."""
    return element.argument if isinstance(element, Matcher) and element.name == "exact" else element


def _name(element: Any, identity: tuple[str, ...]) -> tuple[Any, ...]:
    if identity and not _has_identity(element, identity):
        return (id(element),)
    return tuple(_fields(element)[key] for key in identity)


def _label(element: Any, identity: tuple[str, ...], position: int) -> Element:
    if not identity or not _has_identity(element, identity):
        return Element(position)
    return Element(" ".join(str(_fields(element)[key]) for key in identity))
