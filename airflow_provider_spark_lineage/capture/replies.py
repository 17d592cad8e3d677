"""Keeps the JVM's long answers from waiting for each other: py4j's connections are not made for them.

The JVM writes an answer of more than 8,192 characters in several packets and holds the second back until the
first is acknowledged (Nagle's algorithm), which Linux delays by 40 ms (delayed acknowledgement). A plan and
its counters are two such answers for each execution.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any, Iterator

_ACKNOWLEDGE_AT_ONCE = getattr(socket, "TCP_QUICKACK", None)
"""An option that only Linux has, and that it forgets with the next packet."""


class _PromptStream:
    """A connection's stream that has what it reads acknowledged at once."""

    def __init__(self, stream: Any, connected: Any) -> None:
        self._stream = stream
        self._socket = connected

    def readline(self) -> Any:
        self._socket.setsockopt(socket.IPPROTO_TCP, _ACKNOWLEDGE_AT_ONCE, 1)
        return self._stream.readline()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def prompt_replies(gateway: Any) -> Iterator[None]:
    """Have this thread's answers from the JVM acknowledged at once inside the block."""
    connection: Any = getattr(gateway._gateway_client, "get_thread_connection", lambda: None)()
    stream = getattr(connection, "stream", None)
    if _ACKNOWLEDGE_AT_ONCE is None or stream is None:
        yield
        return
    connection.stream = _PromptStream(stream, connection.socket)
    try:
        yield
    finally:
        # A connection that broke meanwhile has none.
        if connection.stream is not None:
            connection.stream = stream
