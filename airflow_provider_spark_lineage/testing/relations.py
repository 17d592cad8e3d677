"""What must hold between events whatever is expected of each: a table of rules, checked without being asked.

A rule says nothing where the events do not tell: a run whose START another process emitted elsewhere is for
the caller to except, with `without=`. Values inside one event are `differences`' job.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.testing.instants import instant_ns
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
    """Something a rule cannot judge, which is no mistake by this rule: a sentence without its full stop."""

    reason: str

    @classmethod
    def of(cls, events: Sequence[Event], reason: str) -> Iterator[Unchecked]:
        """One sentence for all events that cannot be judged for one reason; none where there are none."""
        if events:
            more = f" and {len(events) - 1} more" if len(events) > 1 else ""
            yield cls(f"`{events[0].key}` ({_label(events[0])}){more} {reason}")


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
        """The first event of every run, compared or not; the first that names a parent where one does."""
        found: dict[str, Event] = {}
        for event in self.all:
            if event.run_id and not found.setdefault(event.run_id, event).parent_run_id:
                found[event.run_id] = event if event.parent_run_id else found[event.run_id]
        return found


def broken(related: Related, without: Collection[str] = ()) -> Iterator[tuple[str, Findings]]:
    """Each rule that is not turned off, with the places where it does not hold, in the order of `RELATIONS`.

    One name may stand there without a list. Raises BadInputError for a name that is no rule.
    """
    off = (without,) if isinstance(without, str) else without
    for name in off:
        if name not in RELATIONS:
            raise BadInputError(f"`{name}` is no relation between events; {nearest(f'{name}', RELATIONS)}")
    for name, rule in RELATIONS.items():
        if name not in off:
            yield name, rule(related)


def _start_first(related: Related) -> Findings:
    """A run starts before it ends. `dag.test()` emits no START of the DAG, so a DAG run may lack it."""
    timeless: list[Event] = []
    for run in related.runs:
        # A task that was resumed has several.
        starts, ends = _of(run, "start"), _of(run, *TERMINAL)
        start = _earliest(starts)
        if starts and ends:
            timeless += _timeless([*starts, *ends])
        for end in ends:
            if start is None and not end.is_dag_run:
                yield Broken(end, "", "ends a run that has no START event")
            elif start is not None and _after(start, end):
                reason = f"ends a run before it starts ({_label(start)})"
                yield Broken(end, "eventTime", reason, ABSENT, _time_text(end))
    yield from Unchecked.of(timeless, _TIMELESS)


def _one_terminal(related: Related) -> Iterator[Broken]:
    """A run that has started ends, and ends once."""
    for run in related.runs:
        starts, ends = _of(run, "start"), _of(run, *TERMINAL)
        if starts and not ends:
            yield Broken(starts[0], "", "starts a run that has no COMPLETE, FAIL or ABORT event")
        for more in ends[1:]:
            yield Broken(more, "", f"ends a run that has ended already ({_label(ends[0])})")


def _one_run_id(related: Related) -> Findings:
    """All events of one try of a task instance have one run id, and no other instance or job has it."""
    owner: dict[str, Event] = {}
    for run in related.runs:
        named = [event for event in run if event.run_id]
        for event in named:
            first = named[0]
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
            if other.instance != event.instance:
                yield Broken(
                    event,
                    "run.runId",
                    f"has the run id of another run ({_label(other)})",
                    ABSENT,
                    event.run_id,
                )
    nameless = [event for event in related.events if _is_of_run(event) and not event.run_id]
    yield from Unchecked.of(nameless, "has no `run.runId`, so no relation knows which run it belongs to")


def _one_job(related: Related) -> Iterator[Broken]:
    """All events of one run name one job; a task's is `<dag_id>.<task_id>`, a DAG run's `<dag_id>`."""
    for run in related.runs:
        first = run[0]
        for event in run:
            job = _at(event, "job", "name")
            told = _told_job(event)
            if told and job != told:
                yield Broken(event, "job.name", "is not what its facets say", told, _found(job))
            elif not told and job != _at(first, "job", "name"):
                reason = f"is not that of {_label(first)} of the same run"
                yield Broken(event, "job.name", reason, _at(first, "job", "name"), _found(job))
            namespace, wanted = (_at(one, "job", "namespace") for one in (event, first))
            if namespace != wanted:
                reason = f"is not that of {_label(first)} of the same run"
                yield Broken(event, "job.namespace", reason, _found(wanted), _found(namespace))


def _told_job(event: Event) -> str:
    """The job that Airflow's facets make of an event; empty where they are of no task and no DAG run."""
    if event.instance:
        return event.instance[0]
    return event.dag_run[0] if event.is_dag_run and event.dag_run else ""


def _parents(related: Related) -> Findings:
    """Every parent is a run among the events, or the DAG run that Airflow names; all have one root.

    A run whose events name a parent names it in all of them, and a task always has one.
    """
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
    for run in related.runs:
        yield from _parent_in_all(run)


