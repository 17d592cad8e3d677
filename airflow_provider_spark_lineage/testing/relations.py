"""What must hold between events, whatever is expected of each: a table of relations that are always checked.

A relation reports only what the events prove. A run whose START was emitted elsewhere is for the caller to
except, with `without=`. What a relation cannot check becomes a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.events.instants import instant_ns
from airflow_provider_spark_lineage.events.model import TERMINAL, TaskTry
from airflow_provider_spark_lineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.testing.matchers import nearest


class Broken(NamedTuple):
    """One place where a relation does not hold."""

    event: Event
    path: str
    reason: str
    expected: Any = ABSENT
    actual: Any = ABSENT


class Unchecked(NamedTuple):
    """What a relation cannot check: a sentence without its full stop."""

    reason: str


Findings = Iterator[Broken | Unchecked]


class NotChecked(Exception):  # noqa: N818 - nothing is wrong with the events
    """A relation could not be checked at all; the message says why and what to do."""


@dataclass(frozen=True)
class Runs:
    """The events that are compared, grouped by run."""

    events: Sequence[Event]

    all_events: Events
    """Also those that are not compared: a parent may belong to another DAG."""

    several: Collection[str] = ()
    """Keys of which one run may emit more than one event."""

    @cached_property
    def runs(self) -> list[list[Event]]:
        """The events of one try of a task instance if Airflow's facet says which; else of one run id."""
        groups: dict[Any, list[Event]] = {}
        for event in self.events:
            identity = self.try_of(event) or event.run_id
            if identity:
                groups.setdefault(identity, []).append(event)
        return list(groups.values())

    def try_of(self, event: Event) -> TaskTry | None:
        """Return the try that the event is about, by its facet, else by other events of its run and job.

        Airflow emits a state that was set by hand without the facet.
        """
        return event.task_try or self._tries.get((event.run_id, event.name))

    @cached_property
    def _tries(self) -> Mapping[tuple[str, str], TaskTry]:
        tries: dict[tuple[str, str], TaskTry] = {}
        for event in self.all_events:
            if event.task_try and event.run_id:
                tries.setdefault((event.run_id, event.name), event.task_try)
        return tries

    def dag_run_of(self, event: Event) -> tuple[str, str] | None:
        """Return the DAG id and Airflow's `run_id` of the DAG run of a task's event."""
        task_try = self.try_of(event)
        return task_try.dag_run if task_try else None

    @cached_property
    def by_run_id(self) -> Mapping[str, Event]:
        """An event of each run, compared or not: the first that names a parent, else the first."""
        first: dict[str, Event] = {}
        for event in self.all_events:
            if (
                event.run_id
                and not first.setdefault(event.run_id, event).parent_run_id
                and event.parent_run_id
            ):
                first[event.run_id] = event
        return first


def check_relations(runs: Runs, without: Collection[str] = ()) -> Iterator[tuple[str, Findings]]:
    """Yield each relation that is not turned off with what it finds, in the order of `RELATIONS`.

    `without` may be a single name. Raises BadInputError for a name that is not a relation.
    """
    off = (without,) if isinstance(without, str) else without
    for name in off:
        if name not in RELATIONS:
            raise BadInputError(f"`{name}` is not a relation between events; {nearest(f'{name}', RELATIONS)}")
    for name, check in RELATIONS.items():
        if name not in off:
            yield name, check(runs)


def _start_first(runs: Runs) -> Findings:
    """A run starts before it ends. `dag.test()` emits no START of the DAG, so a DAG run may lack it."""
    for run in runs.runs:
        # A task that was resumed has several STARTs.
        starts, ends = _of_types(run, "start"), _of_types(run, *TERMINAL)
        start = _earliest(starts)
        for end in ends:
            if start is None and not end.is_dag_run:
                yield Broken(end, "", "ends a run that has no START event")
            elif start is not None and _is_later(start, end):
                reason = f"ends a run before it starts ({_label(start)})"
                yield Broken(end, "eventTime", reason, ABSENT, end.text("eventTime"))


