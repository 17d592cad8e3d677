"""Properties that a new Spark context gets before its listeners read them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import pytest
from pyspark import SparkContext

from airflow_provider_spark_lineage.spark.capture.new_contexts import NewContexts


class Conf:
    """Stands in for a SparkConf of the JVM."""

    def __init__(self, **values: str) -> None:
        self.values = {f"spark.openlineage.{name}": value for name, value in values.items()}

    def getAllWithPrefix(self, prefix: str) -> list[SimpleNamespace]:  # noqa: N802  Spark's name
        names = [name for name in self.values if name.startswith(prefix)]
        return [SimpleNamespace(_1=lambda name=name: name.removeprefix(prefix)) for name in names]

    def clone(self) -> Conf:
        clone = Conf()
        clone.values = dict(self.values)
        return clone

    def set(self, name: str, value: str) -> None:
        self.values[name] = value


class RefusedError(Exception):
    pass


@pytest.fixture
def asked() -> list[Sequence[str]]:
    """The properties that each new context had."""
    return []


@pytest.fixture
def contexts(asked: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch) -> Iterator[NewContexts]:
    """Contexts that get one property; the JVM only returns their properties."""

    def create(context: object, conf: Conf | None) -> dict[str, str]:
        if conf is None:
            raise RefusedError
        return dict(conf.values)

    def added(present: Sequence[str]) -> dict[str, str]:
        asked.append(present)
        return {"spark.openlineage.parentRunId": "ours"}

    monkeypatch.setattr(SparkContext, "_initialize_context", create)
    contexts = NewContexts(added)
    contexts.arm()
    yield contexts
    contexts.disarm()
    assert SparkContext._initialize_context is create


@pytest.mark.usefixtures("contexts")
def test_a_context_has_the_properties_when_it_is_created(asked):
    """Its listeners read them once, before any code of ours sees the context; the user's names are known."""
    own = Conf(namespace="mine")
    assert SparkContext._initialize_context(object(), own) == {
        "spark.openlineage.namespace": "mine",
        "spark.openlineage.parentRunId": "ours",
    }
    # The user's object may make another context, of another task.
    assert own.values == {"spark.openlineage.namespace": "mine"}
    assert asked == [["spark.openlineage.namespace"]]


def test_a_failure_of_ours_creates_the_context_without_them(contexts, monkeypatch, caplog):
    """The user's job needs the context, and no property of ours."""
    monkeypatch.setattr(contexts, "_added", lambda _: 1 / 0)
    with caplog.at_level("WARNING"):
        assert SparkContext._initialize_context(object(), Conf()) == {}
    assert "This has no impact on the task" in caplog.text


@pytest.mark.usefixtures("contexts")
def test_an_error_of_spark_is_the_users():
    """It passes through as it was."""
    with pytest.raises(RefusedError):
        SparkContext._initialize_context(object(), None)


def test_a_forked_child_creates_contexts_of_its_own(contexts, asked, monkeypatch):
    """It is not the process of the task."""
    monkeypatch.setattr(contexts, "_process", os.getpid() + 1)
    assert SparkContext._initialize_context(object(), Conf()) == {}
    assert asked == []
