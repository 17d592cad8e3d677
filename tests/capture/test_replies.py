"""Long answers of a peer that writes as the JVM does, over a real TCP connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from time import perf_counter
from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage.capture.replies import prompt_replies

PART = 8192
"""What Java's encoder writes at a time."""

ANSWER = b"x" * (2 * PART) + b"\n"
DELAY = 0.02
"""Half of the shortest time that Linux delays an acknowledgement, in seconds."""

QUESTIONS = 20
LINUX = pytest.mark.skipif(
    not hasattr(socket, "TCP_QUICKACK"), reason="only Linux can be told to acknowledge at once"
)


@pytest.fixture
def gateway() -> Iterator[SimpleNamespace]:
    """What py4j has of a connection, with a peer that answers each line by a long one, part by part."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as peer:
                for _ in peer.makefile("rb"):
                    for start in range(0, len(ANSWER), PART):
                        peer.sendall(ANSWER[start : start + PART])

        peer = threading.Thread(target=answer)
        peer.start()
        with socket.create_connection(server.getsockname()) as client, client.makefile("rb") as stream:
            connection = SimpleNamespace(socket=client, stream=stream)
            yield SimpleNamespace(_gateway_client=SimpleNamespace(get_thread_connection=lambda: connection))
            client.shutdown(socket.SHUT_WR)
        peer.join()


def quickest(gateway: SimpleNamespace) -> float:
    """Ask several times; return the least time to a whole answer: a busy machine only adds to it."""
    connection = gateway._gateway_client.get_thread_connection()
    times = []
    for _ in range(QUESTIONS):
        began = perf_counter()
        connection.socket.sendall(b"?\n")
        assert connection.stream.readline() == ANSWER
        times.append(perf_counter() - began)
    return min(times[1:])


@LINUX
def test_a_long_answer_does_not_wait_for_a_delayed_acknowledgement(gateway: SimpleNamespace) -> None:
    """Each execution has two, and would hold up the one thread that serves all listeners for 80 ms."""
    with prompt_replies(gateway):
        assert quickest(gateway) < DELAY


@LINUX
def test_the_connection_is_left_as_it_was(gateway: SimpleNamespace) -> None:
    """A callback of the user's comes over the same connection later."""
    connection = gateway._gateway_client.get_thread_connection()
    before = connection.stream
    with prompt_replies(gateway):
        assert connection.stream is not before
    assert connection.stream is before


@pytest.mark.parametrize(
    "client", [SimpleNamespace(), SimpleNamespace(get_thread_connection=lambda: None)], ids=["older", "other"]
)
def test_a_client_without_a_connection_per_thread_is_left_alone(client: SimpleNamespace) -> None:
    """PySpark without pinned threads has other connections: slower, and as good."""
    with prompt_replies(SimpleNamespace(_gateway_client=client)):
        pass
