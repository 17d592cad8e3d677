"""The expected files of Airflow's own system tests: JSON arrays of event templates, read as they are.

Their meaning is not that of our files: one template stands for the last event of its key, lists have an
order, null means absent. Nothing of it is translated, so that a file means here what it means there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import EVENT_TYPES, Event
from airflow_provider_spark_lineage.testing.differences import ABSENT, Mismatch
from airflow_provider_spark_lineage.testing.jinja import Template
from airflow_provider_spark_lineage.testing.keys import parse_key
from airflow_provider_spark_lineage.testing.matchers import json_type, nearest, sentence
from airflow_provider_spark_lineage.testing.paths import Element
from airflow_provider_spark_lineage.testing.paths import Path as Place

if TYPE_CHECKING:
    from jinja2 import Environment

ABSENT_KEY, OPTIONAL_KEY, VALUE_KEY = WORDS = ("$absent", "$optional", "$value")

SortKey = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Count:
    """How many events of a key there may be: `"2"`, `"==2"`, `">=2"` or `"<=2"`.

    >>> Count.of(">=2").allows(1)
    False
    """

    text: str
    operator: str
    number: int

    @classmethod
    def of(cls, value: str | int) -> Count:
        """ValueError where it is none of these."""
        match = _COUNT.fullmatch(str(value)) if not isinstance(value, bool) else None
        if not match:
            raise ValueError(f"`{value}` is no count; write `2`, `==2`, `>=2` or `<=2`")
        return cls(str(value).strip(), match[1] or "==", int(match[2]))

    @property
    def none(self) -> bool:
        """Whether there must be no event."""
        return self.number == 0 and self.operator != ">="

    def allows(self, number: int) -> bool:
        """Whether there may be so many."""
        return {">=": number >= self.number, "<=": number <= self.number}.get(
            self.operator, number == self.number
        )


_COUNT = re.compile(r"\s*(==|>=|<=)?\s*([0-9]+)\s*")


@dataclass(frozen=True)
class Templates:
    """What is expected with one key: one template for the last event, or several for all of them in order."""

    key: str
    documents: tuple[Mapping[str, Any], ...]
    """As they were read, except that what holds `{{` is a `Template`."""

    count: Count
    source: str

    absent: str = ""
    """Why no event of this key may be emitted; empty where some must."""

    sort: SortKey | None = None

    @property
    def several(self) -> bool:
        """Whether one run may emit more than one event of this key."""
        return self.count.operator != "==" or self.count.number > 1

    def pairs(self, events: Sequence[Event]) -> list[tuple[Mapping[str, Any], Event]]:
        """Each template with its event; those left over on either side are a matter of `count`."""
        if self.sort:
            sort = self.sort
            try:
                events = sorted(events, key=lambda event: sort(event.document))
            except Exception as error:
                # Somebody else's function, which may fail in any way; that is no fault of ours.
                raise BadInputError(
                    f"{self.source}: the events of `{self.key}` cannot be sorted, as the function that is"
                    f" given for that fails: {type(error).__name__}: {error}."
                ) from error
        return list(zip(self.documents, events[-1:] if len(self.documents) == 1 else events, strict=False))


def read_array(path: Path) -> list[Any] | None:
    """The array in a JSON file; None where the file holds something else, which is not judged here."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    if path.suffix != ".json" or not text.lstrip().startswith("["):
        return None

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise BadInputError(f"{path}: the key `{key}` is written twice.")
            found[key] = value
        return found

    try:
        array: list[Any] = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path}, line {error.lineno}: not JSON ({error.msg}).") from None
    except RecursionError:
        raise BadInputError(f"{path}: nested too deeply.") from None
    return array


def by_key(array: Sequence[Any], source: str) -> dict[str, Any]:
    """The templates of an array as a mapping of key to one template, a list of them, or why there is none."""
    found: dict[str, Any] = {}
    if not array:
        raise BadInputError(f"{source}: expects no event at all.")
    for number, document in enumerate(array, 1):
        where = f"{source}, event {number}"
        if not isinstance(document, Mapping):
            raise BadInputError(f"{where}: not a JSON object but {json_type(document)}.")
        job = document.get("job")
        name, kind = job.get("name") if isinstance(job, Mapping) else None, document.get("eventType")
        if not isinstance(name, str) or not isinstance(kind, str):
            raise BadInputError(f"{where}: it needs `job.name` and `eventType`, which make its key.")
        if kind.lower() not in EVENT_TYPES:
            raise BadInputError(f"{where}: `{kind}` is no event type; {nearest(kind, EVENT_TYPES)}")
        key = f"{name}.event.{kind.lower()}"
        if isinstance(found.get(key), list):
            found[key].append(document)
        else:
            found[key] = [found[key], document] if key in found else document
    return found


@dataclass(frozen=True)
class TemplateOptions:
    """What the reference's operator is told besides its templates."""

    counts: Mapping[str, str | int] = field(default_factory=dict)
    """Regular expressions over whole keys; the first that fits says how many events there may be."""

    sort: SortKey | None = None

    helpers: Environment | None = None
    """Has globals, filters and tests that templates may use besides the helpers of `jinja`."""


