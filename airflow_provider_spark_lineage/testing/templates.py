"""The expected files of Airflow's own system tests: JSON arrays of event templates, with Jinja in strings.

Their meaning is not that of our files: one template is for the last event of its key, lists have an order,
null means absent. They are not translated, so that a file means the same here and there. Jinja2 comes with
the extra `testing` and is imported when the first template is read.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import EVENT_TYPES, Event
from airflow_provider_spark_lineage.testing.keys import parse_key
from airflow_provider_spark_lineage.testing.matchers import Matcher, json_type, make, nearest, sentence

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2 import Template as Compiled

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
        """Read a count; ValueError says what one looks like."""
        match = re.fullmatch(r"\s*(==|>=|<=)?\s*([0-9]+)\s*", str(value))
        if not match or isinstance(value, bool):
            raise ValueError(f"`{value}` is not a count; write `2`, `==2`, `>=2` or `<=2`")
        return cls(str(value).strip(), match[1] or "==", int(match[2]))

    @property
    def is_none(self) -> bool:
        """Whether there must be no event."""
        return self.number == 0 and self.operator != ">="

    def allows(self, number: int) -> bool:
        """Return whether there may be so many."""
        bounds = {">=": number >= self.number, "<=": number <= self.number}
        return bounds.get(self.operator, number == self.number)


@dataclass(frozen=True)
class Templates:
    """The expectation of one key: one template for the last event, or several for all events in order."""

    key: str

    documents: tuple[Mapping[str, Any], ...]
    """Expected values, with matchers for what is special about templates."""

    count: Count
    source: str

    absent: str = ""
    """Why no event of this key may be emitted; empty if there must be some."""

    sort: SortKey | None = None

    @property
    def allows_several(self) -> bool:
        """Whether one run may emit more than one event of this key."""
        return self.count.operator != "==" or self.count.number > 1

    def pairs(self, events: Sequence[Event]) -> list[tuple[Mapping[str, Any], Event]]:
        """Return each template with its event; whether there are too few or too many, `count` says."""
        sort = self.sort
        if sort:
            try:
                events = sorted(events, key=lambda event: sort(event.document))
            except Exception as error:  # the caller's function may raise anything
                raise BadInputError(
                    f"{self.source}: the events of `{self.key}` cannot be sorted: the sort function"
                    f" fails with {type(error).__name__}: {error}."
                ) from error
        return list(zip(self.documents, events[-1:] if len(self.documents) == 1 else events, strict=False))


@dataclass(frozen=True)
class TemplateOptions:
    """What the operator of Airflow's system tests is given besides its templates."""

    counts: Mapping[str, str | int] = field(default_factory=dict)
    """Regular expressions that cover a key -> number of events; the first that fits applies."""

    sort: SortKey | None = None

    helpers: Environment | None = None
    """Has globals, filters and tests that templates may use besides ours."""


def read_array(path: Path) -> list[Any] | None:
    """Return the array in a JSON file; None if the file holds something else or cannot be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    if path.suffix != ".json" or not text.lstrip().startswith("["):
        return None

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise BadInputError(f"{path}: the key `{twice}` is written twice.")
        return dict(pairs)

    try:
        array: list[Any] = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path}, line {error.lineno}: not JSON ({error.msg}).") from None
    except RecursionError:
        raise BadInputError(f"{path}: nested too deeply.") from None
    return array


def by_key(array: Sequence[Any], source: str) -> dict[str, Any]:
    """Return the templates of an array by key: one template, or a list of them."""
    groups: dict[str, list[Any]] = {}
    if not array:
        raise BadInputError(f"{source}: expects no event at all.")
    for number, document in enumerate(array, 1):
        where = f"{source}, event {number}"
        if not isinstance(document, Mapping):
            raise BadInputError(f"{where}: not a JSON object but {json_type(document)}.")
        event = Event(document)
        kind = event.text("eventType")
        if not event.text("job", "name") or not kind:
            raise BadInputError(f"{where}: it needs `job.name` and `eventType`, which make its key.")
        if kind.lower() not in EVENT_TYPES:
            raise BadInputError(f"{where}: `{kind}` is not an event type; {nearest(kind, EVENT_TYPES)}")
        groups.setdefault(f"{event.text('job', 'name')}.event.{kind.lower()}", []).append(document)
    return {key: group[0] if len(group) == 1 else group for key, group in groups.items()}


def templates_of(
    keys: Mapping[str, Any], source: str, options: TemplateOptions | None = None
) -> tuple[Templates, ...]:
    """Return templates by key, as the operator of Airflow's system tests takes them."""
    return tuple(_templates(key, value, source, options or TemplateOptions()) for key, value in keys.items())


def _templates(key: str, value: Any, source: str, options: TemplateOptions) -> Templates:
    where = f"{source}: `{key}`"
    try:
        parse_key(key)
    except ValueError as error:
        raise BadInputError(f"{source}: the key {sentence(error)}") from None
    documents = value if isinstance(value, list) else [value]
    if not documents or not all(isinstance(document, Mapping) for document in documents):
        raise BadInputError(f"{where} is neither an event template nor a list of them.")
    try:
        absent = [document["$absent"] for document in documents if "$absent" in document]
        if absent:
            return Templates(key, (), Count.of(0), source, absent=_absent_reason(absent, documents))
        # Each of several templates is for one event; a count is for a template that is for all events.
        count = Count.of(_count_for(key, options.counts) if len(documents) == 1 else len(documents))
        parsed = tuple(_parsed(document, options.helpers) for document in documents)
        return Templates(key, parsed, count, source, sort=options.sort)
    except ValueError as error:
        raise BadInputError(f"{where}: {sentence(error)}") from None


