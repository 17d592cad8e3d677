"""Adds the lineage of a task to the result of OpenLineage's own extractor.

The provider asks only one extractor for a class. If ours replaced its own, the source code of a function,
hook lineage, `inlets` and `outlets` would be lost. So the result of the provider's extractor is extended.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.guard import harmless
from airflow_provider_spark_lineage.task.process import TASK

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.task.task_lineage import TaskLineage

_MAY_BE_UNFINISHED = ("failed", "skipped")
"""States of a task whose work may be incomplete."""


def add_to_provider(lineage: TaskLineage) -> None:
    """Have a task's lineage added to its last event; its other events are not changed."""
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    _extend(get_openlineage_listener().extractor_manager)
    lineage.is_added = True


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
            lineage = TASK.lineage_of(task_instance) if task_instance is not None else None
            if lineage is not None and lineage.is_added and state != "running":
                has_failed = state in _MAY_BE_UNFINISHED
                ours = lineage.operator_lineage(has_failed)
        if ours is None:
            return extract(*args, **kwargs)
        questions = _Questions(manager, asks_author=not (ours.inputs or ours.outputs))
        with questions:
            theirs = extract(*args, **kwargs)
        with harmless("the lineage of this task could not be added to its event"):
            from airflow_provider_spark_lineage.task.answers import answer, merged

            hooks = not questions.asked_hooks
            task = arguments["task"]
            return merged(
                answer(task, lambda _: ours, task_instance, has_failed=has_failed, hooks=hooks), theirs
            )
        return theirs

    return extract_metadata


class _Questions:
    """Observes and limits what the provider's manager asks during one extraction.

    If Spark read or wrote something, `annotation` adds inlets and outlets by its own rules, so the manager
    must not add them. The manager asks hooks only if an extractor names no dataset; `asked_hooks` says so.
    """

    def __init__(self, manager: Any, *, asks_author: bool) -> None:
        self.asked_hooks = False
        self._manager = manager
        self._own = dict(vars(manager))
        self._asks_author = asks_author
        self._get_hook_lineage = manager.get_hook_lineage

    def __enter__(self) -> None:
        self._manager.get_hook_lineage = self._ask_hooks
        if not self._asks_author:
            self._manager.extract_inlets_and_outlets = lambda *_, **__: None

    def __exit__(self, *_: object) -> None:
        for name in ("get_hook_lineage", "extract_inlets_and_outlets"):
            if name in self._own:
                setattr(self._manager, name, self._own[name])
            else:
                vars(self._manager).pop(name, None)

    def _ask_hooks(self, *args: Any, **kwargs: Any) -> Any:
        self.asked_hooks = True
        return self._get_hook_lineage(*args, **kwargs)
