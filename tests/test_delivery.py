"""Events of executions by real transports of OpenLineage's client, to backends that fail in every way.

The task is held for `emit_timeout_seconds` at most, one warning has the number of events that are lost, and
no event is taken twice. There is no test of Kafka: its client is not installed.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from openlineage.client.transport import Config, Transport
from openlineage_client import needs_newest_client
from servers.backend import Backend, Mode
from shop_events import TASKS
from test_task import instance

from airflow_provider_spark_lineage.runs.captured import Captured
from airflow_provider_spark_lineage.task import provider, task_lineage
from airflow_provider_spark_lineage.task.sender import Sender

pytestmark = [pytest.mark.airflow, needs_newest_client]

EXECUTIONS = 5
EVENTS = 2 * EXECUTIONS
TIMEOUT_S = 0.5
SLACK_S = 20
"""For a machine that does other things too."""

Start = Callable[[dict[str, Any]], Sender]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Return the function that makes the sender of a task with a transport, given as in `airflow.cfg`."""
    from airflow.providers.openlineage import conf

    options = [value for value in vars(conf).values() if hasattr(value, "cache_clear")]

    def forget() -> None:
        for cached in (*options, provider._client, provider._adapter):
            cached.cache_clear()

    def started(transport: dict[str, Any]) -> Sender:
        monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", json.dumps(transport))
        forget()
        return Sender(TASKS["revenue"].identity, provider.emit, wait_until_sent=provider.wait_until_sent)

    yield started
    if provider._client.cache_info().currsize:
        provider._client().close(0)
    for thread in threading.enumerate():
        if thread.name == "spark-lineage-events":
            thread.join(SLACK_S)
    monkeypatch.undo()
    forget()


def http(backend: Backend, kind: str = "http") -> dict[str, Any]:
    return {"type": kind, "url": backend.url, "retry": {"total": 1, "backoff_factor": 0.01}, "timeout": 30}


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


def check_taken(backend: Backend, count: int) -> None:
    """Check that a backend took so many events, none twice, and that all are valid."""
    names = backend.names()
    assert len(names) == len(set(names)) == count
    assert backend.problems == []


@pytest.mark.parametrize("kind", ["http", "async_http"])
def test_every_event_is_taken_once(start: Start, caplog: pytest.LogCaptureFixture, kind: str) -> None:
    """Also by a transport that sends on a thread of its own: the process ends soon after the task."""
    with Backend() as backend:
        sender = start(http(backend, kind))
        put(sender)
        stop(sender, SLACK_S)
        check_taken(backend, EVENTS)
    assert lost(caplog) == 0


def test_a_task_that_is_told_to_stop_sends_its_event_before_it_ends(start: Start) -> None:
    """Also by a transport with a thread of its own, which ends with the process."""
    with Backend() as backend:
        start(http(backend, "async_http"))
        task_lineage.TaskLineage(Captured()).on_kill(instance())
        assert [state for _, state in backend.names()] == ["OTHER"]


@pytest.mark.parametrize("kind", ["http", "async_http"])
@pytest.mark.parametrize("mode", ["hangs", "errors", "drops", "goes away"])
def test_a_failing_backend_costs_events_only(
    start: Start, caplog: pytest.LogCaptureFixture, mode: Mode, kind: str
) -> None:
    """From the fourth request on: the events before are taken, the number of the others is in one warning."""
    with Backend(mode, after=3) as backend:
        sender = start(http(backend, kind))
        assert put(sender) < SLACK_S
        backend.wait_until_seen(4)
        assert stop(sender, TIMEOUT_S) < TIMEOUT_S + SLACK_S
        check_taken(backend, 3)
    assert lost(caplog) == EVENTS - 3


def test_a_backend_that_is_not_there_costs_events_only(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody listens at the address."""
    with Backend() as backend:
        pass
    sender = start(http(backend))
    assert put(sender) < SLACK_S
    assert stop(sender, TIMEOUT_S) < TIMEOUT_S + SLACK_S
    assert lost(caplog) == EVENTS


def test_a_backend_that_recovers_gets_the_events_after_that(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    """A refused event is neither repeated later nor counted as sent."""
    with Backend("errors") as backend:
        sender = start(http(backend))
        put(sender, 1)
        backend.wait_until_seen(4)  # two events, each tried twice
        backend.mode = "takes"
        put(sender)
        stop(sender, SLACK_S)
        check_taken(backend, EVENTS)
    assert lost(caplog) == 2


def test_executions_beyond_the_queue_are_counted(
    start: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue is bounded: a slow backend takes no more memory of the task."""
    monkeypatch.setattr(Sender, "MAX_WAITING", 3)
    with Backend("hangs") as backend:
        sender = start(http(backend))
        assert put(sender, 50) < SLACK_S
        assert stop(sender, TIMEOUT_S) < TIMEOUT_S + SLACK_S
        check_taken(backend, 0)
    assert lost(caplog) == 100


@pytest.mark.parametrize(("modes", "count"), [(("takes", "errors"), 0), (("errors", "drops"), EVENTS)])
def test_one_of_several_backends_is_enough(
    start: Start, caplog: pytest.LogCaptureFixture, modes: tuple[Mode, Mode], count: int
) -> None:
    """`composite`: an event is lost if no backend took it."""
    with Backend(modes[0]) as first, Backend(modes[1]) as second:
        transports = {"first": http(first), "second": http(second)}
        sender = start({"type": "composite", "transports": transports, "continue_on_failure": True})
        put(sender)
        stop(sender, SLACK_S)
        check_taken(first, EVENTS - count)
        check_taken(second, 0)
    assert lost(caplog) == count


def test_a_thread_inside_of_composite_is_waited_for(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    """`composite` hides the transport that sends later."""
    with Backend() as backend:
        sender = start({"type": "composite", "transports": [http(backend, "async_http")]})
        put(sender)
        stop(sender, SLACK_S)
        check_taken(backend, EVENTS)
    assert lost(caplog) == 0


def test_a_transport_that_cannot_be_created_is_one_warning(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    """Without the package of a transport, it is not tried again for each event."""
    sender = start({"type": "http"})
    assert put(sender) < SLACK_S
    assert stop(sender, TIMEOUT_S) < TIMEOUT_S + SLACK_S
    ours = [entry for entry in caplog.records if entry.name.startswith("airflow_provider_spark_lineage")]
    messages = [entry.getMessage() for entry in ours if entry.levelno >= logging.WARNING]
    assert len(messages) == 2
    assert "transport could not be created" in messages[0]
    assert f"{EVENTS} events of executions were not sent" in messages[1]


class Flushed(Transport):
    """A transport that waits for its backend and does not count, as OpenLineage's for Kafka."""

    kind = "flushed"
    config_class = Config
    is_done = True

    def __init__(self, config: Config) -> None:
        pass

    def emit(self, event: Any) -> None:
        pass

    def wait_for_completion(self, timeout: float = -1) -> bool:
        return self.is_done


@pytest.mark.parametrize("is_done", [True, False])
def test_a_transport_that_does_not_count_is_waited_for(start, caplog, monkeypatch, is_done):
    """Events that the backend has not taken in time are a loss, of an unknown number: one at least."""
    monkeypatch.setattr(Flushed, "is_done", is_done)
    sender = start({"type": f"{__name__}.Flushed"})
    put(sender)
    with caplog.at_level(logging.WARNING):
        sender.stop(SLACK_S)
    assert lost(caplog) == (0 if is_done else 1)