def _absent_reason(reasons: list[Any], documents: list[Any]) -> str:
    if len(documents) > 1:
        raise ValueError("has `$absent`, so that no event may be emitted, beside another template")
    if not isinstance(reasons[0], str):
        raise ValueError(
            f"has {json_type(reasons[0])} as `$absent`; it takes the reason why no event may be emitted, for"
            ' example "it is skipped"'
        )
    return reasons[0] or "no reason is given"


def _count_for(key: str, counts: Mapping[str, str | int]) -> str | int:
    for pattern, count in counts.items():
        try:
            if re.fullmatch(pattern, key):
                return count
        except re.error as error:
            raise ValueError(f"`{pattern}` is not a regular expression ({error})") from None
    return 1


def _parsed(value: Any, helpers: Environment | None) -> Any:
    """Return the value of a file as an expected value: what is special about templates becomes matchers."""
    if isinstance(value, Mapping):
        if isinstance(value.get("$optional"), str):
            rest = {key: item for key, item in value.items() if key != "$optional"}
            return Matcher("optional", Matcher("unless_empty", _parsed(value.get("$value", rest), helpers)))
        return {
            key: make("absent") if item is None else _parsed(item, helpers) for key, item in value.items()
        }
    if isinstance(value, list):
        return Matcher("in_order", [_parsed(item, helpers) for item in value])
    if isinstance(value, str) and "{{" in value:
        return Matcher("template", value, _check_of(value, helpers))
    return value


def _check_of(text: str, helpers: Environment | None) -> Callable[[Any], str]:
    """Return the check of a string with `{{`: it accepts what it renders as `true`, or as the actual value.

    >>> _check_of("{{ is_uuid(result) }}", None)("no")
    'is not what the template wants, it renders "false"'
    """
    template = _compiled(text, helpers)

    def check(actual: Any) -> str:
        try:
            rendered = template.render(result=actual)
        except Exception as error:  # a template is the user's code, and may raise anything
            return f"is not what the template wants, it fails ({type(error).__name__}: {error})"
        if rendered.lower() == "true" or rendered == actual:
            return ""
        return f'is not what the template wants, it renders "{rendered[:100]}"'

    return check


def _is_datetime(result: Any) -> str:
    """Accept a date, alone or with a time, as ISO 8601 writes it."""
    match = _DATETIME.fullmatch(result) if isinstance(result, str) else None
    if not match:
        return "false"
    try:
        datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00'}")
    except ValueError:
        return "false"
    return "true"


_DATETIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(?:(?<=:[0-9]{2}:[0-9]{2})\.[0-9]+)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


def _is_uuid(result: Any) -> str:
    try:
        uuid.UUID(result)
    except (AttributeError, TypeError, ValueError):
        return "false"
    return "true"


def _regex_match(result: Any, pattern: str) -> str:
    return "true" if isinstance(result, str) and re.match(pattern, result) else "false"


def _env_var(name: str, default: str | None = None) -> str:
    value = os.environ.get(name, default)
    if value is None:
        raise ValueError(f"the environment variable {name} is not set and has no default")
    return value


def _not_match(result: str, text: str) -> str:
    if text in result:
        raise ValueError(f"`{text}` is in it")
    return "true"


def _url_scheme_authority(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _url_path(url: str) -> str:
    return urlsplit(url).path


GLOBALS: Mapping[str, Callable[..., Any]] = {
    "any": lambda result: result,
    "env_var": _env_var,
    "is_datetime": _is_datetime,
    "is_uuid": _is_uuid,
    "not_match": _not_match,
    "regex_match": _regex_match,
}
"""Name -> function that a template may call."""

FILTERS: Mapping[str, Callable[..., Any]] = {
    "url_path": _url_path,
    "url_scheme_authority": _url_scheme_authority,
}
"""Name -> filter besides Jinja's own."""


@cache
def _environment(helpers: Environment | None) -> Environment:
    try:
        from jinja2.sandbox import SandboxedEnvironment
    except ImportError as error:
        raise ValueError(
            f"{error}; run `pip install 'airflow-provider-spark-lineage[testing]'`, which brings Jinja2"
        ) from None
    environment = SandboxedEnvironment()
    environment.globals.update(GLOBALS)
    environment.filters.update(FILTERS)
    if helpers is not None:
        environment.globals.update(helpers.globals)
        environment.filters.update(helpers.filters)
        environment.tests.update(helpers.tests)
    return environment


@cache
def _compiled(text: str, helpers: Environment | None) -> Compiled:
    environment = _environment(helpers)
    from jinja2 import TemplateError, meta

    try:
        unknown = meta.find_undeclared_variables(environment.parse(text)) - environment.globals.keys()
        if unknown - {"result"}:
            name = min(unknown - {"result"})
            raise ValueError(f"unknown name `{name}`; {nearest(name, ('result', *environment.globals))}")
        return environment.from_string(text)
    except TemplateError as error:
        raise ValueError(f"not a Jinja template ({error})") from None
