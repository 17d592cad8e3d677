"""The rule of parents: who started a run, up to the run that the chain ends in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.events import Event
from airflow_provider_spark_lineage.testing.attempts import DagRuns
from airflow_provider_spark_lineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.testing.related import Broken, Findings, Related, at, label, or_absent

_PARENT_KEYS = ("run", "facets", "parent")
_PARENT = ".".join(_PARENT_KEYS)


def parents(related: Related) -> Findings:
    """Every parent is a run among the events, or the DAG run that Airflow names; all have one root.

    A run whose events name a parent names it in all of them, and a task always has one.
    """
    dag_runs, roots = DagRuns(related), _roots_of_tasks(related)
    for event in related.events:
        if not event.parent_run_id:
            continue
        if event.parent_run_id == event.run_id:
            yield Broken(event, f"{_PARENT}.run.runId", "is its own parent", ABSENT, event.run_id)
        elif related.instance_of(event):
            yield from _dag_run_as_parent(event, dag_runs)
        elif not event.is_dag_run:  # whatever triggered a DAG run may be anywhere
            yield from _known_parent(event, related)
        yield from _same_chain(event, related, roots)
    for run in related.runs:
        yield from _parent_in_all(run, related)


def _roots_of_tasks(related: Related) -> Mapping[str, Event]:
    """For each DAG run, one of its tasks that has the root which most of them have.

    The conf of a DAG run may give its tasks a root and the DAG run itself no parent, so they are asked.
    """
    tasks: dict[str, list[Event]] = {}
    for event in related.events:
        if event.root_run_id and related.instance_of(event):
            tasks.setdefault(event.parent_run_id, []).append(event)
    return {run_id: _of_most(events) for run_id, events in tasks.items()}


def _of_most(events: list[Event]) -> Event:
    [(root, _)] = Counter(event.root_run_id for event in events).most_common(1)
    return next(event for event in events if event.root_run_id == root)


def _parent_in_all(run: list[Event], related: Related) -> Iterator[Broken]:
    """Airflow's provider says in every event of a task which DAG run it belongs to."""
    naming = next((event for event in run if event.parent_run_id), None)
    for event in run:
        if event.parent_run_id:
            continue
        if naming:
            reason = f"names no parent, and {label(naming)} of the same run does"
            yield Broken(event, _PARENT, reason, naming.parent_run_id, ABSENT)
        elif related.instance_of(event):
            yield Broken(event, _PARENT, "names no parent, and every task has its DAG run as one")


def _dag_run_as_parent(event: Event, dag_runs: DagRuns) -> Iterator[Broken]:
    """All tasks of a DAG run have it as parent: of one attempt, where it was cleared, one run."""
    accepted = dag_runs.of(event)
    if accepted and event.parent_run_id not in accepted:
        wanted, other = next(iter(accepted.items()))
        reason = f"names another DAG run as parent than {label(other)}"
        yield Broken(event, f"{_PARENT}.run.runId", reason, wanted, event.parent_run_id)


def _known_parent(event: Event, related: Related) -> Iterator[Broken]:
    if event.parent_run_id not in related.by_run_id and event.parent_run_id != event.root_run_id:
        reason = "names a parent run that has no events"
        yield Broken(event, f"{_PARENT}.run.runId", reason, ABSENT, event.parent_run_id)


def _same_chain(event: Event, related: Related, roots: Mapping[str, Event]) -> Iterator[Broken]:
    """The parent and the root have the jobs that their child says, and the parent has the same root."""
    parent, root = (related.by_run_id.get(run_id) for run_id in (event.parent_run_id, event.root_run_id))
    if parent is not None and parent.run_id != event.run_id:
        yield from _same_job(event, (), parent)
    if event.root_run_id and related.instance_of(event):
        yield from _same_root_as_tasks(event, parent, roots[event.parent_run_id])
    elif parent is not None and event.root_run_id not in _roots_below(parent, event):
        wanted = _root_of(parent)
        yield _not_as_said(event, "root.run.runId", parent, wanted, event.root_run_id)
    if root is not None and root.run_id != event.run_id:
        yield from _same_job(event, ("root",), root)


def _same_root_as_tasks(event: Event, parent: Event | None, task: Event) -> Iterator[Broken]:
    """A task has the root of its DAG run, and that of the other tasks where the DAG run names no parent."""
    other = parent if parent is not None and parent.parent_run_id else task
    wanted = _root_of(other)
    if event.root_run_id != wanted:
        yield _not_as_said(event, "root.run.runId", other, wanted, event.root_run_id)


def _roots_below(parent: Event, event: Event) -> tuple[str, ...]:
    """What a child may name as root. Of a DAG run it is the parent itself where its conf names no root."""
    return ("", _root_of(parent), *((parent.run_id,) if event.is_dag_run else ()))


def _root_of(event: Event) -> str:
    return event.root_run_id or event.parent_run_id or event.run_id


def _same_job(event: Event, place: tuple[str, ...], ancestor: Event) -> Iterator[Broken]:
    for path in (("job", "namespace"), ("job", "name")):
        found = at(event, *_PARENT_KEYS, *place, *path)
        if found and found != (wanted := at(ancestor, *path)):
            yield _not_as_said(event, ".".join((*place, *path)), ancestor, wanted, found)


def _not_as_said(event: Event, path: str, ancestor: Event, wanted: Any, found: Any) -> Broken:
    reason = f"is not what its events say ({label(ancestor)})"
    return Broken(event, f"{_PARENT}.{path}", reason, or_absent(wanted), found)
