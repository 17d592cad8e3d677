"""Adds the lineage of a task to the result of OpenLineage's own extractor.

The provider asks only one extractor for a class. If ours replaced its own, the source code of a function,
hook lineage, `inlets` and `outlets` would be lost. So the result of the provider's extractor is extended.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark import harmless

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage

_HOOKS, _AUTHOR = "get_hook_lineage", "extract_inlets_and_outlets"
"""Methods of the provider's manager."""

_MAY_BE_UNFINISHED = ("failed", "skipped")
"""States of a task whose work may be incomplete."""


def add_to_provider(_: TaskLineage) -> None:
    """Have the report of the captured task added to its last event; its other events are not changed."""
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    _extend(get_openlineage_listener().extractor_manager)
    TASK.is_added = True


@functools.cache
def _extend(manager: Any) -> None:
    """Replace a method of the provider's manager, once."""
    manager.extract_metadata = _extended(manager, manager.extract_metadata)


def _extended(manager: Any, extract: Callable[..., OperatorLineage]) -> Callable[..., OperatorLineage]:
    """Return a wrapper of `ExtractorManager.extract_metadata`, whose parameters differ between releases."""
    signature = inspect.signature(extract)

    @functools.wraps(extract)
    def extract_metadata(*args: Any, **kwargs: Any) -> OperatorLineage:
        ours = None
        with harmless("the lineage of this task could not be added to its event"):
            arguments = signature.bind(*args, **kwargs).arguments
            state, task_instance = arguments["task_instance_state"], arguments.get("task_instance")
            report = TASK.report_of(task_instance) if task_instance is not None else None
            if report is not None and TASK.is_added and state != "running":
                from airflow_provider_spark_lineage.airflow.task.annotation import annotated
                from airflow_provider_spark_lineage.airflow.task.answers import merged, reported
                from airflow_provider_spark_lineage.airflow.task.provider import is_skipped, send_valid_json

                send_valid_json()
                failed = state in _MAY_BE_UNFINISHED or is_skipped(task_instance)
                ours = reported(report, failed=failed)
        if ours is None:
            return extract(*args, **kwargs)
        with _questions(manager, asks_author=not (ours.inputs or ours.outputs)) as calls:
            theirs = extract(*args, **kwargs)
        with harmless("the lineage of this task could not be added to its event"):
            hooks = _HOOKS not in calls
            ours = annotated(ours, arguments["task"], task_instance, failed=failed, hooks=hooks)
            return merged(ours, theirs)
        return theirs

    return extract_metadata


@contextmanager
def _questions(manager: Any, *, asks_author: bool) -> Iterator[list[str]]:
    """Observe and limit the questions of the provider's manager during one extraction; yield them.

    If Spark read or wrote something, `annotation` adds inlets and outlets by its own rules, so the manager
    must not add them. The manager asks hooks only if an extractor names no dataset.
    """
    calls: list[str] = []
    replaced = {name: vars(manager)[name] for name in (_HOOKS, _AUTHOR) if name in vars(manager)}
    get_hook_lineage = getattr(manager, _HOOKS)

    def ask_hooks(*args: Any, **kwargs: Any) -> Any:
        calls.append(_HOOKS)
        return get_hook_lineage(*args, **kwargs)

    setattr(manager, _HOOKS, ask_hooks)
    if not asks_author:
        setattr(manager, _AUTHOR, lambda *_, **__: None)
    try:
        yield calls
    finally:
        for name in (_HOOKS, _AUTHOR):
            vars(manager).pop(name, None)
        vars(manager).update(replaced)
