"""Where an actual JSON value differs from an expected one; knows nothing of events, keys or files.

Objects are a subset match. Lists are sets where their elements say who they are, and exact elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.testing.assignment import pair
from airflow_provider_spark_lineage.testing.captures import Captures
from airflow_provider_spark_lineage.testing.matchers import Matcher, json_type
from airflow_provider_spark_lineage.testing.paths import Element, Path

IDENTITIES: tuple[tuple[str, ...], ...] = (
    ("namespace", "name", "field"),
    ("namespace", "name"),
    ("name",),
)
"""By which keys list elements know each other, the longest first: input fields, datasets, schema fields."""

UNORDERED = frozenset({"transformations"})
"""Lists whose elements have no identity in the spec but whose order means nothing either."""


DATASETS: tuple[Path, ...] = (("inputs",), ("outputs",))
"""Lists of an event that are sets by the spec, also where an expected element is a matcher without a name."""


class Absent:
    """Stands for a value that is not there; a class of its own because null is a value."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT = Absent()


class Mismatch(NamedTuple):
    """One place where the two values differ."""

    path: Path
    expected: Any
    actual: Any
    reason: str


class Context(NamedTuple):
    """What two values are compared by besides themselves."""

    captures: Captures

    exact: bool = False
    """Objects have the expected keys and no others."""

    def attempt(self) -> Context:
        """The same for a comparison that may not count."""
        return self._replace(captures=self.captures.attempt())


class Comparing(NamedTuple):
    """One value that a composite matcher is asked about."""

    matcher: Composite
    actual: Any
    path: Path
    context: Context

    @property
    def argument(self) -> Any:
        """What the matcher holds."""
        return self.matcher.argument

    def mismatch(self, reason: str) -> Iterator[Mismatch]:
        """The value as a whole is refused."""
        return iter((Mismatch(self.path, self.matcher, self.actual, reason),))


@dataclass(frozen=True)
class Composite(Matcher):
    """A matcher that holds values, and says itself where in the actual value a difference is."""

    compare: Callable[[Comparing], Iterator[Mismatch]] = field(compare=False, repr=False, kw_only=True)

    @classmethod
    def of(
        cls,
        name: str,
        argument: Any,
        compare: Callable[[Comparing], Iterator[Mismatch]],
        *,
        accepts_absence: bool = False,
    ) -> Composite:
        """A matcher that compares like this, and refuses for the first reason that it finds."""

        def check(actual: Any) -> str:
            return next((found.reason for found in differences(matcher, actual)), "")

        matcher = cls(name, argument, check, accepts_absence, compare=compare)
        return matcher


def differences(
    expected: Any, actual: Any, path: Path = (), context: Context | None = None
) -> Iterator[Mismatch]:
    """Every place where `actual` is not what `expected` wants, lazily: the first tells that they differ."""
    context = context or Context(Captures())
    if isinstance(expected, Composite):
        yield from expected.compare(Comparing(expected, actual, path, context))
    elif isinstance(expected, Matcher):
        reason = expected.refuses(actual)
        if reason:
            yield Mismatch(path, expected, actual, reason)
    elif isinstance(expected, Mapping):
        yield from _in_object(expected, actual, path, context)
    elif isinstance(expected, list):
        yield from _in_list(expected, actual, path, context)
    elif not _same_scalar(expected, actual):
        yield Mismatch(path, expected, actual, _scalar_reason(expected, actual))


def list_differences(
    expected: list[Any], actual: Any, path: Path, context: Context, *, more: bool = False
) -> Iterator[Mismatch]:
    """The same for a list whose order means nothing; with `more`, other elements may be there too."""
    if not isinstance(actual, list):
        yield Mismatch(path, expected, actual, f"is not a list but {json_type(actual)}")
    else:
        yield from _in_set(expected, actual, path, _identity(expected, path) or (), context, more=more)


def _same_scalar(expected: Any, actual: Any) -> bool:
    # True == 1 in Python; in JSON they are a boolean and a number.
    return isinstance(expected, bool) == isinstance(actual, bool) and bool(expected == actual)


