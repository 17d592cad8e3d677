"""Keys of expected events, with the map index and try of a task, and the versions in `when`.

A key names events; its address (`[<map_index>]`, `#<try>`) selects among them. Ids may contain dots, so a job
name is never split: the airflow run facet of an event names its task.

A version comes from the caller, else from the events, else from the installed package. An unknown version is
an error: to skip an expectation because of it would be a guess.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import metadata
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events import EVENT_TYPES, Event, Events
from airflow_provider_spark_lineage.openlineage.testing.matchers import nearest

_KEY = re.compile(
    r"(?P<subject>.+?)(\[(?P<map_index>0|[1-9][0-9]*)\])?(#(?P<try>[1-9][0-9]*))?\.event\.(?P<type>[^.]+)"
)


@dataclass(frozen=True)
class ExpectedKey:
    """A key in its parts.

    >>> parse_key("my.dag.group.task[3]#2.event.complete")
    ExpectedKey(subject='my.dag.group.task', type='complete', map_index=3, try_number=2)
    """

    subject: str
    """`<dag_id>.<task_id>`, `<dag_id>` or the name of a job."""

    type: str

    map_index: int | None = None
    """Select this instance of a mapped task; None for all instances."""

    try_number: int | None = None
    """Select this try; None for all tries."""

    def __str__(self) -> str:
        index = "" if self.map_index is None else f"[{self.map_index}]"
        attempt = "" if self.try_number is None else f"#{self.try_number}"
        return f"{self.subject}{index}{attempt}.event.{self.type}"

    @property
    def plain(self) -> str:
        """The key without its address, as an event has it."""
        return f"{self.subject}.event.{self.type}"


@lru_cache(maxsize=4096)
def parse_key(text: str) -> ExpectedKey:
    """Return the parts of a key; the message of ValueError completes the sentence "the key ..."."""
    match = _KEY.fullmatch(text)
    if not match:
        raise ValueError(f"`{text}` is not `<dag_id>.<task_id>.event.<type>`")
    if match["type"] not in EVENT_TYPES:
        raise ValueError(f"`{text}` does not end in an event type; {nearest(match['type'], EVENT_TYPES)}")
    map_index, attempt = (None if text is None else int(text) for text in (match["map_index"], match["try"]))
    return ExpectedKey(match["subject"], match["type"], map_index, attempt)


def key_order(key: str) -> tuple[str, int, int, str]:
    """Return the sort key of a key: alphabetical, but instances and tries by number."""
    parsed = parse_key(key)
    index = -1 if parsed.map_index is None else parsed.map_index
    return f"{parsed.subject}.event.", index, parsed.try_number or 0, parsed.type


def full_key(event: Event, events: Events) -> ExpectedKey:
    """Return the event's key with its full address; a child run has the address of its parent run."""
    return ExpectedKey(event.subject, event.type, *events.instance_of(event))


WHEN = "when"
"""Key at the top of a file or event with the versions that it applies to."""

DISTRIBUTIONS: Mapping[str, str] = {
    "airflow": "apache-airflow-core",
    "openlineage": "apache-airflow-providers-openlineage",
}
"""Name in `when:` -> distribution with that version; `openlineage` is Airflow's provider.

The distribution of a processing engine has the name of the engine, perhaps after `py`.
"""

_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*")


@dataclass(frozen=True)
class Condition:
    """One range of `when:`; all ranges of an expectation must hold."""

    name: str
    """`airflow`, `openlineage`, `python`, or a processing engine by its name in events, in lower case."""

    range: str
    """A PEP 440 specifier, for example `>=3.1,<4`."""

    where: str
    """File and key, for messages."""


def read_conditions(document: Mapping[str, Any], where: str) -> tuple[Condition, ...]:
    """Return the conditions in the `when` of a file or an event; BadInputError names the mistake."""
    if WHEN not in document:
        return ()
    value = document[WHEN]
    if not isinstance(value, Mapping) or not value:
        raise BadInputError(f"{where}: `when` is not a mapping such as {{airflow: '>=3.1'}}.")
    for name, text in value.items():
        try:
            is_range = isinstance(text, str) and text.strip() and SpecifierSet(text)
        except InvalidSpecifier:
            is_range = False
        if not is_range:
            raise BadInputError(
                f"{where}: `when: {name}` has `{text}`, which is not a range of versions; write for example"
                " '>=3.1', '==4.1.*' or '>=3.5,<4'."
            )
    return tuple(Condition(name, text, where) for name, text in value.items())


class Versions:
    """The versions of one comparison, looked up when a condition needs them.

    >>> versions = Versions([], {"airflow": "3.1.4"})
    >>> versions.refusal((Condition("airflow", ">=3.2", "dag.yaml"),))
    'airflow 3.1.4 is not >=3.2'
    """

    def __init__(self, events: Iterable[Event], given: Mapping[str, str]) -> None:
        for name, text in given.items():
            if _parsed(text) is None:
                raise BadInputError(f"`{text}`, given for {name}, is not a version such as 4.1 or 4.1.4.")
        self._events = events
        self._given = {"python": platform.python_version(), **given}

    def refusal(self, conditions: Iterable[Condition]) -> str:
        """Return the reason why an expectation is not for these versions; empty if every condition holds.

        Raises BadInputError if a version is unknown, or if events disagree and the result depends on it.
        """
        return next(filter(None, map(self._refusal, conditions)), "")

    def _refusal(self, condition: Condition) -> str:
        name, known = condition.name, sorted(self._known(condition.name))
        allowed = SpecifierSet(condition.range)
        refused = [text for text in known if not allowed.contains(_parsed(text) or "", prereleases=True)]
        if not known or 0 < len(refused) < len(known):
            problem = f"the events have {' and '.join(known)}" if known else "it is unknown"
            raise BadInputError(
                f"{condition.where}: `when` needs the version of {name}, but {problem}; give it with"
                f" `--version {name}=...`, in Python `versions={{'{name}': '...'}}`."
            )
        return f"{name} {refused[0]} is not {condition.range}" if refused else ""

    def _known(self, name: str) -> set[str]:
        """Return the versions given by the caller, in the events, or installed."""
        if name in self._given:
            return {self._given[name]}
        emitted = {text for text in self._emitted.get(name, ()) if _parsed(text) is not None}
        return emitted or _installed(name)

    @cached_property
    def _emitted(self) -> dict[str, set[str]]:
        """Versions in `processing_engine` facets: Airflow's in task events, other engines' in their runs."""
        versions: dict[str, set[str]] = {}
        for event in self._events:
            facet = ("run", "facets", "processing_engine")
            engine = event.text(*facet, "name").lower()
            versions.setdefault(engine, set()).add(event.text(*facet, "version"))
            if engine == "airflow":
                adapter = event.text(*facet, "openlineageAdapterVersion")
                versions.setdefault("openlineage", set()).add(adapter)
        return versions


def _parsed(text: str) -> Version | None:
    """Return the version; only its release if a vendor's suffix is not PEP 440 (`3.5.1-amzn-0`)."""
    try:
        return Version(text)
    except InvalidVersion:
        release = _RELEASE.match(text)
        return Version(release[0]) if release else None


def _installed(name: str) -> set[str]:
    for distribution in (DISTRIBUTIONS.get(name, name), f"py{name}"):
        with suppress(metadata.PackageNotFoundError):
            return {metadata.version(distribution)}
    return set()
