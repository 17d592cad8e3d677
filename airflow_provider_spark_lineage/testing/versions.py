"""The `when:` of expected files: the versions that an expectation is for, and the versions there are.

A version is what the caller gives, else what the events say, else what is installed here. One that nobody
knows is an error: to skip an expectation for it would be a guess.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event

if TYPE_CHECKING:
    from packaging.version import Version

WHEN = "when"
"""The key, at the top of a file or of an event, that says for which versions it is meant."""

DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {
    "airflow": ("apache-airflow-core", "apache-airflow"),
    "openlineage": ("apache-airflow-providers-openlineage",),
}
"""Name in `when:` -> distributions with that version; `openlineage` is Airflow's provider.

Every other name is that of a processing engine, whose distribution has the same name, perhaps behind `py`.
"""

_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*")


@dataclass(frozen=True)
class Condition:
    """One range of `when:`; all ranges of an expectation must hold."""

    name: str
    """`airflow`, `openlineage`, `python`, or a processing engine as its events name it, in lower case."""

    range: str
    """A PEP 440 specifier, for example `>=3.1,<4`."""

    where: str
    """File and key, for messages."""


def read_conditions(value: Any, where: str) -> tuple[Condition, ...]:
    """Return the conditions of the value of `when:`; ValueError says what is wrong with it."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    if not isinstance(value, Mapping) or not value:
        raise ValueError("`when` is not a mapping such as `{airflow: '>=3.1', python: '<3.13'}`")
    cure = "write for example '>=3.1', '==4.1.*' or '>=3.5,<4'"
    for name, text in value.items():
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"`when: {name}` is not a range of versions; {cure}")
        try:
            SpecifierSet(text)
        except InvalidSpecifier:
            raise ValueError(
                f"`when: {name}` has `{text}`, which is not a range of versions; {cure}"
            ) from None
    return tuple(Condition(name, text, where) for name, text in value.items())


class Versions:
    """The versions of one comparison, looked up when a condition asks for them.

    >>> versions = Versions([], {"airflow": "3.1.4"})
    >>> versions.refusal((Condition("airflow", ">=3.2", "dag.yaml"),))
    'airflow 3.1.4 is not >=3.2'
    """

    def __init__(self, events: Iterable[Event], given: Mapping[str, str]) -> None:
        for name, text in given.items():
            if _parsed(text) is None:
                raise BadInputError(f"`{text}`, given for {name}, is not a version such as 4.1 or 4.1.4.")
        self._events = events
        self._given = given

    def refusal(self, conditions: Iterable[Condition]) -> str:
        """Return why an expectation is not for these versions; empty if every condition holds.

        Raises BadInputError if a version is not known, or differs among the events and decides.
        """
        return next(filter(None, map(self._refusal, conditions)), "")

    def _refusal(self, condition: Condition) -> str:
        from packaging.specifiers import SpecifierSet

        name, known = condition.name, sorted(self.known(condition.name))
        if not known:
            raise BadInputError(
                f"{condition.where}: `when` asks for the version of {name}, which no event says and"
                f" which is not installed here; {_cure(name)}."
                f" Versions are known of: {', '.join(self._names)}."
            )
        allowed = SpecifierSet(condition.range)
        refused = [text for text in known if not allowed.contains(_parsed(text) or "", prereleases=True)]
        if refused and len(refused) < len(known):
            raise BadInputError(
                f"{condition.where}: `when` asks for the version of {name}, and the events say"
                f" {' and '.join(known)}; {_cure(name)}."
            )
        return f"{name} {refused[0]} is not {condition.range}" if refused else ""

    def known(self, name: str) -> set[str]:
        """Return the versions that the caller gives, that the events say, or that are installed."""
        if name in self._given:
            return {self._given[name]}
        emitted = {text for text in self._emitted.get(name, ()) if _parsed(text) is not None}
        return emitted or set(_installed(name))

    @property
    def _names(self) -> list[str]:
        return sorted({*DISTRIBUTIONS, "python", *self._given, *self._emitted})

    @cached_property
    def _emitted(self) -> dict[str, set[str]]:
        """What the `processing_engine` facets say: Airflow's of task events, other engines' of their runs."""
        versions: dict[str, set[str]] = {}
        for event in self._events:
            facet = ("run", "facets", "processing_engine")
            engine, version = event.text(*facet, "name").lower(), event.text(*facet, "version")
            if engine and version:
                versions.setdefault(engine, set()).add(version)
            adapter = event.text(*facet, "openlineageAdapterVersion")
            if engine == "airflow" and adapter:
                versions.setdefault("openlineage", set()).add(adapter)
        return versions


def _cure(name: str) -> str:
    return f"say which with `--version {name}=...`, in Python `versions={{'{name}': '...'}}`"


def _parsed(text: str) -> Version | None:
    """Return the version; its release alone where a vendor adds what PEP 440 lacks (`3.5.1-amzn-0`)."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text)
    except InvalidVersion:
        release = _RELEASE.match(text)
        return Version(release[0]) if release else None


def _installed(name: str) -> Iterator[str]:
    if name == "python":
        yield platform.python_version()
    for distribution in DISTRIBUTIONS.get(name, (name, f"py{name}")):
        try:
            yield metadata.version(distribution)
            return
        except metadata.PackageNotFoundError:
            continue