def _scalar_reason(expected: Any, actual: Any) -> str:
    wanted, found = json_type(expected), json_type(actual)
    return "has another value" if wanted == found else f"is not {wanted} but {found}"


def _in_object(expected: Mapping[str, Any], actual: Any, path: Path, context: Context) -> Iterator[Mismatch]:
    if not isinstance(actual, Mapping):
        yield Mismatch(path, expected, actual, f"is not an object but {json_type(actual)}")
        return
    for key, value in expected.items():
        if key in actual:
            yield from differences(value, actual[key], (*path, key), context)
        elif not (isinstance(value, Matcher) and value.accepts_absence):
            yield Mismatch((*path, key), value, ABSENT, "is absent")
    for key in actual if context.exact else ():
        if key not in expected:
            yield Mismatch((*path, key), ABSENT, actual[key], "is not expected in the object")


def _in_list(expected: list[Any], actual: Any, path: Path, context: Context) -> Iterator[Mismatch]:
    if not isinstance(actual, list):
        yield Mismatch(path, expected, actual, f"is not a list but {json_type(actual)}")
        return
    identity = _identity(expected or actual, path)
    if identity is not None:
        yield from _in_set(expected, actual, path, identity, context)
    elif len(expected) != len(actual):
        yield Mismatch(path, expected, actual, f"has {len(actual)} elements, not {len(expected)}")
    else:
        for position, (wanted, found) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(wanted, found, (*path, Element(position)), context)


def _identity(elements: Sequence[Any], path: Path) -> tuple[str, ...] | None:
    """The keys that tell the elements apart; empty where only their order is known to mean nothing."""
    if path and path[-1] in UNORDERED and not isinstance(path[-1], Element):
        return ()
    for keys in IDENTITIES if elements else ():
        if all(_has_identity(element, keys) for element in elements):
            return keys
    return () if path in DATASETS else None


def _has_identity(element: Any, keys: tuple[str, ...]) -> bool:
    fields = _fields(element)
    return isinstance(fields, Mapping) and all(isinstance(fields.get(key), str | Matcher) for key in keys)


def _fields(element: Any) -> Any:
    """The object itself, also where it must be there exactly."""
    return element.argument if isinstance(element, Composite) and element.name == "exact" else element


def _in_set(
    expected: list[Any],
    actual: list[Any],
    path: Path,
    identity: tuple[str, ...],
    context: Context,
    *,
    more: bool = False,
) -> Iterator[Mismatch]:
    pairs, certain = _Pairing(expected, actual, identity, context).pairs()
    choice = context._replace(captures=context.captures.of_choice())
    for i, wanted in enumerate(expected):
        if i in pairs:
            found = actual[pairs[i]]
            here = context if i in certain else choice
            yield from differences(wanted, found, (*path, _label(found, identity, pairs[i])), here)
        else:
            yield Mismatch((*path, _label(wanted, identity, i)), wanted, ABSENT, "is not in the list")
    taken = set(pairs.values())
    for j, found in enumerate(() if more else actual):
        if j not in taken:
            yield Mismatch((*path, _label(found, identity, j)), ABSENT, found, "is not expected in the list")


_FOREIGN = 1_000_000_000
"""What a pair costs whose names do not agree: more than any number of differences."""


