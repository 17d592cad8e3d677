"""The ends of a task that Airflow's operators raise as exceptions, and that are no failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def succeeding(succeed: Callable[[], None]) -> Iterator[None]:
    """Call `succeed` if the block ends a task with success by an exception.

    `@task.branch` and `@task.short_circuit` do that when they skip tasks; Airflow calls no `post_execute`
    then.
    """
    from airflow.providers.common.compat.sdk import DownstreamTasksSkipped

    try:
        yield
    except DownstreamTasksSkipped:
        succeed()
        raise


@contextmanager
def pausing(pause: Callable[[], None]) -> Iterator[None]:
    """Call `pause` if the block ends a task that goes on later, in another process."""
    from airflow.exceptions import AirflowRescheduleException
    from airflow.providers.common.compat.sdk import TaskDeferred

    try:
        yield
    except (TaskDeferred, AirflowRescheduleException):
        pause()
        raise
