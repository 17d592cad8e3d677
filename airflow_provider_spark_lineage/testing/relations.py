"""What must hold between events whatever is expected of each: a table of rules, checked without being asked.

A rule says nothing where the events do not tell: a run whose START another process emitted elsewhere is for
the caller to except, with `without=`. Values inside one event are `differences`' job.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.testing.matchers import nearest

TERMINAL = ("complete", "fail", "abort")
"""Types that end a run."""

REPEATED = ("running", "other")
"""Types that a run may emit as often as it has something to say."""

RESUMED: tuple[tuple[str, ...], ...] = (
    ("task", "deferrable"),
    ("task", "hitl_summary"),
)
"""Where Airflow's task facet says that a task leaves its worker and comes back, with one more START."""


class Broken(NamedTuple):
    """One place where a rule does not hold."""

    event: Event
    path: str
    reason: str
    expected: Any = ABSENT
    actual: Any = ABSENT


class Unchecked(NamedTuple):
    """Something a rule cannot judge, which is no mistake: a sentence without its full stop."""

    reason: str


Findings = Iterator[Broken | Unchecked]


class NotChecked(Exception):  # noqa: N818 - nothing is wrong with the events
    """A rule could not look at the events; the message says why and what to do."""


@dataclass(frozen=True)
class Related:
    """The events that are compared, seen as runs."""

    events: Sequence[Event]

    all: Events
    """Those that are not compared included: a parent may belong to another DAG."""

    several: Collection[str] = ()
    """Keys of which one run may well emit more than one event."""

    @cached_property
    def runs(self) -> list[list[Event]]:
        """Events of one run each: of one try of one task instance where Airflow tells, else of one run id."""
        groups: dict[Any, list[Event]] = {}
        for event in self.events:
            identity = event.instance or event.run_id
            if identity:
                groups.setdefault(identity, []).append(event)
        return list(groups.values())

    @cached_property
    def by_run_id(self) -> Mapping[str, Event]:
        """The first event of every run, compared or not."""
        found: dict[str, Event] = {}
        for event in self.all:
            if event.run_id:
                found.setdefault(event.run_id, event)
        return found


def broken(related: Related, without: Collection[str] = ()) -> Iterator[tuple[str, Findings]]:
    """Each rule that is not turned off, with the places where it does not hold, in the order of `RELATIONS`.

    Raises BadInputError for a name that is no rule.
    """
    for name in without:
        if name not in RELATIONS:
            raise BadInputError(f"`{name}` is no relation between events; {nearest(name, RELATIONS)}")
    for name, rule in RELATIONS.items():
        if name not in without:
            yield name, rule(related)


def _start_first(related: Related) -> Iterator[Broken]:
    """A run starts before it ends. `dag.test()` emits no START of the DAG, so a DAG run may lack it."""
    for run in related.runs:
        # A task that was resumed has several.
        start = _earliest(_of(run, "start"))
        for end in _of(run, *TERMINAL):
            if start is None and not end.is_dag_run:
                yield Broken(end, "", "ends a run that has no START event")
            elif start is not None and _after(start, end):
                reason = f"ends a run before it starts ({_label(start)})"
                yield Broken(end, "eventTime", reason, ABSENT, _time_text(end))


def _one_terminal(related: Related) -> Iterator[Broken]:
    """A run that has started ends, and ends once."""
    for run in related.runs:
        starts, ends = _of(run, "start"), _of(run, *TERMINAL)
        if starts and not ends:
            yield Broken(starts[0], "", "starts a run that has no COMPLETE, FAIL or ABORT event")
        for more in ends[1:]:
            yield Broken(more, "", f"ends a run that has ended already ({_label(ends[0])})")


def _one_run_id(related: Related) -> Iterator[Broken]:
    """All events of one try of a task instance have one run id, and nothing else has it."""
    owner: dict[str, Event] = {}
    for run in related.runs:
        first = run[0]
        for event in run:
            if event.run_id != first.run_id:
                yield Broken(
                    event,
                    "run.runId",
                    f"has another run id than {_label(first)} of the same try",
                    first.run_id,
                    event.run_id,
                )
                continue
            other = owner.setdefault(event.run_id, event)
            if other.instance != event.instance or other.subject != event.subject:
                yield Broken(
                    event,
                    "run.runId",
                    f"has the run id of another run ({_label(other)})",
                    ABSENT,
                    event.run_id,
                )


def _parents(related: Related) -> Iterator[Broken]:
    """Every parent is a run among the events, or the DAG run that Airflow names; all have one root."""
    named: dict[tuple[str, str], Event] = {}
    for event in related.all:
        if event.is_dag_run and event.dag_run:
            named.setdefault(event.dag_run, event)
    for event in related.events:
        if not event.parent_run_id:
            continue
        if event.parent_run_id == event.run_id:
            yield Broken(event, f"{_PARENT}.run.runId", "is its own parent", ABSENT, event.run_id)
        elif event.instance:
            yield from _dag_run_as_parent(event, named)
        elif not event.is_dag_run:  # whatever triggered a DAG run may be anywhere
            yield from _known_parent(event, related)
        yield from _same_chain(event, related)