class _Pairing(NamedTuple):
    """Two lists whose elements know each other by these keys; by none where only order means nothing."""

    expected: list[Any]
    actual: list[Any]
    identity: tuple[str, ...]
    context: Context

    def pairs(self) -> tuple[dict[int, int], set[int]]:
        """Expected position -> actual position, and for which of them the names leave no choice.

        Literal identities go first: a matcher as name takes only what nobody asked for by name.
        """
        groups: dict[Any, tuple[list[int], list[int]]] = {}
        wild: list[int] = []
        for i, element in enumerate(self.expected):
            name = _name(element, self.identity)
            if any(isinstance(part, Matcher) for part in name):
                wild.append(i)
            else:
                groups.setdefault(name, ([], []))[0].append(i)
        rest: list[int] = []
        for j, element in enumerate(self.actual):
            name = _name(element, self.identity)
            if name in groups:
                groups[name][1].append(j)
            else:
                rest.append(j)
        pairs: dict[int, int] = {}
        certain: set[int] = set()
        for ours, theirs in groups.values():
            found = self._best(ours, theirs)
            pairs.update(found)
            certain.update(ours if len(ours) == len(theirs) == 1 else ())
            rest += sorted(set(theirs) - set(found.values()))
        by_name, alone = self._best_by_name(wild, rest)
        return {**pairs, **by_name}, certain | alone

    def _best_by_name(self, ours: list[int], theirs: list[int]) -> tuple[dict[int, int], set[int]]:
        """The best assignment of those that accept each other's names, and who accepts no other."""
        accepted = {i: {j for j in theirs if self._accepts_name(i, j)} for i in ours}
        wanted: set[int] = set().union(*accepted.values())
        found = self._best([i for i in ours if accepted[i]], [j for j in theirs if j in wanted], accepted)
        asked = Counter(j for names in accepted.values() for j in names)
        alone = {i for i, names in accepted.items() if len(names) == 1 and all(asked[j] == 1 for j in names)}
        return {i: j for i, j in found.items() if j in accepted[i]}, alone

    def _best(
        self, ours: list[int], theirs: list[int], accepted: Mapping[int, set[int]] | None = None
    ) -> dict[int, int]:
        """The best assignment of `ours` to `theirs`; a name that is not accepted outweighs all else."""

        def tried(i: int, j: int) -> Iterator[Mismatch]:
            return differences(self.expected[ours[i]], self.actual[theirs[j]], (), self.context.attempt())

        def fits(i: int, j: int) -> bool:
            return next(tried(i, j), None) is None

        def cost(i: int, j: int) -> int:
            if accepted is not None and theirs[j] not in accepted[ours[i]]:
                return _FOREIGN
            return sum(1 for _ in tried(i, j))

        found = pair([self.expected[i] for i in ours], [self.actual[j] for j in theirs], fits, cost)
        return {ours[i]: theirs[j] for i, j in found}

    def _accepts_name(self, i: int, j: int) -> bool:
        """Whether the names agree; asked for every pair, and answered for few of them at leisure."""
        wanted = {key: _fields(self.expected[i])[key] for key in self.identity}
        found = self.actual[j]
        if not isinstance(found, Mapping):
            return False
        for key, name in wanted.items():
            if type(name) is Matcher and name.check(found.get(key)):
                return False
        return next(differences(wanted, found, (), self.context.attempt()), None) is None


def _name(element: Any, identity: tuple[str, ...]) -> tuple[Any, ...]:
    if not identity or not _has_identity(element, identity):
        return () if not identity else (id(element),)
    return tuple(_fields(element)[key] for key in identity)


def _label(element: Any, identity: tuple[str, ...], position: int) -> Element:
    if not identity or not _has_identity(element, identity):
        return Element(position)
    return Element(" ".join(str(_fields(element)[key]) for key in identity))


def pairs_of_elements(expected: list[Any], actual: list[Any], path: Path) -> dict[int, int]:
    """Which element of an expected list, at a path, is compared with which of an actual one.

    Where only the order tells, a list that is longer or shorter differs as a whole; then the elements that
    match at its beginning and its end stay paired, so that what was added or taken away stands out.
    """
    identity = _identity(expected or actual, path)
    if identity is not None:
        return _Pairing(expected, actual, identity, Context(Captures())).pairs()[0]
    if len(expected) == len(actual):
        return {i: i for i in range(len(expected))}

    def fits(i: int, j: int) -> bool:
        return next(differences(expected[i], actual[j]), None) is None

    shorter = min(len(expected), len(actual))
    head = next((i for i in range(shorter) if not fits(i, i)), shorter)
    tail = next((i for i in range(shorter - head) if not fits(-1 - i, -1 - i)), shorter - head)
    pairs = {i: i for i in range(shorter - tail)}
    return {**pairs, **{len(expected) - i: len(actual) - i for i in range(tail, 0, -1)}}
