"""Traces of watching pyspark's methods in the program that calls them."""

from __future__ import annotations

import gc
import logging
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from airflow_provider_spark_lineage.spark.capture.hooks import Hooks
from airflow_provider_spark_lineage.spark.capture.unlogged import is_of_program
from airflow_provider_spark_lineage.spark.capture.watched import WatchedCall

pyspark = pytest.importorskip("pyspark")


class Watcher:
    """Counts the calls, and may be interrupted during one."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.told: list[bool] = []
        """Of each call whether it had ended."""
        self.interrupted = False
        self.logged = True
        """True if py4j's debug log showed requests during the call."""

    def called(self, call: WatchedCall) -> None:
        talk = logging.LogRecord("py4j", logging.DEBUG, "", 1, "Answer received: %s", (), None)
        self.logged = is_of_program(talk)
        self.told.append(call.ended is not None)
        if self.interrupted and call.ended is not None:
            raise KeyboardInterrupt


class RefusedError(Exception):
    pass


class Rdd:
    """Stands in for an RDD: pyspark's `count` asks it first of all for this."""

    def mapPartitions(self, function: Any) -> Any:  # noqa: N802  pyspark's name
        raise RefusedError


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    hooks, watcher = Hooks(), Watcher()
    hooks.add(watcher)
    yield watcher
    hooks.remove(watcher)


def test_an_interrupt_during_a_call_hides_no_later_call(watcher: Watcher) -> None:
    watcher.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        pyspark.RDD.count(Rdd())
    watcher.interrupted = False
    with pytest.raises(RefusedError):
        pyspark.RDD.count(Rdd())
    assert watcher.told == [False, True, False, True]


def test_an_error_that_passed_through_is_freed_as_soon_as_the_program_forgets_it(watcher: Watcher) -> None:
    """Its traceback holds the program's data; a cycle would keep them until the collector comes."""
    gc.disable()
    try:
        subject = Rdd()
        held = weakref.ref(subject)
        with pytest.raises(RefusedError):
            pyspark.RDD.count(subject)
        del subject
        assert held() is None
    finally:
        gc.enable()


def test_questions_about_a_call_stay_out_of_py4js_log(watcher: Watcher) -> None:
    """Answers have paths and settings, perhaps with credentials; the user's own calls are shown as ever."""
    with pytest.raises(RefusedError):
        pyspark.RDD.count(Rdd())
    assert not watcher.logged


def test_hooks_leave_pyspark_as_it_was() -> None:
    before = dict(vars(pyspark.RDD))
    hooks, watcher = Hooks(), Watcher()
    hooks.add(watcher)
    assert vars(pyspark.RDD)["count"] is not before["count"]
    hooks.remove(watcher)
    assert dict(vars(pyspark.RDD)) == before
