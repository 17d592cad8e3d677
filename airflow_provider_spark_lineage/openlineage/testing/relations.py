"""Relations that must hold between events, whatever the expected events: a table, always checked.

A relation reports only mistakes that the events prove. If the START of a run was emitted elsewhere, the
caller turns the relation off with `without=`. Events that a relation cannot check become a note.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.errors import BadInputError, extra
from airflow_provider_spark_lineage.openlineage.events import Event, Events
from airflow_provider_spark_lineage.openlineage.events.checks import assertions_of, datasets_of
from airflow_provider_spark_lineage.openlineage.events.model import TERMINAL
from airflow_provider_spark_lineage.openlineage.events.shapes import object_at, objects, text
from airflow_provider_spark_lineage.openlineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.openlineage.testing.matchers import nearest


class Broken(NamedTuple):
    """One place where a relation does not hold."""

    event: Event
    path: str
    reason: str
    expected: Any = ABSENT
    actual: Any = ABSENT


Findings = Iterator[Broken | str]
"""Broken places; a string is a note on events that cannot be checked, without full stop."""


@dataclass(frozen=True)
class Runs:
    """The compared events, grouped by run."""

    events: Sequence[Event]

    all_events: Events
    """Compared or not: a parent may belong to another DAG."""

    compared: Collection[int] = ()
    """The `id` of each event in scope; the other events complete their runs and DAGs."""

    @cached_property
    def runs(self) -> list[list[Event]]:
        """Groups of events: of one try of a task instance if Airflow's facet names it, else of one run id."""
        groups: dict[Any, list[Event]] = {}
        for event in self.events:
            identity = self.all_events.try_of(event) or event.run_id
            if identity:
                groups.setdefault(identity, []).append(event)
        return list(groups.values())


def relations_without(names: Collection[str]) -> dict[str, Callable[[Runs], Findings]]:
    """Return the relations that are not turned off; a single name may be a string.

    Raises BadInputError for a name that is not a relation.
    """
    off = (names,) if isinstance(names, str) else names
    for name in off:
        if name not in RELATIONS:
            raise BadInputError(f"`{name}` is not a relation between events; {nearest(f'{name}', RELATIONS)}")
    return {name: check for name, check in RELATIONS.items() if name not in off}


def _start_first(runs: Runs) -> Findings:
    """Check that a run starts before it ends; a DAG run may lack START: `dag.test()` emits none."""
    for run in runs.runs:
        # A task that was resumed has several STARTs.
        starts = _of_types(run, "start")
        timed = [event for event in starts if event.time_ns is not None]
        start = min(timed or starts[:1], key=lambda event: event.time_ns or 0, default=None)
        for end in _of_types(run, *TERMINAL):
            if start is None and not end.is_dag_run:
                yield Broken(end, "", "ends a run that has no START event")
            elif start and start.time_ns and end.time_ns and start.time_ns > end.time_ns:
                reason = f"ends a run before it starts ({_label(start)})"
                yield Broken(end, "eventTime", reason, ABSENT, end.text("eventTime"))


def _one_terminal(runs: Runs) -> Findings:
    """Check that a started run ends, and ends once; runs without events in scope may still be running."""
    for run in runs.runs:
        if not any(id(event) in runs.compared for event in run):
            continue
        starts, ends = _of_types(run, "start"), _of_types(run, *TERMINAL)
        if starts and not ends:
            yield Broken(starts[0], "", "starts a run that has no COMPLETE, FAIL or ABORT event")
        for end in ends[1:]:
            yield Broken(end, "", f"ends a run that has ended already ({_label(ends[0])})")


def _one_run_id(runs: Runs) -> Findings:
    """Check that all events of one try of a task instance have one run id, which no other run has."""
    owners: dict[str, Event] = {}
    for run in runs.runs:
        with_id = [event for event in run if event.run_id]
        for event in with_id:
            first, owner = with_id[0], owners.setdefault(event.run_id, event)
            if event.run_id != first.run_id:
                reason = f"has another run id than {_label(first)} of the same try"
                yield Broken(event, "run.runId", reason, first.run_id, event.run_id)
            elif runs.all_events.try_of(owner) != runs.all_events.try_of(event):
                reason = f"has the run id of another run ({_label(owner)})"
                yield Broken(event, "run.runId", reason, ABSENT, event.run_id)


