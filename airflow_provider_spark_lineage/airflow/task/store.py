"""Stores the lineage of a task for the viewer: in an XCom of the task, or in a file.

Only in the task's own process: the provider's forked child cannot reach Airflow's supervisor. `stored_form`
reads and writes the form.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from typing import Any

from airflow_provider_spark_lineage.airflow import conf, stored_form
from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.airflow.task.answers import answer
from airflow_provider_spark_lineage.airflow.task.report import TaskReport
from airflow_provider_spark_lineage.spark import (
    EventParts,
    Gap,
    alarm_paused,
    harmless,
    of_tasks,
    told_elsewhere,
    within,
)

log = logging.getLogger(__name__)

MAX_SECONDS = 1.0
"""Limit of the time that the end of a task waits for the store."""

_TRIES = 4
"""Limit of the number of times that a large lineage is packed, each time with less in it."""

_LOST = "the viewer will not show the lineage of this task"


def prepare() -> None:
    """Import the modules of the store, at the start of a task: a file system may take most of the second."""
    with harmless(_LOST):
        if conf.store() not in ("xcom", "none"):
            _ends_in_time(_open_store)


def _open_store() -> None:
    with harmless(_LOST):
        from airflow.providers.common.compat.sdk import ObjectStoragePath

        ObjectStoragePath(conf.store()).fs  # noqa: B018  finds provider and connection


def store_at_end(
    task_instance: Any,
    report_of: Callable[[], TaskReport | None],
    error: Any = None,
    *,
    failed: bool,
) -> None:
    """Store the lineage of a task that has ended, if Spark did something for it and a store is set.

    `error` is the exception of a failed task, or its text, or None.
    """
    with harmless(_LOST):
        if conf.store() != "none":
            _in_time(_store_end, task_instance, report_of, error, failed)


def store(task_instance: Any, event_of: Callable[[int | None], Any]) -> None:
    """Store an interim event of a task that may end next, or that continues in another process.

    `event_of` makes the event in so many bytes, or in any number for None.
    """
    with harmless(_LOST):
        if conf.store() != "none":
            _in_time(_store_interim, task_instance, event_of)


def _in_time(function: Callable[..., None], *arguments: Any) -> None:
    if not _ends_in_time(function, *arguments):
        log.warning(
            "Spark lineage: %s: it could not be stored within %g s. This has no impact on the task.",
            _LOST,
            MAX_SECONDS,
        )


def _ends_in_time(function: Callable[..., None], *arguments: Any) -> bool:
    """Call a function, and return whether it ended in time; in `dag.test()` it has no limit."""
    if _supervisor_is_here():
        with alarm_paused():
            function(*arguments)
        return True
    return within(MAX_SECONDS, function, *arguments)


def _supervisor_is_here() -> bool:
    """Return whether Airflow's supervisor runs in this process, as in `dag.test()`.

    It takes itself away while it answers: a thread that is late would make the next task of the DAG fail.
    """
    runner = sys.modules.get("airflow.sdk.execution_time.task_runner")
    return type(getattr(runner, "SUPERVISOR_COMMS", None)).__name__ == "InProcessSupervisorComms"


def _store_interim(task_instance: Any, event_of: Callable[[int | None], Any]) -> None:
    with harmless(_LOST):
        _store_fitting(task_instance, event_of, [])


def _store_end(
    task_instance: Any, report_of: Callable[[], TaskReport | None], error: Any, failed: bool
) -> None:
    with harmless(_LOST):
        with told_elsewhere():
            report = report_of()
        if report is None or report.is_empty or not provider.is_active(task_instance):
            return
        ended = report.failed(error) if failed else report.succeeded()

        def event_of(max_bytes: int | None) -> Any:
            with told_elsewhere():
                return _end_event(task_instance, ended, failed, max_bytes)

        is_last_look = conf.store() == "xcom" and _is_rescheduled(task_instance)
        gaps = [Gap("task", of_tasks.LAST_LOOK())] if is_last_look else []
        _store_fitting(task_instance, event_of, gaps)


def _store_fitting(task_instance: Any, event_of: Callable[[int | None], Any], gaps: list[Gap]) -> None:
    """Store an event behind those that this try has stored before, with as much in it as the store holds.

    `gaps` are added to the stored event; the event that is sent has none of them.
    """
    earlier = _earlier_events(task_instance)
    recent = [*earlier]
    # Half of the space is for the event.
    while (used := stored_form.excess_of(recent, stored_form.pack(recent, {}))) > 0.5 and recent:
        recent.pop(0)
    if len(recent) < len(earlier):
        gaps = [*gaps, Gap("task", of_tasks.TOO_MANY_PROCESSES())]
    max_bytes = None
    for _ in range(_TRIES):
        event = _masked(event_of(max_bytes), gaps)
        events = [*recent, event]
        value = stored_form.pack(events, _summary_of(event, task_instance, is_whole=max_bytes is None))
        excess = stored_form.excess_of(events, value)
        if excess <= 1:
            _put(task_instance, value)
            return
        # Less of the same packs about as well; a fifth is left for what packs worse.
        max_bytes = int(len(json.dumps(event)) * (1 - used) / (excess - used) * 0.8)
    log.warning("Spark lineage: %s: it is too large to store. This has no impact on the task.", _LOST)


def _masked(event: Any, gaps: list[Gap]) -> stored_form.Json:
    """Return an event as JSON, without what Airflow masks, and with further gaps."""
    with told_elsewhere():
        return EventParts.masked(event, provider.redactor(), gaps)


def _end_event(task_instance: Any, report: TaskReport, failed: bool, max_bytes: int | None) -> Any:
    """Return the event that ends a task: what its operator reports, with Airflow's facets."""
    start = EventParts()
    with harmless("the stored lineage of this task does not have Airflow's facets"):
        start = provider.facets_of_start(task_instance)
    result = answer(
        report, task_instance.task, task_instance, has_failed=failed, whole=True, max_bytes=max_bytes
    )
    parts = EventParts.of_report(result).merged(start)
    if failed and report.failure is not None:
        parts = parts.with_failure(report.failure)
    return parts.event("FAIL" if failed else "COMPLETE", provider.identity_of(task_instance))


