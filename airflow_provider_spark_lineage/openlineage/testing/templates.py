"""The expected files of Airflow's own system tests: JSON arrays of event templates, with Jinja in strings.

Their meaning differs from our files: one template is for the last event of its key, lists have an order, null
means absent. They are not translated, so that a file means the same here and in Airflow. Jinja2 comes with
the extra `testing` and is imported when the first template is read.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.errors import BadInputError, extra
from airflow_provider_spark_lineage.openlineage.events import EVENT_TYPES, Event
from airflow_provider_spark_lineage.openlineage.testing.keys import parse_key
from airflow_provider_spark_lineage.openlineage.testing.matchers import (
    Matcher,
    json_type,
    make,
    nearest,
    sentence,
)

if TYPE_CHECKING:
    from jinja2 import Environment

SortKey = Callable[[Mapping[str, Any]], Any]


class Count(NamedTuple):
    """Allowed number of events of a key: `"2"`, `"==2"`, `">=2"` or `"<=2"`."""

    text: str
    least: int
    most: float

    @classmethod
    def of(cls, value: str | int) -> Count:
        """Parse a count; the message of ValueError has the format."""
        match = re.fullmatch(r"\s*(==|>=|<=)?\s*([0-9]+)\s*", str(value))
        if not match or isinstance(value, bool):
            raise ValueError(f"`{value}` is not a count; write `2`, `==2`, `>=2` or `<=2`")
        number = int(match[2])
        least, most = 0 if match[1] == "<=" else number, inf if match[1] == ">=" else number
        return cls(str(value).strip(), least, most)


@dataclass(frozen=True)
class Templates:
    """The expectation of one key: one template for the last event, or several for all events in order."""

    key: str

    documents: tuple[Mapping[str, Any], ...]
    """Expected values, with matchers for null, lists and Jinja."""

    count: Count
    source: str

    absent: str = ""
    """Reason why no event of this key may be emitted; empty if events are expected."""

    sort: SortKey | None = None

    def sorted(self, events: list[Event]) -> list[Event]:
        """Return the events in the order of the templates."""
        sort = self.sort
        return sorted(events, key=lambda event: sort(event.document)) if sort else events


def templates_of(
    templates: Mapping[str, Any] | Sequence[Any],
    source: str,
    counts: Mapping[str, str | int],
    sort: SortKey | None,
    helpers: Environment | None,
) -> tuple[Templates, ...]:
    """Return templates from a mapping by key or an array, as the operator of Airflow's tests accepts them."""
    keys = templates if isinstance(templates, Mapping) else _by_key(templates, source)
    if not keys:
        raise BadInputError(f"{source}: expects no events.")
    parsed_templates = []
    for key, value in keys.items():
        documents = value if isinstance(value, list) else [value]
        if not documents or not all(isinstance(document, Mapping) for document in documents):
            raise BadInputError(f"{source}: `{key}` is neither an event template nor a list of them.")
        try:
            parse_key(key)
            reason = _absent_reason(documents)
            # Each of several templates is for one event; a count applies to a single template.
            count = _count_for(key, counts) if len(documents) == 1 and not reason else len(documents)
            parsed = tuple(_parsed(document, helpers) for document in documents)
            parsed_templates.append(Templates(key, parsed, Count.of(count), source, reason, sort))
        except ValueError as error:
            raise BadInputError(f"{source}: `{key}`: {sentence(error)}") from None
    return tuple(parsed_templates)


def _by_key(array: Sequence[Any], source: str) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
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
    return groups


def _absent_reason(documents: list[Any]) -> str:
    """Return the reason why no event may be emitted; empty if one is expected."""
    reasons = [document["$absent"] for document in documents if "$absent" in document]
    if reasons and len(documents) > 1:
        raise ValueError("has `$absent` (no event may be emitted) beside another template")
    if reasons and not (isinstance(reasons[0], str) and reasons[0]):
        raise ValueError("has `$absent` without the reason why no event may be emitted, a string")
    return reasons[0] if reasons else ""


def _count_for(key: str, counts: Mapping[str, str | int]) -> str | int:
    for pattern, count in counts.items():
        try:
            if re.fullmatch(pattern, key):
                return count
        except re.error as error:
            raise ValueError(f"`{pattern}` is not a regular expression ({error})") from None
    return 1


def _parsed(value: Any, helpers: Environment | None) -> Any:
    """Return the value of a file as an expected value, with matchers for null, lists and Jinja."""
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
    """Return the check of a string with `{{`, which must render as `true` or as the actual value.

    >>> _check_of("{{ is_uuid(result) }}", None)("no")
    'does not match the template, which renders "false"'
    """
    with extra("testing"):
        from jinja2 import TemplateError

    try:
        template = _environment(helpers).from_string(text)
    except TemplateError as error:
        raise ValueError(f"not a Jinja template ({error})") from None

    def check(actual: Any) -> str:
        try:
            rendered = template.render(result=actual)
        except Exception as error:  # a template is the user's code, and may raise anything
            return f"does not match the template, which fails ({type(error).__name__}: {error})"
        if rendered.lower() == "true" or rendered == actual:
            return ""
        return f'does not match the template, which renders "{rendered[:100]}"'

    return check


@cache
def _environment(helpers: Environment | None) -> Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined)
    environment.globals.update(GLOBALS)
    environment.filters.update(FILTERS)
    if helpers is not None:
        environment.globals.update(helpers.globals)
        environment.filters.update(helpers.filters)
        environment.tests.update(helpers.tests)
    return environment


def _true_if(read: Callable[[str], Any]) -> Callable[[Any], str]:
    """Return a function that returns `true` if the value can be parsed."""

    def is_readable(result: Any) -> str:
        try:
            read(result)
        except (AttributeError, TypeError, ValueError):
            return "false"
        return "true"

    return is_readable


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


GLOBALS: Mapping[str, Callable[..., Any]] = {
    "any": lambda result: result,
    "env_var": _env_var,
    "is_datetime": _true_if(lambda text: datetime.fromisoformat(text.replace("Z", "+00:00"))),
    "is_uuid": _true_if(uuid.UUID),
    "not_match": _not_match,
    "regex_match": _regex_match,
}
"""Name -> function that a template may call."""

FILTERS: Mapping[str, Callable[..., Any]] = {
    "url_path": lambda url: urlsplit(url).path,
    "url_scheme_authority": _url_scheme_authority,
}
"""Name -> filter besides Jinja's own."""
