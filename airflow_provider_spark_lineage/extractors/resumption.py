"""Facts about a task that deferred itself, in the process that resumes it.

Its operator is a new object there, without the attributes that `execute` had set. Airflow passes the event of
the trigger to that process; it is read from memory, because a forked child may not ask the supervisor.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def trigger_event(task_instance: Any = None) -> Mapping[str, Any]:
    """Return the event of a task's trigger; empty if the task did not defer itself."""
    given = getattr(_context(task_instance), "next_kwargs", None)
    if given:
        from airflow_provider_spark_lineage.guard import harmless

        with harmless("the event of this task's trigger could not be read"):
            event = _decoded(given).get("event")
            return event if isinstance(event, Mapping) else {}
    return {}


def first_start(task_instance: Any) -> datetime | None:
    """Return the start of a try, which is before the start of the process that resumes it."""
    start: datetime | None = getattr(_context(task_instance), "start_date", None)
    return start or getattr(task_instance, "start_date", None)


def _context(task_instance: Any) -> Any:
    """Return the context that Airflow's server sends to the process of a try."""
    return getattr(task_instance, "_ti_context_from_server", None)


def _decoded(given: Any) -> Mapping[str, Any]:
    """Return the arguments of the method that resumes a task, in either of Airflow's two encodings."""
    try:
        from airflow.sdk.serde import deserialize

        arguments = deserialize(given)
    # The encoding of older Airflow, also for a task that was deferred before an upgrade.
    except (ImportError, KeyError, AttributeError, TypeError):
        from airflow.serialization.serialized_objects import BaseSerialization

        arguments = BaseSerialization.deserialize(given)
    return arguments if isinstance(arguments, Mapping) else {}
