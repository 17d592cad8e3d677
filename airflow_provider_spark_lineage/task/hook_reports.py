"""What Airflow's hooks report in one task, read by the OpenLineage provider's own code.

Hooks report to one collector for a whole process, and `dag.test()` runs several tasks in one: what earlier
tasks reported is left out.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_COUNTS = {"_inputs": "_input_counts", "_outputs": "_output_counts", "_extra": "_extra_counts"}
"""What the collector keeps, by its own keys -> how often each of them was reported."""

Reported = Mapping[str, Mapping[str, int]]
"""Attribute of the collector -> key -> how often."""


def reported_so_far() -> Reported:
    """Return what hooks have reported in this process; nothing where none has.

    The collector is not created for that: it would import the asset handlers of all providers.
    """
    collector = _collector()
    return {kept: dict(getattr(collector, counts, {})) for kept, counts in _COUNTS.items()}


def hook_datasets(
    task_instance: Any, *, failed: bool, before: Reported | None = None
) -> tuple[list[Any], list[Any]]:
    """Return the inputs and outputs of hooks; the provider sends events of their SQL by itself.

    `before` is what hooks had reported when the task began.
    """
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.task.provider import emission_policy, is_skipped

    policy = emission_policy(task_instance)
    if policy is not None and not policy.hook_lineage:
        return [], []
    ask = get_openlineage_listener().extractor_manager.get_hook_lineage
    # Statements of a task that skipped itself did not fail.
    arguments = (task_instance, "failed" if failed and not is_skipped(task_instance) else "success")
    with _since(before or {}) as is_any:
        # The provider's 2.9 takes no arguments, and returns a tuple.
        collected = ask(*arguments[: len(inspect.signature(ask).parameters)]) if is_any else None
    if collected is None:
        return [], []
    if isinstance(collected, tuple):
        return [*collected[0]], [*collected[1]]
    return collected.inputs, collected.outputs


@contextmanager
def _since(before: Reported) -> Iterator[bool]:
    """Have the collector show only what was reported since; yield whether there is anything."""
    collector = _collector()
    kept = {name: getattr(collector, name) for name in _COUNTS if hasattr(collector, name)}
    try:
        for name, reports in kept.items():
            counts, earlier = getattr(collector, _COUNTS[name], {}), before.get(name, {})
            new = {key: each for key, each in reports.items() if counts.get(key, 1) > earlier.get(key, 0)}
            setattr(collector, name, new)
        yield any(getattr(collector, name) for name in kept)
    finally:
        for name, reports in kept.items():
            setattr(collector, name, reports)


def _collector() -> Any:
    """Return the collector of this process; None where no hook has asked for it."""
    current = getattr(sys.modules.get("airflow.sdk.lineage"), "get_hook_lineage_collector", None)
    if current is not None:
        return current() if current.cache_info().currsize else None
    # Before Airflow 3.2 it is a global variable.
    return getattr(sys.modules.get("airflow.lineage.hook"), "_hook_lineage_collector", None)
