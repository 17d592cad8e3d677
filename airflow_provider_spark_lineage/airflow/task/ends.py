"""Ends of a task that operators raise as exceptions although the task did not fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from airflow.exceptions import AirflowRescheduleException
from airflow.providers.common.compat.sdk import DownstreamTasksSkipped, TaskDeferred


@contextmanager
def succeeding(succeed: Callable[[], None]) -> Iterator[None]:
    """Call `succeed` if the block ends with an exception that means success.

    `@task.branch` and `@task.short_circuit` raise it when they skip tasks; Airflow does not call
    `post_execute` then.
    """
    try:
        yield
    except DownstreamTasksSkipped:
        succeed()
        raise


@contextmanager
def pausing(pause: Callable[[], None]) -> Iterator[None]:
    """Call `pause` if the task defers or reschedules itself: it continues later, in another process."""
    try:
        yield
    except (TaskDeferred, AirflowRescheduleException):
        pause()
        raise
