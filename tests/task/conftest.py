"""OpenLineage as a task finds it: with a transport, and with a backend that keeps the events."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from started_tasks import Backend

from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.airflow.task.process import TASK


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Backend]:
    monkeypatch.setattr(TASK, "capture", None)
    before = set(threading.enumerate())
    backend = Backend()
    monkeypatch.setattr(provider, "_adapter", lambda: backend)
    yield backend
    backend.woken.set()
    # A thread that nobody waits for any more would write its warnings into the log of the next test.
    for thread in set(threading.enumerate()) - before:
        thread.join(30)


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenLineage has a transport, and has not read its options yet."""
    from airflow.providers.openlineage import conf

    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", '{"type": "console"}')
    caches = [value for value in vars(conf).values() if hasattr(value, "cache_clear")]
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()
