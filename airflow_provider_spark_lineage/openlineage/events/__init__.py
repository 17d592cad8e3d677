"""OpenLineage events of any producer: read from files, with keys, and checked against schemas (`validation`).

>>> from airflow_provider_spark_lineage.openlineage.events import Events
>>> events = Events.of([{"eventType": "START", "run": {}, "job": {"name": "dag.task"}}])
>>> [event.key for event in events]
['dag.task.event.start']
"""

from __future__ import annotations

from airflow_provider_spark_lineage.openlineage.events.model import EVENT_TYPES, Event, Events
from airflow_provider_spark_lineage.openlineage.events.reader import LIKELY_CAUSES, read_events

__all__ = ["EVENT_TYPES", "LIKELY_CAUSES", "Event", "Events", "read_events"]
