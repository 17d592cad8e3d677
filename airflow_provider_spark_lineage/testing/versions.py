"""The `when:` of expected files: for which versions an expectation is meant, and which versions there are.

A version is what the caller says, else what the events say, else what is installed here; one that nobody
knows is an error, because skipping an expectation for it would be a guess.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event
from airflow_provider_spark_lineage.testing.matchers import nearest

if TYPE_CHECKING:
    from packaging.version import Version

DISTRIBUTIONS: Mapping[str, tuple[str, ...]] = {
    "airflow": ("apache-airflow-core", "apache-airflow"),
    "openlineage": ("apache-airflow-providers-openlineage",),
    "spark": ("pyspark", "pyspark-client"),
    "python": (),
}
"""What a condition asks about -> the distributions that have its version; `openlineage` is the provider."""

_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*")

_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
"""What is true of no version that the other is true of."""

_TIGHTEST: Mapping[str, Callable[..., str]] = {"<": min, "<=": min, ">": max, ">=": max}
"""Of several bounds of one kind, the one that says what all of them say."""


@dataclass(frozen=True)
class Condition:
    """One range of `when:`; every one of an expectation must hold."""

    name: str
    """A key of `DISTRIBUTIONS`."""

    text: str
    """A PEP 440 specifier, for example `>=3.1,<4`."""

    where: str
    """The file and key that say so, for a message."""


def read_conditions(value: Any, where: str) -> tuple[Condition, ...]:
    """The conditions that `when:` has as value, for `where`; ValueError says what is wrong with them."""
    if not isinstance(value, Mapping) or not value:
        raise ValueError("`when` is no mapping such as `{airflow: '>=3.1', spark: '<4.2'}`")
    for name, text in value.items():
        if name not in DISTRIBUTIONS:
            raise ValueError(f"`when` has the key `{name}`; {nearest(name, DISTRIBUTIONS)}")
        _check_range(text, f"`when: {name}`")
    return tuple(Condition(name, text, where) for name, text in value.items())


def _check_range(text: Any, where: str) -> None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    cure = "write for example '>=3.1', '==4.1.*' or '>=3.5,<4'"
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{where} is not a range of versions; {cure}")
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError(f"{where} has `{text}`, which is not a range of versions; {cure}") from None


class Versions:
    """The versions of one comparison, found out when a condition asks for them.

    >>> versions = Versions([], {"spark": "4.1.4"})
    >>> versions.refusal((Condition("spark", "<4", "dag.yaml"),))
    'spark 4.1.4 is not <4'
    """

    def __init__(self, events: Iterable[Event], given: Mapping[str, str]) -> None:
        for name, text in given.items():
            if name not in DISTRIBUTIONS:
                raise BadInputError(f"A version was given for `{name}`; {nearest(name, DISTRIBUTIONS)}")
            if _parsed(text) is None:
                raise BadInputError(f"`{text}`, given for {name}, is not a version such as 4.1 or 4.1.4.")
        self._events = events
        self._given = given
        self._said: dict[str, set[str]] | None = None

    def refusal(self, conditions: Iterable[Condition]) -> str:
        """Why an expectation is not for these versions; empty where every condition holds.

        Raises BadInputError where a version is not known, or differs among the events and decides.
        """
        return next(filter(None, map(self._refusal, conditions)), "")

    def _refusal(self, condition: Condition) -> str:
        from packaging.specifiers import SpecifierSet

        name, known = condition.name, sorted(self._known(condition.name))
        if not known:
            raise BadInputError(
                f"{condition.where}: `when` asks for the version of {name}, which no event says and"
                f" which is not installed here; {_cure(name)}."
            )
        allowed = SpecifierSet(condition.text)
        refused = [text for text in known if not allowed.contains(_parsed(text) or "", prereleases=True)]
        if refused and len(refused) < len(known):
            raise BadInputError(
                f"{condition.where}: `when` asks for the version of {name}, and the events say"
                f" {' and '.join(known)}; {_cure(name)}."
            )
        return f"{name} {refused[0]} is not {condition.text}" if refused else ""

    def apart_from(self, refused: Iterable[Iterable[Condition]]) -> dict[str, str]:
        """What `when:` says of these versions, and of no version that any of the refused expectations is for.

        PEP 440 has no "or", so the opposite of a range with two ends cannot be written; that of the end
        which is not met here can, and says nothing of versions beyond the other end, which nobody has seen.

        >>> versions = Versions([], {"spark": "4.1.4"})
        >>> versions.apart_from([[Condition("spark", ">=3.5,<4", "dag.yaml")]])
        {'spark': '>=4'}
        """
        found: dict[str, dict[tuple[str, str], None]] = {}
        for conditions in refused:
            condition = next(filter(self._refusal, conditions))
            found.setdefault(condition.name, {})[self._opposite(condition)] = None
        return {name: ",".join(_tightest(clauses)) for name, clauses in found.items()}

    def _opposite(self, condition: Condition) -> tuple[str, str]:
        """Operator and version of a clause that holds here, and never where the condition does."""
        from packaging.specifiers import SpecifierSet

        known = [_parsed(text) or "" for text in sorted(self._known(condition.name))]
        for operator, version in _clauses(condition.text):
            opposite = _OPPOSITE.get(operator, "")
            # A release candidate is neither below its release nor at least that.
            if opposite and all(
                SpecifierSet(f"{opposite}{version}").contains(one, prereleases=True) for one in known
            ):
                return opposite, version
        if len(known) == 1:
            return "==", str(known[0])
        raise BadInputError(
            f"{condition.where}: not meant for {condition.name} {' and '.join(map(str, known))}, and no one"
            f" condition tells both from it; {_cure(condition.name)}."
        )

    def _known(self, name: str) -> set[str]:
        if name in self._given:
            return {self._given[name]}
        if self._said is None:
            self._said = _said_by(self._events)
        said = {text for text in self._said.get(name, ()) if _parsed(text) is not None}
        return said or set(_installed(name))


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    """Operator and version of everything that a range asks for."""
    from packaging.specifiers import Specifier

    for part in filter(str.strip, text.split(",")):
        clause = Specifier(part)
        if clause.operator == "~=" and _RELEASE.fullmatch(clause.version):
            yield ">=", clause.version
            yield "==", f"{clause.version.rpartition('.')[0]}.*"
        else:
            yield clause.operator, clause.version


def _tightest(clauses: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The clauses without the bounds that another of the same kind implies."""
    from packaging.version import Version

    of_kind: dict[str, list[str]] = {}
    for operator, version in clauses:
        of_kind.setdefault(operator, []).append(version)
    for operator, versions in of_kind.items():
        said = [_TIGHTEST[operator](versions, key=Version)] if operator in _TIGHTEST else versions
        yield from (f"{operator}{version}" for version in said)


