"""The result of a comparison, as data: every difference, and the one line that sums them up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from airflow_provider_spark_lineage.events import LIKELY_CAUSES
from airflow_provider_spark_lineage.testing.differences import Absent
from airflow_provider_spark_lineage.testing.matchers import plain


class Kind(Enum):
    """What is wrong with one event."""

    CHANGED = "changed"
    """It was emitted with another value somewhere."""

    MISSING = "missing"
    """It was expected and never emitted."""

    UNEXPECTED = "unexpected"
    """It was emitted and nobody expected it, or not that often."""

    RELATION = "relation"
    """It does not go with the other events; `rule` says which of `relations.RELATIONS` it breaks."""


@dataclass(frozen=True)
class Difference:
    """One place where one event is not as expected; a missing or unexpected event is one difference."""

    kind: Kind
    key: str
    path: str
    """Where in the event, for example `inputs[file /in].facets.schema`; empty for a whole event."""

    expected: Any
    """The expected value or matcher; `ABSENT` where nothing was expected."""

    actual: Any
    """The actual value; `ABSENT` where there is none."""

    reason: str
    """Completes the sentence "the actual value ..."."""

    where: str
    """Which event, where several share the key: file and line, and the index of a mapped task."""

    candidates: tuple[str, ...] = ()
    """For a missing event the emitted keys that look like the expected one."""

    event: int = 0
    """The same number for all differences of one event."""

    rule: str = ""
    """For a broken relation its name."""

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values; whole events are left out, `where` says where they are."""
        values: dict[str, Any] = {"kind": self.kind.value, "key": self.key, "event": self.event}
        if self.kind is Kind.RELATION:
            values["rule"] = self.rule
        if self.kind in (Kind.CHANGED, Kind.RELATION):
            values["path"] = self.path
            for name, value in (("expected", self.expected), ("actual", self.actual)):
                if not isinstance(value, Absent):
                    values[name] = plain(value)
        return {**values, "reason": self.reason, "where": self.where, "candidates": list(self.candidates)}


@dataclass(frozen=True)
class Report:
    """What a comparison found; falsy questions are answered by `ok`, people by `text()`."""

    matched: int
    """Expected events that were emitted as expected."""

    differences: tuple[Difference, ...]
    problems: tuple[str, ...]
    """What could not be read among the events; a report with problems is not `ok`."""

    emitted: int
    """Events that were read, compared or not."""

    skipped: Mapping[str, int]
    """DAG id -> events that were not compared, because the expected file does not speak for them."""

    notes: tuple[str, ...] = ()
    """What may explain the differences, and what the relations could not judge, one sentence each."""

    passed: tuple[str, ...] = ()
    """The keys of the expected events that were emitted as expected."""

    relations: tuple[str, ...] = ()
    """Names of the relations that were checked."""

    @property
    def ok(self) -> bool:
        """Every expected event was emitted as expected, nothing else was, and all was readable.

        No events at all are never ok: they prove nothing, not even that none was to be expected.
        """
        return bool(self.emitted) and not self.differences and not self.problems

    @property
    def causes(self) -> tuple[str, ...]:
        """Why there are likely to be no events at all; empty where there are some."""
        return () if self.emitted else LIKELY_CAUSES

    @property
    def differing(self) -> int:
        """Events that were emitted differently, or not at all, or without being expected."""
        return len({one.event for one in self.differences if one.kind is not Kind.RELATION})

    @property
    def broken(self) -> tuple[str, ...]:
        """Names of the relations that do not hold, in the order in which they were checked."""
        return tuple(dict.fromkeys(one.rule for one in self.differences if one.kind is Kind.RELATION))

    @property
    def summary(self) -> str:
        """`N events match, M differ`, and the relations that are broken, if any."""
        relations = f"; broken: {', '.join(self.broken)}" if self.broken else ""
        return f"{self.matched} events match, {self.differing} differ{relations}"

    def by_event(self) -> Iterator[tuple[Difference, ...]]:
        """The differences of one event after the other."""
        groups: dict[int, list[Difference]] = {}
        for difference in self.differences:
            groups.setdefault(difference.event, []).append(difference)
        return map(tuple, groups.values())

    def text(self) -> str:
        """Everything for a person, in plain text; the last line is the summary."""
        # `render` builds on this module, so it can only be imported here.
        from airflow_provider_spark_lineage.testing.render import lines

        return "\n".join(line.text for line in lines(self))

    def junit(self) -> str:
        """Everything for a CI server, as JUnit XML: a test case per expected event and per relation."""
        from airflow_provider_spark_lineage.testing.junit import junit

        return junit(self)

    def as_dict(self) -> dict[str, Any]:
        """Everything for a program, in plain JSON values."""
        return {
            "summary": self.summary,
            "ok": self.ok,
            "matched": self.matched,
            "differing": self.differing,
            "broken": list(self.broken),
            "emitted": self.emitted,
            "skipped": dict(self.skipped),
            "problems": list(self.problems),
            "causes": list(self.causes),
            "notes": list(self.notes),
            "differences": [difference.as_dict() for difference in self.differences],
        }
