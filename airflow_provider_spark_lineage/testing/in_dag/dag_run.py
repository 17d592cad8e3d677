"""Chooses the events of one DAG run among all: files and Variables keep what earlier runs emitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.instants import instant_ns
from airflow_provider_spark_lineage.testing.related import TERMINAL

CHECK = ".OpenLineageTestOperator"
"""How the class of a check ends, in Airflow's facet."""


@dataclass(frozen=True)
class AskingTask:
    """The task that asks for the events of its DAG run; those of checks are not among them."""

    dag_id: str
    run_id: str
    """Airflow's."""

    task_id: str

    @property
    def subject(self) -> str:
        """The task as the keys of its events begin."""
        return f"{self.dag_id}.{self.task_id}"

    def own(self, events: Iterable[Event]) -> list[Event]:
        """What Airflow says of this DAG run and its tasks, each as it ran last, and the jobs below them.

        What says that the DAG run has ended is of a former attempt: this task runs.
        """
        said = [
            event
            for event in events
            if event.dag_run == (self.dag_id, self.run_id)
            and event.subject != self.subject
            and not _is_check(event)
            and not (event.is_dag_run and event.type in TERMINAL)
        ]
        last: dict[object, Event] = {}
        for event in said:
            before = last.setdefault(_instance(event), event)
            if (event.try_number or 0, _ns(event)) >= (before.try_number or 0, _ns(before)):
                last[_instance(event)] = event
        chosen = [event for event in said if _attempt(event) == _attempt(last[_instance(event)])]
        return [*chosen, *_below(chosen, events)]

    def seen(self, events: Events) -> Events:
        """Its own events, in their order, and those of other jobs that it may have started.

        Of another DAG only the runs that say so, if any does; else what came since its own first event. Of
        jobs that know no parent, the same.
        """
        own = {id(event): event for event in self.own(events)}
        since = min(map(_ns, own.values()), default=None)
        started = {id(event) for event in _below(list(own.values()), events, of_airflow=True)}
        telling = {event.dag_run[0] for event in events if event.dag_run and id(event) in started}
        later = [event for event in events if since is not None and _ns(event) >= since]
        untold = [event for event in later if self._is_untold(event, telling)]
        kept = own.keys() | started | {id(event) for event in (*untold, *_below(untold, later))}
        return Events(tuple(event for event in events if id(event) in kept), events.problems)

    def _is_untold(self, event: Event, telling: set[str]) -> bool:
        """Whether nothing says who started this job."""
        if event.dag_run is None:
            return not event.parent_run_id
        return event.dag_run[0] != self.dag_id and event.dag_run[0] not in telling


def _is_check(event: Event) -> bool:
    """Whether it is of a task like this one; there may be several in a DAG."""
    value: Any = event.document
    for part in ("run", "facets", "airflow", "task", "operator_class"):
        value = value.get(part) if isinstance(value, Mapping) else None
    return isinstance(value, str) and value.endswith(CHECK)


def _instance(event: Event) -> object:
    """One instance of a task, whatever the try, or the DAG run itself."""
    return event.subject, event.map_index


def _attempt(event: Event) -> str:
    """The OpenLineage run of the DAG run, which is another one each time that it is cleared."""
    return event.run_id if event.is_dag_run else event.parent_run_id


def _below(parents: Sequence[Event], events: Iterable[Event], *, of_airflow: bool = False) -> list[Event]:
    """The events of all jobs below these that say nothing of Airflow, or of any job at all."""
    waiting: dict[str, list[Event]] = {}
    for event in events:
        if (of_airflow or event.dag_run is None) and event.parent_run_id not in ("", event.run_id):
            waiting.setdefault(event.parent_run_id, []).append(event)
    found: list[Event] = []
    run_ids = [event.run_id for event in parents]
    while run_ids:
        below = waiting.pop(run_ids.pop(), [])
        found += below
        run_ids += [event.run_id for event in below]
    return found


def _ns(event: Event) -> int:
    """When it happened; an event that does not say is as old as can be."""
    try:
        return instant_ns(str(event.document.get("eventTime")))
    except ValueError:
        return 0