def _one_terminal(runs: Runs) -> Findings:
    """A run that has started ends, and ends once."""
    for run in runs.runs:
        starts, ends = _of_types(run, "start"), _of_types(run, *TERMINAL)
        if starts and not ends:
            yield Broken(starts[0], "", "starts a run that has no COMPLETE, FAIL or ABORT event")
        for end in ends[1:]:
            yield Broken(end, "", f"ends a run that has ended already ({_label(ends[0])})")


def _one_run_id(runs: Runs) -> Findings:
    """All events of one try of a task instance have one run id, and nothing else has it."""
    owners: dict[str, Event] = {}
    for run in runs.runs:
        with_id = [event for event in run if event.run_id]
        for event in with_id:
            first = with_id[0]
            if event.run_id != first.run_id:
                reason = f"has another run id than {_label(first)} of the same try"
                yield Broken(event, "run.runId", reason, first.run_id, event.run_id)
                continue
            owner = owners.setdefault(event.run_id, event)
            if runs.try_of(owner) != runs.try_of(event):
                reason = f"has the run id of another run ({_label(owner)})"
                yield Broken(event, "run.runId", reason, ABSENT, event.run_id)


def _one_job(runs: Runs) -> Findings:
    """All events of one run name one job; a task's is `<dag_id>.<task_id>`, a DAG run's `<dag_id>`."""
    for run in runs.runs:
        first = run[0]
        reason = f"is not that of {_label(first)} of the same run"
        for event in run:
            job = event.at("job", "name")
            of_facets = event.task_try.task if event.task_try else ""
            if event.is_dag_run and event.dag_run:
                of_facets = event.dag_run[0]
            if of_facets and job != of_facets:
                yield Broken(event, "job.name", "is not what its facets say", of_facets, _or_absent(job))
            elif not of_facets and job != first.at("job", "name"):
                yield Broken(event, "job.name", reason, first.at("job", "name"), _or_absent(job))
            namespace, wanted = event.at("job", "namespace"), first.at("job", "namespace")
            if namespace != wanted:
                yield Broken(event, "job.namespace", reason, _or_absent(wanted), _or_absent(namespace))


def _times_ordered(runs: Runs) -> Findings:
    """RUNNING and OTHER events have times between the start and the end of their run."""
    for run in runs.runs:
        start, ends = _earliest(_of_types(run, "start")), _of_types(run, *TERMINAL)
        between = [event for event in run if event.type not in ("start", *TERMINAL)]
        for event in between:
            is_early = start is not None and _is_later(start, event)
            if is_early or (ends and all(_is_later(event, end) for end in ends)):
                reason = "is not between the start and the end of its run"
                yield Broken(event, "eventTime", reason, ABSENT, event.text("eventTime"))


def _schemas(runs: Runs) -> Findings:
    """Every event is valid against the JSON schemas that it names."""
    try:
        import jsonschema_rs  # noqa: F401 - `validation` imports it when it has something to check
    except ImportError as error:
        raise NotChecked(
            f"{error}. Run `pip install 'airflow-provider-spark-lineage[testing]'`, or turn the relation off"
        ) from None
    from airflow_provider_spark_lineage.events.validation import UNKNOWN, problems_of

    unknown: set[str] = set()
    for event in runs.events:
        for problem in problems_of(event.document):
            path, _, reason = problem.partition(": ")
            if reason.startswith(UNKNOWN):
                unknown.add(reason.removeprefix(UNKNOWN))
            else:
                yield Broken(event, path.removeprefix("event").removeprefix("."), reason)
    for url in sorted(unknown):
        yield Unchecked(f"there is no copy of {url} here, so what names it was not checked")


def _unique_keys(runs: Runs) -> Findings:
    """A run emits one START and one end, and no event twice word for word.

    The START of a task may come again: any operator may defer itself, and is started once more when it is
    resumed, in Airflow 3 with the time of the first START.
    """
    repeated: list[Event] = []
    restarted: list[Event] = []
    for run in runs.runs:
        by_type: dict[str, list[Event]] = {}
        for event in run:
            before = by_type.setdefault(event.type, [])
            same = next((other for other in before if other.document == event.document), None)
            other = same or (before[0] if before and event.type not in ("running", "other") else None)
            before.append(event)
            if other is None or event.key in runs.several:
                continue
            if event.type != "start" or not runs.try_of(event):
                yield Broken(event, "", f"comes a second time in its run, after {_label(other)}")
            elif same:
                repeated.append(event)
            elif not any(event.at("run", "facets", "airflow", "task", key) for key in _RESUMABLE):
                restarted.append(event)
    yield from _unchecked(
        repeated, " repeats the START of this try word for word: expected only if the task deferred itself"
    )
    yield from _unchecked(restarted, ": second START of this try: expected only if the task deferred itself")


