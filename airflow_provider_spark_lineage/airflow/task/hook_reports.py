"""Datasets that Airflow's hooks report in one task, read by the OpenLineage provider's own code.

Hooks report to one collector for a whole process, and `dag.test()` runs several tasks in one process:
reports of earlier tasks are left out.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_COUNTS = {"_inputs": "_input_counts", "_outputs": "_output_counts", "_extra": "_extra_counts"}
"""Attribute of the collector with reports by key -> attribute with the number of reports by key."""

Reported = Mapping[str, Mapping[str, int]]
"""Attribute of the collector -> key -> number of reports."""


def reported_so_far() -> Reported:
    """Return the numbers of hooks' reports in this process.

    The collector is not created for that: it would import the asset handlers of all providers.
    """
    collector = _collector()
    return {name: dict(getattr(collector, counts, {})) for name, counts in _COUNTS.items()}


def hook_datasets(
    task_instance: Any, *, failed: bool, before: Reported | None = None
) -> tuple[list[Any], list[Any]]:
    """Return the inputs and outputs of hooks; the provider itself sends events of their SQL.

    `before` has the numbers of reports from when the task began.
    """
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.airflow.task.provider import emission_policy, is_skipped

    policy = emission_policy(task_instance)
    if policy is not None and not policy.hook_lineage:
        return [], []
    ask = get_openlineage_listener().extractor_manager.get_hook_lineage
    # If the task skipped itself, its statements did not fail.
    arguments = (task_instance, "failed" if failed and not is_skipped(task_instance) else "success")
    with _since(before or {}) as is_any:
        # In provider 2.9, it takes no arguments and returns a tuple.
        collected = ask(*arguments[: len(inspect.signature(ask).parameters)]) if is_any else None
    if collected is None:
        return [], []
    if isinstance(collected, tuple):
        return [*collected[0]], [*collected[1]]
    return collected.inputs, collected.outputs


@contextmanager
def _since(before: Reported) -> Iterator[bool]:
    """Hide reports from before in the collector; yield whether there are newer ones."""
    collector = _collector()
    all_reports = {name: getattr(collector, name) for name in _COUNTS if hasattr(collector, name)}
    try:
        for name, reports in all_reports.items():
            counts, earlier = getattr(collector, _COUNTS[name], {}), before.get(name, {})
            new = {key: each for key, each in reports.items() if counts.get(key, 1) > earlier.get(key, 0)}
            setattr(collector, name, new)
        yield any(getattr(collector, name) for name in all_reports)
    finally:
        for name, reports in all_reports.items():
            setattr(collector, name, reports)


def _collector() -> Any:
    """Return the hook collector of this process; None if no hook has created it."""
    current = getattr(sys.modules.get("airflow.sdk.lineage"), "get_hook_lineage_collector", None)
    if current is not None:
        return current() if current.cache_info().currsize else None
    # Before Airflow 3.2, it is a global variable.
    return getattr(sys.modules.get("airflow.lineage.hook"), "_hook_lineage_collector", None)
