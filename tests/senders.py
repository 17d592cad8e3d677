"""Makes the sender of a task's events of executions with a real transport, and reads what it lost."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from servers.backend import Backend
from shop_events import TASKS

from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.spark.runs.sender import Sender

EXECUTIONS = 5
EVENTS = 2 * EXECUTIONS
TIMEOUT_S = 0.5
SLACK_S = 20
"""For a machine that does other things too."""

Start = Callable[[dict[str, Any]], Sender]


@contextmanager
def senders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Yield the function that makes the sender of a task with a transport, given as in `airflow.cfg`."""
    from airflow.providers.openlineage import conf

    options = [value for value in vars(conf).values() if hasattr(value, "cache_clear")]

    def forget() -> None:
        for cached in (*options, provider._client, provider._adapter):
            cached.cache_clear()

    def started(transport: dict[str, Any]) -> Sender:
        monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", json.dumps(transport))
        forget()
        return Sender(TASKS["revenue"].identity, provider.emit, wait_until_sent=provider.wait_until_sent)

    try:
        yield started
    finally:
        if provider._client.cache_info().currsize:
            provider._client().close(0)
        for thread in threading.enumerate():
            if thread.name == "spark-lineage-events":
                thread.join(SLACK_S)
        monkeypatch.undo()
        forget()


def put(sender: Sender, count: int = EXECUTIONS) -> float:
    """Hand some executions to a sender; return the seconds that this took."""
    *_, execution = TASKS["revenue"].executions
    began = time.monotonic()
    for _ in range(count):
        sender.put(execution)
    return time.monotonic() - began


def stop(sender: Sender, timeout_seconds: float) -> float:
    """Stop a sender, as the task does at its end; return the seconds that this took."""
    began = time.monotonic()
    sender.stop(timeout_seconds)
    return time.monotonic() - began


def lost(caplog: pytest.LogCaptureFixture) -> int:
    """Return the number in the only warning of ours; 0 without a warning."""
    ours = [
        entry.getMessage()
        for entry in caplog.records
        if entry.name.startswith("airflow_provider_spark_lineage") and entry.levelno >= logging.WARNING
    ]
    assert len(ours) <= 1, ours
    return int(re.findall(r"(\d+) events of executions were not sent", ours[0])[0]) if ours else 0


def http(backend: Backend, kind: str = "http") -> dict[str, Any]:
    return {"type": kind, "url": backend.url, "retry": {"total": 1, "backoff_factor": 0.01}, "timeout": 30}
