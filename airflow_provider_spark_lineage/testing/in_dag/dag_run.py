"""Chooses the events of one DAG run among all: files and Variables keep what earlier runs emitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.instants import instant_ns


@dataclass(frozen=True)
class AskingRun:
    """The DAG run that asks for its events."""

    dag_id: str
    run_id: str

    started: datetime
    """With an offset."""

    def events(self, events: Events) -> Events:
        """Its own events; of other jobs those emitted since it started, and by no other run of its DAG."""
        own: list[Event] = []
        of_siblings: list[Event] = []
        for event in events:
            if event.dag_run and event.dag_run[0] == self.dag_id:
                (own if event.dag_run[1] == self.run_id else of_siblings).append(event)
        # What started several runs of one DAG is the root of them all.
        foreign = _run_ids(of_siblings) - _run_ids(own)
        not_mine = {id(event) for event in of_siblings}
        chosen = (event for event in events if id(event) not in not_mine)
        mine = {id(event) for event in own}
        return Events(
            tuple(event for event in chosen if id(event) in mine or self._may_be_mine(event, foreign)),
            events.problems,
        )

    def _may_be_mine(self, event: Event, foreign: set[str]) -> bool:
        if foreign & {event.run_id, event.parent_run_id, event.root_run_id}:
            return False
        try:
            emitted_ns = instant_ns(str(event.document.get("eventTime")))
        except ValueError:
            return True
        return emitted_ns >= instant_ns(self.started.isoformat())


def _run_ids(events: Iterable[Event]) -> set[str]:
    return {one for event in events for one in (event.run_id, event.root_run_id) if one}
