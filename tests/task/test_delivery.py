"""Events of executions by real transports of OpenLineage's client, to backends that fail in every way.

The task is held for `emit_timeout_seconds` at most, one warning has the number of events that are lost, and
no event is taken twice. Kafka has its own tests: test_delivery_to_kafka.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from openlineage.client.transport import Config, Transport
from openlineage_client import needs_newest_client
from senders import EVENTS, SLACK_S, TIMEOUT_S, Start, http, lost, put, senders, stop
from servers.backend import Backend, Mode
from task_instances import instance

from airflow_provider_spark_lineage.airflow.task import task_lineage
from airflow_provider_spark_lineage.spark.runs.captured import Captured
from airflow_provider_spark_lineage.spark.runs.sender import Sender

pytestmark = [pytest.mark.airflow, needs_newest_client]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    with senders(monkeypatch) as start:
        yield start


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
    """A transport of the user's own that waits for its backend and does not count."""

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