def _parent_in_all(run: list[Event]) -> Iterator[Broken]:
    """Airflow's provider says in every event of a task which DAG run it belongs to."""
    naming = next((event for event in run if event.parent_run_id), None)
    for event in run:
        if event.parent_run_id:
            continue
        if naming:
            reason = f"names no parent, and {_label(naming)} of the same run does"
            yield Broken(event, _PARENT, reason, naming.parent_run_id, ABSENT)
        elif event.instance:
            yield Broken(event, _PARENT, "names no parent, and every task has its DAG run as one")


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
    """The parent and the root have the jobs that their child says, and the parent has the same root."""
    parent, root = (related.by_run_id.get(run_id) for run_id in (event.parent_run_id, event.root_run_id))
    if parent is not None and parent.run_id != event.run_id:
        yield from _same_job(event, (), parent)
        wanted = parent.root_run_id or parent.parent_run_id or parent.run_id
        if event.root_run_id not in ("", wanted):
            yield _not_as_said(event, "root.run.runId", parent, wanted, event.root_run_id)
    if root is not None and root.run_id != event.run_id:
        yield from _same_job(event, ("root",), root)


def _same_job(event: Event, place: tuple[str, ...], ancestor: Event) -> Iterator[Broken]:
    for path in (("job", "namespace"), ("job", "name")):
        found = _at(event, *_PARENT_KEYS, *place, *path)
        if found and found != (wanted := _at(ancestor, *path)):
            yield _not_as_said(event, ".".join((*place, *path)), ancestor, wanted, found)


def _not_as_said(event: Event, path: str, ancestor: Event, wanted: Any, found: Any) -> Broken:
    reason = f"is not what its events say ({_label(ancestor)})"
    return Broken(event, f"{_PARENT}.{path}", reason, _found(wanted), found)


def _times_ordered(related: Related) -> Findings:
    """What a run says on its way is said between its start and its end."""
    timeless: list[Event] = []
    for run in related.runs:
        start, ends = _earliest(_of(run, "start")), _of(run, *TERMINAL)
        on_its_way = [event for event in run if event.type not in ("start", *TERMINAL)]
        timeless += _timeless(on_its_way)
        for event in on_its_way:
            if (start and _after(start, event)) or (ends and all(_after(event, end) for end in ends)):
                reason = "is not between the start and the end of its run"
                yield Broken(event, "eventTime", reason, ABSENT, _time_text(event))
    yield from Unchecked.of(timeless, _TIMELESS)


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


def _unique_keys(related: Related) -> Findings:
    """A run emits one event of a type; twice the same event is a mistake in every type.

    But not certainly in the START of a task that was resumed: Airflow 3 keeps the time of its first start.
    """
    again: list[Event] = []
    for run in related.runs:
        seen: dict[str, list[Event]] = {}
        for event in run:
            before = seen.setdefault(event.type, [])
            same = next((one for one in before if one.document == event.document), None)
            other = same or (before[0] if before and event.type not in REPEATED else None)
            if other is None or event.key in related.several:
                pass
            elif not _is_resumed(event):
                yield Broken(event, "", f"comes a second time in its run, after {_label(other)}")
            elif same:
                again.append(event)
            before.append(event)
    yield from Unchecked.of(
        again,
        "comes again word for word, from a task that was resumed or from what wrote it twice; nothing tells",
    )


RELATIONS: dict[str, Callable[[Related], Findings]] = {
    "start_first": _start_first,
    "one_terminal": _one_terminal,
    "one_run_id": _one_run_id,
    "one_job": _one_job,
    "parents": _parents,
    "times_ordered": _times_ordered,
    "schemas": _schemas,
    "unique_keys": _unique_keys,
}
"""Name -> rule, in the order in which they are reported. Each can be turned off by its name."""

_OBJECT = (dict, Mapping)
"""Python looks for the first at once and for the second in a registry."""

_PARENT_KEYS = ("run", "facets", "parent")
_PARENT = ".".join(_PARENT_KEYS)


_TIMELESS = "has no `eventTime` with an offset, so its place in its run was not checked"


def _of(run: Iterable[Event], *types: str) -> list[Event]:
    return [event for event in run if event.type in types]


def _is_of_run(event: Event) -> bool:
    return isinstance(event.document.get("run"), Mapping)


def _found(value: Any) -> Any:
    return ABSENT if value is None else value


def _is_resumed(event: Event) -> bool:
    return event.type == "start" and any(_at(event, "run", "facets", "airflow", *path) for path in RESUMED)


def _at(event: Event, *path: str) -> Any:
    value: Any = event.document
    for part in path:
        value = value.get(part) if isinstance(value, _OBJECT) else None
    return value


def _timeless(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if _time(event) is None]


def _earliest(events: list[Event]) -> Event | None:
    times = [(time, number) for number, event in enumerate(events) if (time := _time(event)) is not None]
    return events[min(times)[1] if times else 0] if events else None


def _after(event: Event, other: Event) -> bool:
    """Whether it is known to be later; what is no time is for the schemas to say."""
    first, second = _time(event), _time(other)
    return first is not None and second is not None and first > second


def _time(event: Event) -> int | None:
    return _time_ns(_time_text(event))


@lru_cache(maxsize=4096)
def _time_ns(text: str) -> int | None:
    try:
        return instant_ns(text.upper())
    except ValueError:
        return None


def _time_text(event: Event) -> str:
    time = event.document.get("eventTime")
    return time if isinstance(time, str) else ""


def _label(event: Event) -> str:
    return f"{event.type.upper()}, {event.source}" if event.source else event.type.upper()
