"""The matchers that hold values themselves: one row each, saying how it compares and what it may hold.

Where a place in the value differs, the difference says which, as if the value stood there without a matcher.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from airflow_provider_spark_lineage.testing.differences import (
    Comparing,
    Composite,
    Mismatch,
    differences,
    list_differences,
)
from airflow_provider_spark_lineage.testing.matchers import MATCHERS, Matcher, json_type, matcher, nearest

Found = Iterator[Mismatch]
Where = tuple[str | int, ...]
"""Keys and positions that lead to a value in an expected file; a matcher is no step of its own."""


def make(name: str, argument: Any = None) -> Matcher:
    """The matcher of that name, scalar or composite; ValueError says what is wrong with it.

    >>> str(make("one_of", ["COMPLETE", make("regex", "F.*")]))
    '!one_of ["COMPLETE", !regex "F.*"]'
    """
    row = COMPOSITES.get(name)
    if row is not None:
        row.check(argument)
        return Composite.of(name, argument, row.compare, accepts_absence=row.accepts_absence)
    if name not in MATCHERS:
        raise ValueError(f"unknown matcher `{name}`; {nearest(name, (*MATCHERS, *COMPOSITES))}")
    if argument is not None and not isinstance(argument, str):
        raise ValueError(f"matcher `{name}` takes a string{_HINTS.get(name, '')}")
    return matcher(name, argument)


def capture_names(value: Any) -> Counter[str]:
    """How often each name is captured anywhere in an expected value."""
    names: Counter[str] = Counter()
    for one in matchers_in(value):
        if one.name == "capture":
            names[_capture_of(one.argument)[0]] += 1
    return names


def matchers_in(value: Any) -> Iterator[Matcher]:
    """Every matcher in an expected value, those inside of others included."""
    if isinstance(value, Matcher):
        yield value
        yield from matchers_in(value.argument)
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from matchers_in(item)


def stray_absences(value: Any, path: Where = ()) -> Iterator[tuple[Where, str]]:
    """Where matchers that accept absence stand where no key can be absent, with their names."""
    if isinstance(value, Matcher):
        if value.accepts_absence:
            yield path, value.name
        else:
            yield from _strays_in(value, path)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (_strays_in if accepts_absence(item) else stray_absences)(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from stray_absences(item, (*path, position))


def _strays_in(holder: Matcher, path: Where) -> Iterator[tuple[Where, str]]:
    held = holder.argument
    if holder.name in WITH_OF and isinstance(held, Mapping):
        # `of` is a key of the matcher, not of an event.
        for key, item in held.items():
            yield from stray_absences(item, (*path, key))
    else:
        yield from stray_absences(held, path)


def accepts_absence(value: Any) -> bool:
    """Whether a key may be missing that is expected to have this value."""
    return isinstance(value, Matcher) and value.accepts_absence


# What the matchers may hold.


def _one_value(argument: Any) -> None:
    if argument is None:
        raise ValueError("matcher `optional` needs a value: what the key must have where it is there")


def _an_object(argument: Any) -> None:
    if not isinstance(argument, Mapping):
        raise ValueError("matcher `exact` takes an object, whose keys are all that may be there")


def _some_elements(name: str) -> Callable[[Any], None]:
    def check(argument: Any) -> None:
        if not isinstance(argument, list) or not argument:
            raise ValueError(f"matcher `{name}` takes a list with at least one element")

    return check


def _elements_or_number(argument: Any) -> None:
    if not isinstance(argument, Mapping):
        return _some_elements("at_least")(argument)
    _check_keys("at_least", argument, _AT_LEAST_KEYS)
    least = argument.get("min")
    if type(least) is not int or least < 1:
        raise ValueError(
            "matcher `at_least` takes a list of elements, or `{min: <number from 1>, of: <value>}`"
        )
    if capture_names(argument):
        # Several elements may match, and they may all be different.
        raise ValueError("matcher `at_least` takes no `capture` in `of`")
    return None


def _url_parts(argument: Any) -> None:
    if not isinstance(argument, Mapping) or not argument:
        raise ValueError(f"matcher `url` takes an object of {', '.join(URL_PARTS)}")
    _check_keys("url", argument, URL_PARTS)


def _a_name(argument: Any) -> None:
    if isinstance(argument, Mapping):
        _check_keys("capture", argument, _CAPTURE_KEYS)
    name, of = _capture_of(argument)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("matcher `capture` takes a name such as `run`, or `{name: run, of: <value>}`")
    if name in capture_names(of):
        raise ValueError(f"matcher `capture` of `{name}` has itself in `of`")


def _check_keys(name: str, argument: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in argument:
        if key not in known:
            raise ValueError(f"matcher `{name}` has the key `{key}`; {nearest(key, known)}")


# How the matchers compare.


def _optional(found: Comparing) -> Found:
    return differences(found.argument, found.actual, found.path, found.context)


def _exact(found: Comparing) -> Found:
    return differences(found.argument, found.actual, found.path, found.context._replace(exact=True))


def _one_of(found: Comparing) -> Found:
    for value in found.argument:
        if next(differences(value, found.actual, found.path, found.context.attempt()), None) is None:
            # Once more, for what it captures.
            choice = found.context._replace(captures=found.context.captures.of_choice())
            return differences(value, found.actual, found.path, choice)
    return found.mismatch(f"is none of the {len(found.argument)} values that it may be")


def _unordered(found: Comparing) -> Found:
    return list_differences(found.argument, found.actual, found.path, found.context)


def _at_least(found: Comparing) -> Found:
    if isinstance(found.argument, list):
        return list_differences(found.argument, found.actual, found.path, found.context, more=True)
    if not isinstance(found.actual, list):
        return found.mismatch(f"is not a list but {json_type(found.actual)}")
    least, of = found.argument["min"], found.argument.get("of", _ANY)
    number = sum(
        next(differences(of, item, found.path, found.context.attempt()), None) is None
        for item in found.actual
    )
    elements = "elements" if of is _ANY else "elements that match"
    return iter(()) if number >= least else found.mismatch(f"has {number} {elements}, not at least {least}")


def _url(found: Comparing) -> Found:
    parts = _parts(found.actual, query_as_object=isinstance(found.argument.get("query"), Mapping | Composite))
    if isinstance(parts, str):
        return found.mismatch(parts)
    # `urlsplit` gives these in lower case, because case means nothing there.
    lower = {name: text.lower() for name in _CASELESS if isinstance(text := found.argument.get(name), str)}
    # A part that is not asked for may be anything, also inside of `!exact`: the URL is one string.
    return differences({**found.argument, **lower}, parts, found.path, found.context._replace(exact=False))


def _capture(found: Comparing) -> Found:
    name, of = _capture_of(found.argument)
    refused = list(differences(of, found.actual, found.path, found.context))
    if refused:
        return iter(refused)
    reason = found.context.captures.refuses(name, found.actual, found.path)
    return found.mismatch(reason) if reason else iter(())


def _capture_of(argument: Any) -> tuple[Any, Any]:
    if not isinstance(argument, Mapping):
        return argument, _ANY
    return argument.get("name"), argument.get("of", _ANY)


def _parts(text: Any, *, query_as_object: bool) -> dict[str, Any] | str:
    """The parts of a URL that are there, or why it is none; scheme and host in lower case.

    `jdbc:` belongs to the scheme: what stands behind it is the URL.
    """
    if not isinstance(text, str):
        return f"is not a string but {json_type(text)}"
    jdbc = "jdbc:" if text.startswith("jdbc:") else ""
    # `urlsplit` takes line ends and the like out of what it is given, and reads the rest.
    if not re.fullmatch(r"[!-~\u00a1-\U0010ffff]+", text):
        return "is not a URL"
    try:
        split = urlsplit(text.removeprefix(jdbc))
        port = split.port
    except ValueError as error:
        return f"is not a URL ({error})"
    if not split.scheme or not (split.netloc or split.path):
        return "is not a URL"
    query: Any = split.query
    if query_as_object:
        values = parse_qs(split.query, keep_blank_values=True)
        query = {name: found[0] if len(found) == 1 else found for name, found in values.items()}
    parts = {
        "scheme": f"{jdbc}{split.scheme}",
        "user": split.username,
        "host": split.hostname,
        "port": port,
        "path": split.path,
        "query": query,
        "fragment": split.fragment,
    }
    return {name: part for name, part in parts.items() if part not in (None, "", {})}


URL_PARTS = ("scheme", "user", "host", "port", "path", "query", "fragment")
"""`query` is compared as an object where one is expected, as the text after `?` where not."""

_CASELESS = ("scheme", "host")
_AT_LEAST_KEYS = ("min", "of")
_CAPTURE_KEYS = ("name", "of")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ANY = matcher("any")
WITH_OF = frozenset({"at_least", "capture"})
"""Matchers that may hold a value under their key `of`, and nothing else of an event beside it."""

_HINTS = {"contains": "; a list that has some elements, and maybe more, is `!at_least [...]`"}


class Row(NamedTuple):
    """One kind of matcher: how it compares, and what it refuses to hold, as ValueError."""

    compare: Callable[[Comparing], Found]
    check: Callable[[Any], None]
    accepts_absence: bool = False


COMPOSITES: dict[str, Row] = {
    "optional": Row(_optional, _one_value, accepts_absence=True),
    "one_of": Row(_one_of, _some_elements("one_of")),
    "exact": Row(_exact, _an_object),
    "unordered": Row(_unordered, _some_elements("unordered")),
    "at_least": Row(_at_least, _elements_or_number),
    "url": Row(_url, _url_parts),
    "capture": Row(_capture, _a_name),
}
"""Name -> matcher. All but `capture` hold values that may themselves have matchers in them."""