def templates_of(
    keys: Mapping[str, Any], source: str, options: TemplateOptions | None = None
) -> tuple[Templates, ...]:
    """Templates by key, as the reference's operator takes them; BadInputError names what is wrong."""
    given = options or TemplateOptions()
    return tuple(_templates(key, value, source, given) for key, value in keys.items())


def _templates(key: str, value: Any, source: str, options: TemplateOptions) -> Templates:
    where = f"{source}: `{key}`"
    try:
        parse_key(key)
    except ValueError as error:
        raise BadInputError(f"{source}: the key {sentence(error)}") from None
    documents = value if isinstance(value, list) else [value]
    if not documents or not all(isinstance(document, Mapping) for document in documents):
        raise BadInputError(f"{where} is neither an event template nor a list of them.")
    reasons = [_reason(one, where) for one in documents if ABSENT_KEY in one]
    if reasons and len(documents) > 1:
        raise BadInputError(
            f"{where} has `{ABSENT_KEY}`, so that no event may be emitted, beside another template."
        )
    try:
        if reasons:
            return Templates(key, (), Count.of(0), source, absent=reasons[0])
        # Each of several templates stands for an event; counts are for one that stands for all.
        count = Count.of(_count_for(key, options.counts) if len(documents) == 1 else len(documents))
        read = tuple(_read(one, options.helpers) for one in documents)
        return Templates(key, read, count, source, sort=options.sort)
    except ValueError as error:
        raise BadInputError(f"{where}: {sentence(error)}") from None


def _reason(document: Mapping[str, Any], where: str) -> str:
    """Why the event of this template must be absent."""
    reason = document[ABSENT_KEY]
    if not isinstance(reason, str):
        raise BadInputError(
            f"{where} has {json_type(reason)} as `{ABSENT_KEY}`; it takes the reason why no event may be"
            ' emitted, for example "it is skipped".'
        )
    return reason or "no reason is given"


def _count_for(key: str, counts: Mapping[str, str | int]) -> str | int:
    for pattern, count in counts.items():
        try:
            if re.fullmatch(pattern, key):
                return count
        except re.error as error:
            raise ValueError(f"`{pattern}` is no regular expression ({error})") from None
    return 1


def _read(value: Any, helpers: Environment | None) -> Any:
    if isinstance(value, Mapping):
        for key in value:
            if key.startswith("$") and key not in WORDS and get_close_matches(key, WORDS, cutoff=0.7):
                raise ValueError(f"unknown word `{key}`; {nearest(key, WORDS)}")
        if ABSENT_KEY in value:
            raise ValueError(f"has `{ABSENT_KEY}` inside of an event; a key that must be absent is null")
        if not isinstance(value.get(OPTIONAL_KEY, ""), str):
            raise ValueError(
                f"has {json_type(value[OPTIONAL_KEY])} as `{OPTIONAL_KEY}`; it takes the reason why the key"
                f' may be absent, beside `{VALUE_KEY}`: {{"{OPTIONAL_KEY}": "since 3.0", "{VALUE_KEY}": 5}}'
            )
        return {key: _read(item, helpers) for key, item in value.items()}
    if isinstance(value, list):
        return [_read(item, helpers) for item in value]
    return Template(value, helpers) if isinstance(value, str) and "{{" in value else value


def mismatches(expected: Any, actual: Any, path: Place = ()) -> Iterator[Mismatch]:
    """Every place where the actual value is not what a template wants."""
    if isinstance(expected, Mapping):
        yield from _in_object(expected, actual, path)
    elif isinstance(expected, list):
        yield from _in_list(expected, actual, path)
    elif isinstance(expected, Template):
        reason = expected.refuses(actual)
        if reason:
            yield Mismatch(path, expected.text, actual, reason)
    elif expected != actual or isinstance(expected, bool) != isinstance(actual, bool):
        # True == 1 in Python; in JSON they are a boolean and a number.
        yield Mismatch(path, expected, actual, "has another value")


def _in_object(expected: Mapping[str, Any], actual: Any, path: Place) -> Iterator[Mismatch]:
    if not isinstance(actual, Mapping):
        yield Mismatch(path, plain(expected), actual, f"is not an object but {json_type(actual)}")
        return
    for key, value in expected.items():
        here = (*path, key)
        if value is None:
            if key in actual:
                yield Mismatch(here, None, actual[key], "must be absent")
            continue
        wanted = value
        if isinstance(value, Mapping) and isinstance(value.get(OPTIONAL_KEY), str):
            if actual.get(key, []) == []:
                continue
            rest = {name: item for name, item in value.items() if name != OPTIONAL_KEY}
            wanted = value.get(VALUE_KEY, rest)
        if key in actual:
            yield from mismatches(wanted, actual[key], here)
        else:
            yield Mismatch(here, plain(wanted), ABSENT, "is absent")


def _in_list(expected: list[Any], actual: Any, path: Place) -> Iterator[Mismatch]:
    if not isinstance(actual, list):
        yield Mismatch(path, plain(expected), actual, f"is not a list but {json_type(actual)}")
    elif len(expected) != len(actual):
        yield Mismatch(path, plain(expected), actual, f"has {len(actual)} elements, not {len(expected)}")
    else:
        for position, (wanted, found) in enumerate(zip(expected, actual, strict=True)):
            yield from mismatches(wanted, found, (*path, Element(position)))


def plain(value: Any) -> Any:
    """The value as it stood in the file."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.text if isinstance(value, Template) else value
