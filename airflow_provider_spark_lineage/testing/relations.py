"""What must hold between events whatever is expected of each: a table of rules, checked without being asked.

A rule says nothing where the events do not tell: a run whose START another process emitted elsewhere is for
the caller to except, with `without=`. Values inside one event are `differences`' job.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event
from airflow_provider_spark_lineage.testing.ancestry import parents
from airflow_provider_spark_lineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.testing.matchers import nearest
from airflow_provider_spark_lineage.testing.related import (
    TERMINAL,
    Broken,
    Findings,
    NotChecked,
    Related,
    Unchecked,
    at,
    label,
    of_types,
    or_absent,
    time_ns,
    time_text,
)

REPEATED = ("running", "other")
"""Types that a run may emit as often as it has something to say."""

RESUMED: tuple[tuple[str, ...], ...] = (
    ("task", "deferrable"),
    ("task", "hitl_summary"),
)
"""Where Airflow's task facet says that a task leaves its worker and comes back, with one more START."""


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
        starts, ends = of_types(run, "start"), of_types(run, *TERMINAL)
        start = _earliest(starts)
        if starts and ends:
            timeless += _timeless([*starts, *ends])
        for end in ends:
            if start is None and not end.is_dag_run:
                yield Broken(end, "", "ends a run that has no START event")
            elif start is not None and _after(start, end):
                reason = f"ends a run before it starts ({label(start)})"
                yield Broken(end, "eventTime", reason, ABSENT, time_text(end))
    yield from Unchecked.of(timeless, _TIMELESS)


def _one_terminal(related: Related) -> Iterator[Broken]:
    """A run that has started ends, and ends once."""
    for run in related.runs:
        starts, ends = of_types(run, "start"), of_types(run, *TERMINAL)
        if starts and not ends:
            yield Broken(starts[0], "", "starts a run that has no COMPLETE, FAIL or ABORT event")
        for more in ends[1:]:
            yield Broken(more, "", f"ends a run that has ended already ({label(ends[0])})")


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
                    f"has another run id than {label(first)} of the same try",
                    first.run_id,
                    event.run_id,
                )
                continue
            other = owner.setdefault(event.run_id, event)
            if related.instance_of(other) != related.instance_of(event):
                yield Broken(
                    event,
                    "run.runId",
                    f"has the run id of another run ({label(other)})",
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
            job = at(event, "job", "name")
            told = _told_job(event)
            if told and job != told:
                yield Broken(event, "job.name", "is not what its facets say", told, or_absent(job))
            elif not told and job != at(first, "job", "name"):
                reason = f"is not that of {label(first)} of the same run"
                yield Broken(event, "job.name", reason, at(first, "job", "name"), or_absent(job))
            namespace, wanted = (at(one, "job", "namespace") for one in (event, first))
            if namespace != wanted:
                reason = f"is not that of {label(first)} of the same run"
                yield Broken(event, "job.namespace", reason, or_absent(wanted), or_absent(namespace))


def _told_job(event: Event) -> str:
    """The job that Airflow's facets make of an event; empty where they are of no task and no DAG run."""
    if event.instance:
        return event.instance[0]
    return event.dag_run[0] if event.is_dag_run and event.dag_run else ""


def _times_ordered(related: Related) -> Findings:
    """What a run says on its way is said between its start and its end."""
    timeless: list[Event] = []
    for run in related.runs:
        start, ends = _earliest(of_types(run, "start")), of_types(run, *TERMINAL)
        on_its_way = [event for event in run if event.type not in ("start", *TERMINAL)]
        timeless += _timeless(on_its_way)
        for event in on_its_way:
            if (start and _after(start, event)) or (ends and all(_after(event, end) for end in ends)):
                reason = "is not between the start and the end of its run"
                yield Broken(event, "eventTime", reason, ABSENT, time_text(event))
    yield from Unchecked.of(timeless, _TIMELESS)


def _schemas(related: Related) -> Findings:
    """Every event is valid against the JSON schemas that it names."""
    try:
        import jsonschema  # noqa: F401 - `validation` imports it only once it has something to check
    except ImportError as error:
        raise NotChecked(
            f"{error}. Run `pip install 'airflow-provider-spark-lineage[testing]'`, or turn the rule off"
        ) from None
    from airflow_provider_spark_lineage.events.validation import UNKNOWN, problems_of

    unknown: set[str] = set()
    for event in related.events:
        for problem in problems_of(event.document):
            path, _, reason = problem.partition(": ")
            if reason.startswith(UNKNOWN):
                unknown.add(reason.removeprefix(UNKNOWN))
            else:
                yield Broken(event, path.removeprefix("event").removeprefix("."), reason)
    yield from (
        Unchecked(f"nothing is known of {url}, so what names it was not checked") for url in sorted(unknown)
    )


def _unique_keys(related: Related) -> Findings:
    """A run emits one event of a type; twice the same event is a mistake in every type.

    But not certainly in the START of a task: any operator may defer, whatever its facet says, and comes
    back with one more START, which in Airflow 3 has the time of the first.
    """
    again: list[Event] = []
    restarted: list[Event] = []
    for run in related.runs:
        seen: dict[str, list[Event]] = {}
        for event in run:
            before = seen.setdefault(event.type, [])
            same = next((one for one in before if one.document == event.document), None)
            other = same or (before[0] if before and event.type not in REPEATED else None)
            if other is None or event.key in related.several:
                pass
            elif event.type != "start" or not related.instance_of(event):
                yield Broken(event, "", f"comes a second time in its run, after {label(other)}")
            elif same:
                again.append(event)
            elif not _is_resumed(event):
                restarted.append(event)
            before.append(event)
    yield from Unchecked.of(
        again,
        "comes again word for word, from a task that was resumed or from what wrote it twice; nothing tells",
    )
    yield from Unchecked.of(
        restarted, "starts a try that has started, as a task that defers does; nothing tells whether it did"
    )


RELATIONS: dict[str, Callable[[Related], Findings]] = {
    "start_first": _start_first,
    "one_terminal": _one_terminal,
    "one_run_id": _one_run_id,
    "one_job": _one_job,
    "parents": parents,
    "times_ordered": _times_ordered,
    "schemas": _schemas,
    "unique_keys": _unique_keys,
}
"""Name -> rule, in the order in which they are reported. Each can be turned off by its name."""

_TIMELESS = "has no `eventTime` with an offset, so its place in its run was not checked"


def _is_of_run(event: Event) -> bool:
    return isinstance(event.document.get("run"), Mapping)


def _is_resumed(event: Event) -> bool:
    return any(at(event, "run", "facets", "airflow", *path) for path in RESUMED)


def _timeless(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if time_ns(event) is None]


def _earliest(events: list[Event]) -> Event | None:
    times = [(time, number) for number, event in enumerate(events) if (time := time_ns(event)) is not None]
    return events[min(times)[1] if times else 0] if events else None


def _after(event: Event, other: Event) -> bool:
    """Whether it is known to be later; what is no time is for the schemas to say."""
    first, second = time_ns(event), time_ns(other)
    return first is not None and second is not None and first > second
