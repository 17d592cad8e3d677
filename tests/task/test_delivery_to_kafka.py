"""Events of executions by OpenLineage's transport for Kafka: to a broker, to one that goes away, and to none.

The rules are those of test_delivery.py. The transport has an option of its own: with `flush`, the default,
it waits for the broker after each event, otherwise the producer sends later, on a thread of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openlineage_client import needs_newest_client
from senders import EVENTS, EXECUTIONS, SLACK_S, TIMEOUT_S, Start, http, lost, put, senders, stop
from servers.backend import Backend
from servers.kafka import kafka
from servers.process import free_port

from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.openlineage.events.validation import problems_of

confluent_kafka = pytest.importorskip("confluent_kafka")

pytestmark = [pytest.mark.spark, pytest.mark.airflow, needs_newest_client]

both = pytest.mark.parametrize("flush", [True, False])

SECONDS = 120
"""For a topic to have the events; less than the 300 s for which a producer keeps them without a broker."""


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with kafka() as servers:
        yield servers


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    with senders(monkeypatch) as start:
        yield start
        # A thread that waits for a broker that is gone ends with this test.
        for transport in provider._transports_of(provider._client()):
            if transport.kind == "kafka":
                transport.producer.purge()


@pytest.fixture
def nobody() -> str:
    """The address of a broker that is not there."""
    return f"127.0.0.1:{free_port()}"


def to_kafka(servers: str, *, flush: bool = True, **settings: Any) -> dict[str, Any]:
    """Return a transport to a topic of its own."""
    config = {"bootstrap.servers": servers, **settings}
    return {"type": "kafka", "topic": f"lineage-{uuid.uuid4()}", "config": config, "flush": flush}


def messages_of(servers: str, transport: dict[str, Any], count: int) -> list[Any]:
    """Return all messages of a transport's topic, as soon as there are so many."""
    options = {"bootstrap.servers": servers, "group.id": "tests", "enable.partition.eof": True}
    consumer, at_end = confluent_kafka.Consumer(options), confluent_kafka.KafkaError._PARTITION_EOF
    messages: list[Any] = []
    deadline = time.monotonic() + SECONDS
    try:
        consumer.assign([confluent_kafka.TopicPartition(transport["topic"], 0, 0)])
        while time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is None:
                continue
            if message.error() is None:
                messages.append(message)
            elif message.error().code() == at_end and len(messages) >= count:
                return messages
    finally:
        consumer.close()
    pytest.fail(f"{len(messages)} events instead of {count}")


def check_taken(servers: str, transport: dict[str, Any], count: int) -> None:
    """Check that a topic has so many events, none twice, in the order of the task, and that all are valid."""
    messages = messages_of(servers, transport, count)
    events = [json.loads(message.value()) for message in messages]
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"] * (count // 2)
    runs = [event["run"]["runId"] for event in events]
    assert runs[::2] == runs[1::2]
    assert len(set(runs)) == count // 2
    assert len({message.key() for message in messages}) == 1
    assert [problem for event in events for problem in problems_of(event)] == []


@both
def test_every_event_is_taken_once(
    start: Start, caplog: pytest.LogCaptureFixture, servers: str, flush: bool
) -> None:
    """In their order, with the key that puts the events of a DAG run into one partition."""
    transport = to_kafka(servers, flush=flush)
    sender = start(transport)
    put(sender)
    stop(sender, SLACK_S)
    check_taken(servers, transport, EVENTS)
    assert lost(caplog) == 0


@both
def test_a_broker_that_is_not_there_costs_events_only(
    start: Start, caplog: pytest.LogCaptureFixture, nobody: str, flush: bool
) -> None:
    """Each event is counted once: also the one for which the transport still waits."""
    sender = start(to_kafka(nobody, flush=flush))
    assert put(sender) < SLACK_S
    assert stop(sender, TIMEOUT_S) < TIMEOUT_S + SLACK_S
    assert lost(caplog) == EVENTS


@both
def test_events_that_the_producer_gives_up_are_counted(
    start: Start, caplog: pytest.LogCaptureFixture, nobody: str, flush: bool
) -> None:
    """The transport only logs them, and the task does not wait longer than for that."""
    sender = start(to_kafka(nobody, flush=flush, **{"message.timeout.ms": 50}))
    put(sender, 1)
    assert stop(sender, SECONDS) < SLACK_S
    assert lost(caplog) == 2


@both
def test_a_broker_that_goes_away_costs_the_events_after_that(
    start: Start, caplog: pytest.LogCaptureFixture, flush: bool
) -> None:
    """Those before are in the topic, and are not counted."""
    with kafka() as servers:
        transport = to_kafka(servers, flush=flush)
        sender = start(transport)
        put(sender, 3)
        check_taken(servers, transport, 6)
    assert put(sender, EXECUTIONS - 3) < SLACK_S
    assert stop(sender, TIMEOUT_S) < TIMEOUT_S + SLACK_S
    assert lost(caplog) == EVENTS - 6