def _one_job(runs: Runs) -> Findings:
    """Check that a run's events name one job: `<dag_id>.<task_id>` for a task, `<dag_id>` for a DAG run."""
    for run in runs.runs:
        first = run[0]
        reason = f"differs from {_label(first)} of the same run"
        for event in run:
            of_facets = event.task_try.task if event.task_try else ""
            if event.is_dag_run and event.dag_run:
                of_facets = event.dag_run[0]
            if of_facets:
                yield from _same_value(event, "job.name", of_facets, "differs from its facets")
            else:
                yield from _same_value(event, "job.name", first.at("job", "name"), reason)
            yield from _same_value(event, "job.namespace", first.at("job", "namespace"), reason)


def _schemas(runs: Runs) -> Findings:
    """Check every event against the JSON schemas that it names."""
    with extra("testing"):
        import jsonschema_rs  # noqa: F401 - `validation` imports it when it has something to check

    from airflow_provider_spark_lineage.openlineage.events.validation import UNKNOWN, problems_of

    unknown: set[str] = set()
    for event in runs.events:
        for problem in problems_of(event.document):
            path, _, reason = problem.partition(": ")
            if reason.startswith(UNKNOWN):
                unknown.add(reason.removeprefix(UNKNOWN))
            else:
                yield Broken(event, path.removeprefix("event").removeprefix("."), reason)
    for url in sorted(unknown):
        yield f"the schema {url} is not available, so the parts of events that name it were not checked"


def _unique_keys(runs: Runs) -> Findings:
    """Check that a run emits one START and one end, and no event twice with the same content.

    A task may have several STARTs: any operator may defer itself, and emits START again when it is resumed,
    in Airflow 3 with the time of the first START.
    """
    for run in runs.runs:
        by_type: dict[str, list[Event]] = {}
        for event in run:
            before = by_type.setdefault(event.type, [])
            may_repeat = event.type in ("running", "other")
            other = next((e for e in before if not may_repeat or e.document == event.document), None)
            before.append(event)
            is_resumed = event.type == "start" and runs.all_events.try_of(event)
            if other and not is_resumed:
                yield Broken(event, "", f"comes a second time in its run, after {_label(other)}")


def _parents(runs: Runs) -> Findings:
    """Check that every parent is a run with events, or the DAG run that Airflow names, with the same root.

    If one event of a run names a parent, all of them must; every task has a parent.
    """
    parents_of = _dag_runs_of_tasks(runs)
    # The conf of a DAG run may set a root for its tasks, while the DAG run itself has no parent.
    roots: dict[str, Event] = {}
    for event in runs.events:
        if event.root_run_id and runs.all_events.try_of(event):
            roots.setdefault(event.parent_run_id, event)
    for event in runs.events:
        if not event.parent_run_id:
            continue
        task_try = runs.all_events.try_of(event)
        if event.parent_run_id == event.run_id:
            yield Broken(event, f"{_PARENT}.run.runId", "is its own parent", ABSENT, event.run_id)
        elif task_try:
            wanted = parents_of.get((task_try.dag_run, event.clear_number))
            if wanted and event.parent_run_id not in wanted:
                run_id, other = next(iter(wanted.items()))
                reason = f"names another DAG run as parent than {_label(other)}"
                yield Broken(event, f"{_PARENT}.run.runId", reason, run_id, event.parent_run_id)
        # The run that triggered a DAG run, and a root, may have their events elsewhere.
        elif (
            not event.is_dag_run
            and event.parent_run_id != event.root_run_id
            and event.parent_run_id not in runs.all_events.by_run_id
        ):
            reason = "names a parent run that has no events"
            yield Broken(event, f"{_PARENT}.run.runId", reason, ABSENT, event.parent_run_id)
        yield from _same_chain(event, runs, roots)
    for run in runs.runs:
        with_parent = next((event for event in run if event.parent_run_id), None)
        for event in run:
            if with_parent and not event.parent_run_id:
                reason = f"names no parent, but {_label(with_parent)} of the same run does"
                yield Broken(event, _PARENT, reason, with_parent.parent_run_id, ABSENT)
            elif not with_parent and runs.all_events.try_of(event):
                yield Broken(event, _PARENT, "names no parent, but the parent of a task is its DAG run")