_RESUMABLE = ("deferrable", "hitl_summary")
"""Keys of a task that leaves its worker and comes back, in Airflow's facet."""


def _parents(runs: Runs) -> Findings:
    """Every parent is a run with events, or the DAG run that Airflow names, and has the same root.

    A run whose events name a parent names it in all of them, and a task always has one.
    """
    accepted, roots = _DagRunIds(runs), _roots_of_tasks(runs)
    for event in runs.events:
        if not event.parent_run_id:
            continue
        if event.parent_run_id == event.run_id:
            yield Broken(event, f"{_PARENT}.run.runId", "is its own parent", ABSENT, event.run_id)
        elif runs.try_of(event):
            wanted = accepted.of(event)
            if wanted and event.parent_run_id not in wanted:
                run_id, other = next(iter(wanted.items()))
                reason = f"names another DAG run as parent than {_label(other)}"
                yield Broken(event, f"{_PARENT}.run.runId", reason, run_id, event.parent_run_id)
        # What triggered a DAG run may have events elsewhere, and so may a root.
        elif (
            not event.is_dag_run
            and event.parent_run_id != event.root_run_id
            and event.parent_run_id not in runs.by_run_id
        ):
            reason = "names a parent run that has no events"
            yield Broken(event, f"{_PARENT}.run.runId", reason, ABSENT, event.parent_run_id)
        yield from _same_chain(event, runs, roots)
    for run in runs.runs:
        yield from _parent_in_all(run, runs)


def _parent_in_all(run: list[Event], runs: Runs) -> Iterator[Broken]:
    with_parent = next((event for event in run if event.parent_run_id), None)
    for event in run:
        if event.parent_run_id:
            continue
        if with_parent:
            reason = f"names no parent, but {_label(with_parent)} of the same run does"
            yield Broken(event, _PARENT, reason, with_parent.parent_run_id, ABSENT)
        elif runs.try_of(event):
            yield Broken(event, _PARENT, "names no parent, but every task has its DAG run as one")


def _roots_of_tasks(runs: Runs) -> Mapping[str, Event]:
    """Return by DAG run a task with the root that most of its tasks have.

    The conf of a DAG run may give its tasks a root, and the DAG run itself no parent.
    """
    tasks: dict[str, list[Event]] = {}
    for event in runs.events:
        if event.root_run_id and runs.try_of(event):
            tasks.setdefault(event.parent_run_id, []).append(event)
    chosen = {}
    for run_id, events in tasks.items():
        [(root, _)] = Counter(event.root_run_id for event in events).most_common(1)
        chosen[run_id] = next(event for event in events if event.root_run_id == root)
    return chosen


def _same_chain(event: Event, runs: Runs, roots: Mapping[str, Event]) -> Iterator[Broken]:
    """The parent and the root have the jobs that their child names, and the parent has the same root."""
    parent, root = (runs.by_run_id.get(run_id) for run_id in (event.parent_run_id, event.root_run_id))
    if parent is not None and parent.run_id != event.run_id:
        yield from _same_job(event, "", parent)
    if event.root_run_id and runs.try_of(event):
        other = parent if parent is not None and parent.parent_run_id else roots[event.parent_run_id]
        if event.root_run_id != _root_of(other):
            yield _differs_from(other, event, "root.run.runId", _root_of(other), event.root_run_id)
    elif parent is not None:
        # The root of a triggered DAG run is its parent, unless its conf names a root.
        own = (parent.run_id,) if event.is_dag_run else ()
        if event.root_run_id not in ("", _root_of(parent), *own):
            yield _differs_from(parent, event, "root.run.runId", _root_of(parent), event.root_run_id)
    if root is not None and root.run_id != event.run_id:
        yield from _same_job(event, "root.", root)


def _root_of(event: Event) -> str:
    return event.root_run_id or event.parent_run_id or event.run_id


