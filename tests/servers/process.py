"""Runs one server as a child process, from when it is ready until the end of a block."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import threading
from collections import deque
from collections.abc import Iterator

_SECONDS = 300
"""A machine that is busy with other tests takes its time."""

_SHARES = 8


_PORTS = range(20_000, 32_000)
"""Systems give these to no program that asks for any port: nothing takes one before its server does."""


_GIVEN: set[int] = set()
"""Ports that `free_port` has returned in this process."""


def free_port() -> int:
    """Return a port for a server; each worker of pytest has its own share of them, and gets each port once.

    A server with two ports could get one port twice otherwise: nothing listens there when it asks again.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    share = _PORTS[worker % _SHARES :: _SHARES]
    while True:
        port = random.SystemRandom().choice(share)
        if port in _GIVEN:
            continue
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            _GIVEN.add(port)
            return port


@contextlib.contextmanager
def running(
    command: list[str], ready: str, stop: signal.Signals = signal.SIGTERM, **options: object
) -> Iterator[subprocess.Popen[str]]:
    """Start a server, wait for the line that says it is ready, and end it after the block."""
    # Ctrl-C goes to the tests, which then end the server: it must not go before them.
    server = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **options,  # type: ignore[call-overload]
    )
    last: deque[str] = deque(maxlen=50)
    is_ready, has_answered = threading.Event(), threading.Event()

    def read() -> None:
        for line in server.stdout:
            last.append(line)
            if re.search(ready, line):
                is_ready.set()
                has_answered.set()
        # The system may not have noted yet that a process has ended that closed its output.
        has_answered.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        has_answered.wait(_SECONDS)
        assert is_ready.is_set(), f"{command[0]} did not start:\n{''.join(last)}"
        yield server
    finally:
        server.send_signal(stop)
        try:
            server.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        reader.join()
        server.stdout.close()
