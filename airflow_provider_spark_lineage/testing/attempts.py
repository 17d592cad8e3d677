"""Which OpenLineage runs one DAG run of Airflow has had: it gets another one each time that it is cleared.

Tasks that did not run again keep events of a former attempt, whose parent is the former run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from airflow_provider_spark_lineage.events import Event
from airflow_provider_spark_lineage.testing.related import Related

Attempt = tuple[tuple[str, str], int | None]
"""DAG id and Airflow's `run_id`, and how often that was cleared; None where no facet tells."""

Named = dict[str, Event]
"""Run id -> the first event that says so."""


class DagRuns:
    """The runs that tasks may name as parents: what DAG runs say of themselves, else what tasks agree on."""

    def __init__(self, related: Related) -> None:
        self._related = related
        self._told: dict[tuple[str, str], dict[int | None, Named]] = {}
        for event in related.all:
            if event.is_dag_run and event.dag_run and event.run_id:
                attempts = self._told.setdefault(event.dag_run, {})
                attempts.setdefault(event.clear_number, {}).setdefault(event.run_id, event)
        self._named = _named_by_tasks(related)

    def of(self, event: Event) -> Mapping[str, Event]:
        """The runs that this event of a task may have as parent, each with what says so; empty if untold."""
        dag_run = _dag_run_of(event, self._related)
        if dag_run is None:
            return {}
        for attempts in (self._told.get(dag_run, {}), self._named.get(dag_run, {})):
            if found := _of_attempt(attempts, event.clear_number):
                return found
        return {}


def _dag_run_of(event: Event, related: Related) -> tuple[str, str] | None:
    instance = related.instance_of(event)
    return instance[1] if instance else None


def _of_attempt(attempts: Mapping[int | None, Named], clear_number: int | None) -> Named:
    """What is said of this attempt; where either side does not tell which one it is of, of any."""
    numbers = list(attempts) if clear_number is None else [clear_number, None]
    return {run_id: event for number in numbers for run_id, event in attempts.get(number, {}).items()}


def _named_by_tasks(related: Related) -> dict[tuple[str, str], dict[int | None, Named]]:
    """The first parent of each attempt; where no task tells its attempt, later tries may have another."""
    tasks: dict[Attempt, list[Event]] = {}
    for event in related.events:
        dag_run = _dag_run_of(event, related)
        if dag_run and event.parent_run_id:
            tasks.setdefault((dag_run, event.clear_number), []).append(event)
    found: dict[tuple[str, str], dict[int | None, Named]] = {}
    telling = {dag_run for dag_run, number in tasks if number is not None}
    for (dag_run, number), events in tasks.items():
        first = min(events, key=lambda event: _tried(event, related))
        named = {first.parent_run_id: first}
        if number is not None:
            found.setdefault(dag_run, {})[number] = named
        elif dag_run not in telling:
            found[dag_run] = {None: {**named, **_ran_again(events, related)}}
    return found


def _ran_again(events: Iterable[Event], related: Related) -> Named:
    """The parents of later tries, each where all events of its try name it."""
    tries: dict[object, list[Event]] = {}
    for event in events:
        if _tried(event, related) > 1:
            tries.setdefault(related.instance_of(event), []).append(event)
    return {
        run[0].parent_run_id: run[0] for run in tries.values() if len({one.parent_run_id for one in run}) == 1
    }


def _tried(event: Event, related: Related) -> int:
    instance = related.instance_of(event)
    return (instance[3] if instance else None) or 1