def _same_job(event: Event, place: str, ancestor: Event) -> Iterator[Broken]:
    for key in ("namespace", "name"):
        actual = event.at(*f"{_PARENT}.{place}job.{key}".split("."))
        wanted = ancestor.at("job", key)
        if actual and actual != wanted:
            yield _differs_from(ancestor, event, f"{place}job.{key}", wanted, actual)


def _differs_from(ancestor: Event, event: Event, path: str, wanted: Any, actual: Any) -> Broken:
    reason = f"is not what its events say ({_label(ancestor)})"
    return Broken(event, f"{_PARENT}.{path}", reason, _or_absent(wanted), actual)


class _DagRunIds:
    """The OpenLineage runs that a DAG run of Airflow has had: another one each time that it is cleared.

    Tasks that do not run again keep events of a former attempt, whose parent is the former run.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._said_by_dag_runs: _Attempts = {}
        self._named_by_tasks: _Attempts = {}
        for event in runs.all_events:
            if event.is_dag_run and event.dag_run and event.run_id:
                attempts = self._said_by_dag_runs.setdefault(event.dag_run, {})
                attempts.setdefault(event.clear_number, {}).setdefault(event.run_id, event)
        for event in sorted(runs.events, key=self._try_number):
            dag_run = runs.dag_run_of(event)
            if dag_run and event.parent_run_id:
                attempts = self._named_by_tasks.setdefault(dag_run, {})
                attempts.setdefault(event.clear_number, {event.parent_run_id: event})

    def of(self, event: Event) -> Mapping[str, Event]:
        """Return the run ids that this event of a task may have as parent, each with an event that says so.

        DAG runs are asked first, then the first task of each attempt. An event that does not say its attempt
        may have the parents of all.
        """
        dag_run = self._runs.dag_run_of(event)
        for all_attempts in (self._said_by_dag_runs, self._named_by_tasks) if dag_run else ():
            attempts = all_attempts.get(dag_run, {}) if dag_run else {}
            numbers = list(attempts) if event.clear_number is None else [event.clear_number, None]
            run_ids = {run_id: by for number in numbers for run_id, by in attempts.get(number, {}).items()}
            if run_ids:
                return run_ids
        return {}

    def _try_number(self, event: Event) -> int:
        task_try = self._runs.try_of(event)
        return (task_try.try_number if task_try else None) or 1


_Attempts = dict[tuple[str, str], dict[int | None, dict[str, Event]]]
"""DAG run -> how often it was cleared -> run id -> the first event that names it."""

RELATIONS: Mapping[str, Callable[[Runs], Findings]] = {
    "start_first": _start_first,
    "one_terminal": _one_terminal,
    "one_run_id": _one_run_id,
    "one_job": _one_job,
    "parents": _parents,
    "times_ordered": _times_ordered,
    "schemas": _schemas,
    "unique_keys": _unique_keys,
}
"""Name -> relation, in the order in which they are reported."""

_PARENT = "run.facets.parent"


def _unchecked(events: Sequence[Event], reason: str) -> Iterator[Unchecked]:
    """Yield one sentence for all events that cannot be checked for one reason."""
    if events:
        more = f" and {len(events) - 1} more" if len(events) > 1 else ""
        yield Unchecked(f"`{events[0].key}` ({_label(events[0])}){more}{reason}")


def _of_types(run: Iterable[Event], *types: str) -> list[Event]:
    return [event for event in run if event.type in types]


def _or_absent(value: Any) -> Any:
    return ABSENT if value is None else value


def _label(event: Event) -> str:
    return f"{event.type.upper()}, {event.source}" if event.source else event.type.upper()


def _time_ns(event: Event) -> int | None:
    return _instant_ns(event.text("eventTime"))


@lru_cache(maxsize=4096)
def _instant_ns(text: str) -> int | None:
    try:
        return instant_ns(text.upper())
    except ValueError:
        return None


def _earliest(events: list[Event]) -> Event | None:
    timed = [event for event in events if _time_ns(event) is not None]
    return min(timed, key=lambda event: _time_ns(event) or 0) if timed else next(iter(events), None)


def _is_later(event: Event, other: Event) -> bool:
    """Return whether the event is known to be later than the other."""
    first, second = _time_ns(event), _time_ns(other)
    return first is not None and second is not None and first > second