def _dag_run_as_parent(event: Event, named: dict[tuple[str, str], Event]) -> Iterator[Broken]:
    """All tasks of a DAG run have it as parent."""
    if event.dag_run is None:
        return
    other = named.setdefault(event.dag_run, event)
    wanted = other.run_id if other.is_dag_run else other.parent_run_id
    if event.parent_run_id != wanted:
        reason = f"names another DAG run as parent than {_label(other)}"
        yield Broken(event, f"{_PARENT}.run.runId", reason, wanted, event.parent_run_id)


def _known_parent(event: Event, related: Related) -> Iterator[Broken]:
    if event.parent_run_id not in related.by_run_id and event.parent_run_id != event.root_run_id:
        reason = "names a parent run that has no events"
        yield Broken(event, f"{_PARENT}.run.runId", reason, ABSENT, event.parent_run_id)


def _same_chain(event: Event, related: Related) -> Iterator[Broken]:
    """The parent has the job that its child says, and both have one root."""
    parent = related.by_run_id.get(event.parent_run_id)
    if parent is None or parent.run_id == event.run_id:
        return
    for path, wanted, found in (
        ("job.namespace", _at(parent, "job", "namespace"), _at(event, *_PARENT_KEYS, "job", "namespace")),
        ("job.name", _at(parent, "job", "name"), _at(event, *_PARENT_KEYS, "job", "name")),
        ("root.run.runId", parent.root_run_id or parent.parent_run_id or parent.run_id, event.root_run_id),
    ):
        if found and found != wanted:
            reason = f"is not what the parent's events say ({_label(parent)})"
            yield Broken(event, f"{_PARENT}.{path}", reason, wanted, found)


def _times_ordered(related: Related) -> Iterator[Broken]:
    """What a run says on its way is said between its start and its end."""
    for run in related.runs:
        start, ends = _earliest(_of(run, "start")), _of(run, *TERMINAL)
        for event in run:
            if event.type in ("start", *TERMINAL):
                continue
            if (start and _after(start, event)) or (ends and all(_after(event, end) for end in ends)):
                reason = "is not between the start and the end of its run"
                yield Broken(event, "eventTime", reason, ABSENT, _time_text(event))


def _schemas(related: Related) -> Findings:
    """Every event is valid against the JSON schemas that it names."""
    try:
        import jsonschema  # noqa: F401 - `validation` imports it only once it has something to check
    except ImportError as error:
        raise NotChecked(
            f"{error}. Run `pip install 'airflow-provider-spark-lineage[testing]'`, or turn the rule off"
        ) from None
    from airflow_provider_spark_lineage.events.validation import UNKNOWN, is_from_elsewhere, problems_of

    unknown: set[str] = set()
    for event in related.events:
        for problem in problems_of(event.document):
            path, _, reason = problem.partition(": ")
            url = reason.removeprefix(UNKNOWN)
            if reason.startswith(UNKNOWN) and is_from_elsewhere(url):
                unknown.add(url)
            else:
                yield Broken(event, path.removeprefix("event").removeprefix("."), reason)
    yield from (
        Unchecked(f"nothing is known of {url}, so what names it was not checked") for url in sorted(unknown)
    )


def _unique_keys(related: Related) -> Iterator[Broken]:
    """A run emits one event of a type; twice the same event is a mistake in every type."""
    for run in related.runs:
        seen: dict[str, Event] = {}
        for event in run:
            first = seen.setdefault(event.type, event)
            if first is event or _is_resumed(event) or event.key in related.several:
                continue
            if event.type not in REPEATED or first.document == event.document:
                yield Broken(event, "", f"comes a second time in its run, after {_label(first)}")


RELATIONS: dict[str, Callable[[Related], Findings]] = {
    "start_first": _start_first,
    "one_terminal": _one_terminal,
    "one_run_id": _one_run_id,
    "parents": _parents,
    "times_ordered": _times_ordered,
    "schemas": _schemas,
    "unique_keys": _unique_keys,
}
"""Name -> rule, in the order in which they are reported. Each can be turned off by its name."""

_PARENT_KEYS = ("run", "facets", "parent")
_PARENT = ".".join(_PARENT_KEYS)


_LATEST = datetime.max.replace(tzinfo=timezone.utc)


def _of(run: Iterable[Event], *types: str) -> list[Event]:
    return [event for event in run if event.type in types]


def _is_resumed(event: Event) -> bool:
    return event.type == "start" and any(_at(event, "run", "facets", "airflow", *path) for path in RESUMED)


def _at(event: Event, *path: str) -> Any:
    value: Any = event.document
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


_INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def _earliest(events: list[Event]) -> Event | None:
    return min(events, key=lambda event: _time(event) or _LATEST, default=None)


def _after(event: Event, other: Event) -> bool:
    """Whether it is known to be later; what is no time is for the schemas to say."""
    first, second = _time(event), _time(other)
    return first is not None and second is not None and first > second


def _time(event: Event) -> datetime | None:
    # Until 3.11 `fromisoformat` knows neither `Z` nor fractions of other than 3 or 6 digits.
    match = _INSTANT.fullmatch(_time_text(event))
    if not match:
        return None
    seconds, fraction, offset = match.groups(default="")
    try:
        return datetime.fromisoformat(f"{seconds}.{fraction[:6]:0<6}{offset.upper().replace('Z', '+00:00')}")
    except ValueError:
        return None


def _time_text(event: Event) -> str:
    time = event.document.get("eventTime")
    return time if isinstance(time, str) else ""


def _label(event: Event) -> str:
    return f"{event.type.upper()}, {event.source}" if event.source else event.type.upper()
