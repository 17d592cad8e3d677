"""A session is noticed whichever way it comes, once, and nothing of pyspark is imported or left replaced."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest
from pyspark import SparkContext

from airflow_provider_spark_lineage.spark.capture.arrival import Arrival
from airflow_provider_spark_lineage.spark.capture.imports import imports


@pytest.fixture
def arrived() -> list[str]:
    return []


@pytest.fixture
def arrival(arrived: list[str]) -> Iterator[Arrival]:
    arrival = Arrival(lambda: arrived.append("Spark"))
    yield arrival
    arrival.disarm()


def test_a_context_that_cannot_be_created_is_none(arrival, arrived, monkeypatch):
    """The function may try again: the second context is noticed, the third is not the first any more."""
    errors: list[Exception | None] = [RuntimeError("no Java"), None, None]

    def create(context: object) -> None:
        error = errors.pop(0)
        if error is not None:
            raise error

    monkeypatch.setattr(SparkContext, "_do_init", create)
    arrival.arm()
    with pytest.raises(RuntimeError, match="no Java"):
        SparkContext._do_init(object())
    assert arrived == []
    SparkContext._do_init(object())
    SparkContext._do_init(object())
    assert arrived == ["Spark"]
    arrival.disarm()
    assert SparkContext._do_init is create


def test_a_context_that_exists_is_noticed_at_once(arrival, arrived, monkeypatch):
    """In `dag.test()` a task may use the session of the task before it."""
    running = type("Context", (), {"_jsc": object()})()
    monkeypatch.setattr(SparkContext, "_active_spark_context", running)
    arrival.arm()
    assert arrived == ["Spark"]


def test_a_forked_child_does_not_capture(arrival, arrived, monkeypatch):
    """Lineage of a child's work on Spark would be lost with the child."""
    monkeypatch.setattr(SparkContext, "_do_init", lambda context: None)
    arrival.arm()
    child = os.fork()
    if child == 0:
        SparkContext._do_init(object())
        os._exit(len(arrived))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_failure_does_not_reach_the_session(monkeypatch):
    """The user's code gets its context, whatever becomes of the lineage."""

    def fails() -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(SparkContext, "_do_init", lambda context: None)
    arrival = Arrival(fails)
    arrival.arm()
    SparkContext._do_init(object())
    arrival.disarm()


IMPORTS = """
    import os, sys
    from airflow_provider_spark_lineage.spark.capture.arrival import CLASSIC, CONNECT, Arrival
    from airflow_provider_spark_lineage.spark.capture.imports import imports

    first = Arrival(lambda: print("first"))
    first.arm()
    second = Arrival(lambda: print("second"))
    second.arm()
    assert CLASSIC not in sys.modules
    assert sys.meta_path.count(imports()) == 1
    import importlib.util
    assert importlib.util.find_spec("pyspark") is not None
    import pyspark
    assert "sql" not in vars(pyspark) or CONNECT not in sys.modules
    create = pyspark.SparkContext._do_init
    second.disarm()
    first.disarm()
    assert imports() not in sys.meta_path
    assert pyspark.SparkContext._do_init is not create
    assert not hasattr(pyspark.SparkContext._do_init, "__wrapped__")
    print("nothing left")
"""


def test_pyspark_is_not_imported_and_not_changed_for_good():
    """In a process of its own, because this one has imported it."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(IMPORTS)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "nothing left\n", done.stderr


def test_two_wait_for_one_module(tmp_path, monkeypatch):
    """Python asks one finder only: the second waiter must still get its module."""
    (tmp_path / "awaited_module.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen: list[str] = []

    def first() -> None:
        seen.append(f"one {sys.modules['awaited_module'].value}")
        raise RuntimeError("on purpose")

    def second() -> None:
        seen.append("two")

    imports().wait("awaited_module", first)
    imports().wait("awaited_module", second)
    import awaited_module  # type: ignore[import-not-found]  # noqa: F401

    assert seen == ["one 1", "two"]
    imports().forget("awaited_module", first)
    imports().forget("awaited_module", second)
    imports().forget("awaited_module", second)
    assert imports() not in sys.meta_path
