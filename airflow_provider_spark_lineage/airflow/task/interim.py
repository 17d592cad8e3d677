"""Events that a task sends itself before its end: RUNNING at an interval, OTHER if its process ends first."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.airflow.task.answers import rendered
from airflow_provider_spark_lineage.airflow.task.report import TaskReport, excerpt_of
from airflow_provider_spark_lineage.airflow.task.store import store
from airflow_provider_spark_lineage.spark import EventParts, RunIdentity, harmless


def event_so_far(
    report: TaskReport,
    identity: RunIdentity,
    facets: EventParts,
    *,
    state: str = "OTHER",
    whole: bool = False,
    max_bytes: int | None = None,
) -> Any:
    """Return RUNNING or OTHER of a task, with Airflow's facets of its START.

    `whole` and `max_bytes` are for an event that is stored, as in `excerpt_of`.
    """
    ours = EventParts.of_report(rendered(excerpt_of(report, whole=whole, max_bytes=max_bytes)))
    return ours.merged(facets.copied()).event(state, identity)


def send_other(report: TaskReport, task_instance: Any, timeout_seconds: float) -> None:
    """Send and store OTHER of a task whose process may end next; wait a limited time until it is sent."""
    facets = EventParts()
    with harmless("an event of this task does not have Airflow's facets"):
        facets = provider.facets_of_start(task_instance)
    identity = provider.identity_of(task_instance)
    provider.emit(event_so_far(report, identity, facets))

    def to_store(max_bytes: int | None) -> Any:
        return event_so_far(report, identity, facets, whole=True, max_bytes=max_bytes)

    store(task_instance, to_store)
    provider.wait_until_sent(timeout_seconds)