def _cure(name: str) -> str:
    return f"say which with `--version {name}=...`, in Python `versions={{'{name}': '...'}}`"


def _parsed(text: str) -> Version | None:
    """Vendors add to Spark's version what PEP 440 does not know (`3.5.1-amzn-0`): then the release counts."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text)
    except InvalidVersion:
        release = _RELEASE.match(text)
        return Version(release[0]) if release else None


def _said_by(events: Iterable[Event]) -> dict[str, set[str]]:
    said: dict[str, set[str]] = {}
    for event in events:
        for name, version in _engine(event):
            if isinstance(version, str):
                said.setdefault(name, set()).add(version)
    return said


def _engine(event: Event) -> Iterator[tuple[str, Any]]:
    """What the `processing_engine` facet says: Airflow's of task events, Spark's of its own runs."""
    value: Any = event.document
    for part in ("run", "facets", "processing_engine"):
        value = value.get(part) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping):
        return
    engine = str(value.get("name")).lower()
    if engine == "airflow":
        yield "airflow", value.get("version")
        yield "openlineage", value.get("openlineageAdapterVersion")
    elif engine == "spark":
        yield "spark", value.get("version")


def _installed(name: str) -> Iterator[str]:
    if name == "python":
        yield platform.python_version()
    for distribution in DISTRIBUTIONS[name]:
        try:
            yield metadata.version(distribution)
            return
        except metadata.PackageNotFoundError:
            continue
