"""The rule of parents: who started a run, up to the run that the chain ends in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from airflow_provider_spark_lineage.events import Event
from airflow_provider_spark_lineage.testing.differences import ABSENT
from airflow_provider_spark_lineage.testing.related import Broken, Findings, Related, at, label, or_absent

_PARENT_KEYS = ("run", "facets", "parent")
_PARENT = ".".join(_PARENT_KEYS)


def parents(related: Related) -> Findings:
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
        elif instance := related.instance_of(event):
            yield from _dag_run_as_parent(event, instance[1], named)
        elif not event.is_dag_run:  # whatever triggered a DAG run may be anywhere
            yield from _known_parent(event, related)
        yield from _same_chain(event, related)
    for run in related.runs:
        yield from _parent_in_all(run, related)


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


def _dag_run_as_parent(
    event: Event, dag_run: tuple[str, str] | None, named: dict[tuple[str, str], Event]
) -> Iterator[Broken]:
    """All tasks of a DAG run have it as parent."""
    if dag_run is None:
        return
    other = named.setdefault(dag_run, event)
    wanted = other.run_id if other.is_dag_run else other.parent_run_id
    if event.parent_run_id != wanted:
        reason = f"names another DAG run as parent than {label(other)}"
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
        found = at(event, *_PARENT_KEYS, *place, *path)
        if found and found != (wanted := at(ancestor, *path)):
            yield _not_as_said(event, ".".join((*place, *path)), ancestor, wanted, found)


def _not_as_said(event: Event, path: str, ancestor: Event, wanted: Any, found: Any) -> Broken:
    reason = f"is not what its events say ({label(ancestor)})"
    return Broken(event, f"{_PARENT}.{path}", reason, or_absent(wanted), found)
