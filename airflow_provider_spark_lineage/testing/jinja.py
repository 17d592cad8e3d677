"""The Jinja templates of Airflow's own expected files: their helpers, in a sandbox that cannot run away.

A template gets the actual value as `result`; it accepts what it renders as `true`, or as the value itself.
Jinja2 comes with the extra `testing` and is imported when the first template is read.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.testing.matchers import nearest

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.sandbox import SandboxedEnvironment

SECONDS = 2.0
"""CPU time that one template may take; a good one takes microseconds."""

LONGEST = 1_000_000
"""Elements or digits that `*` and `**` may make."""

RESULT = "result"


class Template:
    """One string with `{{`, read once and asked about many values.

    >>> Template("{{ is_uuid(result) }}").refuses("no")
    'is not what the template wants, it renders "false"'
    """

    def __init__(self, text: str, helpers: Environment | None = None) -> None:
        """`helpers` has more globals, filters and tests; ValueError says why this cannot be a template."""
        self.text = text
        self._render = _compiled(text, helpers)

    def __str__(self) -> str:
        return self.text

    def refuses(self, actual: Any) -> str:
        """Why this value is not accepted; empty where it is."""
        try:
            with _deadline():
                rendered = self._render(**{RESULT: actual})
        except _Overtime:
            return f"could not be judged: the template ran for {SECONDS:g} seconds"
        except Exception as error:
            # A template is code of the user's; whatever it raises is its answer.
            return f"is not what the template wants, it fails ({type(error).__name__}: {error})"
        if rendered.lower() == "true" or rendered == actual:
            return ""
        return f'is not what the template wants, it renders "{rendered[:100]}"'


def is_datetime(result: Any) -> str:
    """Whether it is a date, alone or with a time, as ISO 8601 writes it."""
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


def is_uuid(result: Any) -> str:
    """Whether it is the text of a UUID."""
    try:
        uuid.UUID(result)
    except (AttributeError, TypeError, ValueError):
        return "false"
    return "true"


def regex_match(result: Any, pattern: str) -> str:
    """Whether the pattern fits at the start of the text; where it ends is the pattern's business."""
    try:
        return "true" if isinstance(result, str) and re.match(pattern, result) else "false"
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from None


def env_var(name: str, default: str | None = None) -> str:
    """What an environment variable says."""
    value = os.environ.get(name, default)
    if value is None:
        raise ValueError(f"the environment variable {name} is not set and has no default")
    return value


def not_match(result: str, text: str) -> str:
    """`true`, unless the text is found in the value."""
    if text in result:
        raise ValueError(f"`{text}` is in it")
    return "true"


def url_scheme_authority(url: str) -> str:
    """`s3://bucket` of `s3://bucket/key`."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def url_path(url: str) -> str:
    """`/key` of `s3://bucket/key`."""
    return urlsplit(url).path


GLOBALS: Mapping[str, Callable[..., Any]] = {
    "any": lambda result: result,
    "env_var": env_var,
    "is_datetime": is_datetime,
    "is_uuid": is_uuid,
    "not_match": not_match,
    "regex_match": regex_match,
}
"""Name -> helper that a template may call."""

FILTERS: Mapping[str, Callable[..., Any]] = {
    "url_path": url_path,
    "url_scheme_authority": url_scheme_authority,
}
"""Name -> filter besides Jinja's own."""


@cache
def _environment(helpers: Environment | None) -> SandboxedEnvironment:
    try:
        from jinja2.exceptions import SecurityError
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError as error:
        raise ValueError(
            f"{error}; run `pip install 'airflow-provider-spark-lineage[testing]'`, which brings Jinja2"
        ) from None

    class Sandbox(ImmutableSandboxedEnvironment):
        """Refuses what would fill the memory before a deadline could pass."""

        intercepted_binops = frozenset({"*", "**"})

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if _product_size(operator, left, right) > LONGEST:
                raise SecurityError(f"`{operator}` would make more than {LONGEST} elements")
            return super().call_binop(context, operator, left, right)

    environment = Sandbox()
    environment.globals.update(GLOBALS)
    environment.filters.update(FILTERS)
    if helpers is not None:
        environment.globals.update(helpers.globals)
        environment.filters.update(helpers.filters)
        environment.tests.update(helpers.tests)
    del environment.globals["lipsum"]  # makes as much text as it is asked for
    return environment


def _product_size(operator: str, left: Any, right: Any) -> float:
    if operator == "**":
        return right if isinstance(right, int) and left not in (0, 1) else 0
    if not isinstance(left, int | float):
        left, right = right, left
    long = right if isinstance(right, str | list | tuple) else ()
    return len(long) * left if isinstance(left, int) else 0


@cache
def _compiled(text: str, helpers: Environment | None) -> Callable[..., str]:
    environment = _environment(helpers)
    from jinja2 import TemplateError, meta, nodes

    try:
        tree = environment.parse(text)
        unknown = meta.find_undeclared_variables(tree) - {RESULT} - environment.globals.keys()
        if unknown:
            name = min(unknown)
            raise ValueError(f"unknown name `{name}`; {nearest(name, (RESULT, *environment.globals))}")
        # Expressions walk over what is there; a loop can walk for ever.
        if next(tree.find_all((nodes.For, nodes.Macro, nodes.CallBlock)), None):
            raise ValueError("loops and macros are not used in expected files")
        return environment.from_string(text).render
    except TemplateError as error:
        raise ValueError(f"not a Jinja template ({error})") from None


class _Overtime(Exception):  # noqa: N818 - never seen outside
    """A template took more than its time."""


@contextmanager
def _deadline() -> Iterator[None]:
    """Ends what runs for too long, which only the main thread can; the alarm is of a kind nobody else uses.

    Regular expressions are the likely case: Python asks for signals while it searches.
    """
    usable = hasattr(signal, "SIGVTALRM") and threading.current_thread() is threading.main_thread()
    if not usable:
        yield
        return

    def end(*_: Any) -> None:
        raise _Overtime

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