def _same_chain(event: Event, runs: Runs, roots: Mapping[str, Event]) -> Findings:
    """Check that parent and root have the jobs that the child names, and that the parent has its root."""
    by_run_id = runs.all_events.by_run_id
    parent, root = by_run_id.get(event.parent_run_id), by_run_id.get(event.root_run_id)
    of_root: Event | None = parent
    own = (parent.run_id,) if parent and event.is_dag_run else ()
    if event.root_run_id and runs.all_events.try_of(event):
        of_root = parent if parent and parent.parent_run_id else roots[event.parent_run_id]
    # The root of a triggered DAG run is its parent, unless its conf names a root.
    if of_root and event.root_run_id not in ("", _root_of(of_root), *own):
        reason = f"differs from its events ({_label(of_root)})"
        yield from _same_value(event, f"{_PARENT}.root.run.runId", _root_of(of_root), reason)
    for ancestor, place in ((parent, "job"), (root, "root.job")):
        if ancestor is not None and ancestor.run_id != event.run_id:
            reason = f"differs from its events ({_label(ancestor)})"
            for key in ("namespace", "name"):
                path = f"{_PARENT}.{place}.{key}"
                if event.at(*path.split(".")):
                    yield from _same_value(event, path, ancestor.at("job", key), reason)


def _root_of(event: Event) -> str:
    return event.root_run_id or event.parent_run_id or event.run_id


def _dag_runs_of_tasks(runs: Runs) -> Mapping[Any, Mapping[str, Event]]:
    """Return the possible parents of tasks, by DAG run of Airflow and its attempt.

    Each time that a DAG run is cleared, it gets another OpenLineage run id. Tasks that do not run again keep
    events of an earlier attempt, whose parent is the earlier run. Events of DAG runs win over events of the
    first task of each attempt.
    """
    by_dag_runs: dict[Any, dict[str, Event]] = {}
    for event in runs.all_events:
        if event.is_dag_run and event.dag_run and event.run_id:
            known = by_dag_runs.setdefault((event.dag_run, event.clear_number), {})
            known.setdefault(event.run_id, event)
    by_tasks: dict[Any, dict[str, Event]] = {}
    tasks = [(task_try, event) for event in runs.events if (task_try := runs.all_events.try_of(event))]
    for task_try, event in sorted(tasks, key=lambda task: task[0].try_number or 1):
        if task_try.dag_run and event.parent_run_id:
            by_tasks.setdefault((task_try.dag_run, event.clear_number), {event.parent_run_id: event})
    return {**by_tasks, **by_dag_runs}


def _assertion_columns(runs: Runs) -> Findings:
    """Check that the column of an assertion is in the schema of its dataset, if the event has the schema.

    Upper and lower case are the same: not all sources tell them apart. A check of a missing column was not
    evaluated, and says so.
    """
    for event in runs.events:
        for place, dataset in datasets_of(event.document):
            fields = objects(object_at(dataset, "facets", "schema").get("fields"))
            for path, assertion in assertions_of(dataset) if fields else ():
                column = text(assertion.get("column"))
                was_evaluated = "not_evaluated" not in object_at(assertion, "params")
                if column and was_evaluated and not _is_field(column.lower(), fields):
                    reason = "is not a column of the dataset"
                    yield Broken(event, f"{place}.{path}.column", reason, ABSENT, column)


def _is_field(column: str, fields: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a name, `a.b` for a field of a struct, is among fields.

    Yes, too, if the fields are unknown: they may be left out, and the keys of a map are data.
    """
    for field in fields:
        name, inner = text(field.get("name")).lower(), objects(field.get("fields"))
        if column == name:
            return True
        # An element of an array has no name in SQL.
        if name == "_element" and _is_field(column, inner):
            return True
        rest = column.removeprefix(f"{name}.")
        is_known = inner and not text(field.get("type")).lower().startswith("map")
        if rest != column and (not is_known or _is_field(rest, inner)):
            return True
    return False


RELATIONS: Mapping[str, Callable[[Runs], Findings]] = {
    "start_first": _start_first,
    "one_terminal": _one_terminal,
    "one_run_id": _one_run_id,
    "one_job": _one_job,
    "parents": _parents,
    "schemas": _schemas,
    "unique_keys": _unique_keys,
    "assertion_columns": _assertion_columns,
}
"""Name -> relation, in the order of reports."""

_PARENT = "run.facets.parent"


def _same_value(event: Event, path: str, wanted: Any, reason: str) -> Iterator[Broken]:
    """Yield the place if the event's value there is not the wanted one."""
    actual = event.at(*path.split("."))
    if actual != wanted:
        values = [ABSENT if value is None else value for value in (wanted, actual)]
        yield Broken(event, path, reason, *values)


def _of_types(run: Iterable[Event], *types: str) -> list[Event]:
    return [event for event in run if event.type in types]


def _label(event: Event) -> str:
    return f"{event.type.upper()}, {event.source}" if event.source else event.type.upper()