def test_reports_of_events_do_not_fill_the_queue_of_the_producer(
    start: Start, caplog: pytest.LogCaptureFixture, servers: str
) -> None:
    """Without `flush`, a task may send more events than the queue holds."""
    transport = to_kafka(servers, flush=False, **{"queue.buffering.max.messages": EVENTS - 2})
    sender = start(transport)
    for number in range(1, EXECUTIONS + 1):
        put(sender, 1)
        check_taken(servers, transport, 2 * number)
    stop(sender, SLACK_S)
    assert lost(caplog) == 0


@both
def test_kafka_and_http_get_the_same_events(
    start: Start, caplog: pytest.LogCaptureFixture, servers: str, flush: bool
) -> None:
    """Each event once."""
    transport = to_kafka(servers, flush=flush)
    with Backend() as backend:
        sender = start({"type": "composite", "transports": [transport, http(backend)]})
        put(sender)
        stop(sender, SLACK_S)
        assert len(set(backend.names())) == len(backend.taken) == EVENTS
    check_taken(servers, transport, EVENTS)
    assert lost(caplog) == 0


def test_kafka_is_enough_if_http_refuses_events(
    start: Start, caplog: pytest.LogCaptureFixture, servers: str
) -> None:
    """`composite`: an event is lost if no backend took it."""
    transport = to_kafka(servers)
    with Backend("errors") as backend:
        sender = start({"type": "composite", "transports": [http(backend), transport]})
        put(sender)
        stop(sender, SLACK_S)
    check_taken(servers, transport, EVENTS)
    assert lost(caplog) == 0


@pytest.mark.parametrize("continue_on_success", [True, False])
def test_http_is_enough_if_kafka_is_not_there(
    start: Start, caplog: pytest.LogCaptureFixture, nobody: str, continue_on_success: bool
) -> None:
    """`composite` learns that Kafka did not take an event, and asks the next transport."""
    transports = [to_kafka(nobody, **{"message.timeout.ms": 50})]
    with Backend() as backend:
        transports.append(http(backend))
        kind = {"type": "composite", "continue_on_success": continue_on_success}
        sender = start({**kind, "transports": transports})
        put(sender, 1)
        assert stop(sender, SECONDS) < SLACK_S
        assert len(backend.taken) == 2
    assert lost(caplog) == 0


def test_an_event_that_several_transports_lose_is_counted_once(
    start: Start, caplog: pytest.LogCaptureFixture, nobody: str
) -> None:
    """Each of them counts for itself: the warning has no more events than there are."""
    transports = [to_kafka(nobody, flush=False), to_kafka(nobody, flush=False)]
    sender = start({"type": "composite", "transports": transports})
    put(sender)
    assert stop(sender, TIMEOUT_S) < 2 * TIMEOUT_S + SLACK_S
    assert lost(caplog) == EVENTS


TASK = """
from senders import put
from shop_events import TASKS
from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.spark.runs.sender import Sender

task = TASKS["revenue"]
sender = Sender(task.identity, provider.emit, wait_until_sent=provider.wait_until_sent)
put(sender)
sender.stop({seconds})
"""

FORKED = """
import os
from airflow.providers.openlineage.plugins.listener import get_openlineage_listener
from airflow_provider_spark_lineage.spark.facets.events import EventFacets, task_event

if not os.fork():
    event = task_event("OTHER", task.identity, EventFacets({{}}, {{}}), [], [])
    get_openlineage_listener().adapter.emit(event)
    os._exit(0)
assert os.wait()[1] == 0
"""

KILLED = """
import os
from airflow_provider_spark_lineage.spark.runs.captured import Captured
from airflow_provider_spark_lineage.airflow.task import task_lineage
from task_instances import instance

# On a busy machine, the imports of a new process alone may take the 4 seconds.
task_lineage.KILL_TIMEOUT_SECONDS = {seconds}
task_lineage.TaskLineage(Captured()).on_kill(instance())
os._exit(0)
"""


def run_process(program: str, transport: dict[str, Any], seconds: float = SLACK_S) -> None:
    """Run a program with a transport; raise an error if it fails, or does not end."""
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join(map(str, (root, root / "tests")))
    options = {"PYTHONPATH": path, "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport)}
    command = [sys.executable, "-c", program.format(seconds=seconds)]
    subprocess.run(command, env={**os.environ, **options}, timeout=SECONDS, check=True)


@both
def test_a_process_ends_without_a_broker(nobody: str, flush: bool) -> None:
    """Neither the transport's thread nor the producer keeps it for the 300 s of `message.timeout.ms`."""
    run_process(TASK, to_kafka(nobody, flush=flush), TIMEOUT_S)


@both
def test_a_task_that_is_told_to_stop_sends_its_event_before_it_ends(servers: str, flush: bool) -> None:
    """Airflow kills the process soon after."""
    transport = to_kafka(servers, flush=flush)
    run_process(KILLED, transport, SECONDS / 2)
    (message,) = messages_of(servers, transport, 1)
    assert json.loads(message.value())["eventType"] == "OTHER"


def test_the_listener_sends_by_a_producer_of_its_own(servers: str) -> None:
    """Airflow's provider sends the task's own events in forked children, where ours has no threads."""
    transport = to_kafka(servers)
    run_process(TASK + FORKED, transport)
    messages = messages_of(servers, transport, EVENTS + 1)
    states = [json.loads(message.value())["eventType"] for message in messages]
    assert states == [*["START", "COMPLETE"] * EXECUTIONS, "OTHER"]