def _summary_of(event: stored_form.Json, task_instance: Any, *, is_whole: bool) -> stored_form.Json:
    began = getattr(task_instance, "start_date", None)
    summary = stored_form.summary_of(
        event,
        try_number=task_instance.try_number,
        map_index=_instance(task_instance).map_index,
        began=began.isoformat() if began is not None else "",
        ended=event["eventTime"],
    )
    # What is left out is no change since the previous run.
    return summary if is_whole else summary | {"edges": ""}


def _instance(task_instance: Any) -> stored_form.InstanceKey:
    map_index = getattr(task_instance, "map_index", None)
    ids = (task_instance.dag_id, task_instance.run_id, task_instance.task_id)
    return stored_form.InstanceKey(*ids, -1 if map_index is None else map_index)


def _earlier_events(task_instance: Any) -> tuple[stored_form.Json, ...]:
    """Return what this try has stored in other processes: it deferred itself there, or was rescheduled."""
    is_xcom = conf.store() == "xcom"
    if not (_is_resumed(task_instance) or (_is_rescheduled(task_instance) and not is_xcom)):
        return ()
    with harmless("the viewer will not show what this task did before it continued in this process"):
        if not is_xcom:
            file = _file(task_instance)
            content = file.fs.cat_file(file.path) if file.exists() else None
            return stored_form.unpack(stored_form.from_file(content)).events if content is not None else ()
        of_instance = {"task_ids": task_instance.task_id, "map_indexes": _instance(task_instance).map_index}
        value = task_instance.xcom_pull(key=stored_form.XCOM_KEY, **of_instance)
        return stored_form.unpack(value).events if value is not None else ()
    return ()


def _is_resumed(task_instance: Any) -> bool:
    """Return whether the task had deferred itself."""
    return bool(getattr(_context_of(task_instance), "next_method", None))


def _is_rescheduled(task_instance: Any) -> bool:
    """Return whether the task, a sensor, has looked before in another process; Airflow deletes its XComs."""
    return bool(getattr(_context_of(task_instance), "task_reschedule_count", None))


def _context_of(task_instance: Any) -> Any:
    return getattr(task_instance, "_ti_context_from_server", None)


def _put(task_instance: Any, value: stored_form.Json) -> None:
    if conf.store() == "xcom":
        _put_xcom(task_instance, value)
        return
    file = _file(task_instance)
    # Not by the methods of the path, which report what they read and write as lineage of the task.
    file.fs.makedirs(file.parent.path, exist_ok=True)
    file.fs.pipe_file(file.path, stored_form.to_file(value))


def _file(task_instance: Any) -> Any:
    """Return the file of this try."""
    from airflow.providers.common.compat.sdk import ObjectStoragePath

    name = stored_form.file_of(_instance(task_instance), task_instance.try_number)
    return ObjectStoragePath(conf.store()) / name


def _put_xcom(task_instance: Any, value: stored_form.Json) -> None:
    """Write the XCom, past a custom backend where Airflow can: the API server reads the database only."""
    try:
        from airflow.sdk.execution_time.task_runner import _xcom_push_to_db
    except ImportError:
        task_instance.xcom_push(stored_form.XCOM_KEY, value)
    else:
        _xcom_push_to_db(task_instance, stored_form.XCOM_KEY, value)
