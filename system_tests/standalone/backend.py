"""An OpenLineage backend over HTTP with a mode: answer, hang, answer 500, be gone."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Mode = Literal["answers", "hangs", "errors", "gone"]


@dataclass(frozen=True)
class Received:
    """An event that was sent to the backend, whether or not it took it."""

    event: dict[str, Any]
    is_accepted: bool


class Backend:
    """Listens on one port of this machine until `close`, and keeps everything that is sent to it.

    A request that hangs is never answered: it ends when the mode changes, and counts as not accepted.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self._lock = threading.Lock()
        self._changed = threading.Event()
        self._mode: Mode = "gone"
        self._server: ThreadingHTTPServer | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.become("answers")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def mode(self) -> Mode:
        """The current mode."""
        return self._mode

    def events(self, *, accepted: bool = False) -> list[dict[str, Any]]:
        """The events that were sent, in that order; on request only those that were taken."""
        with self._lock:
            return [received.event for received in self.received if received.is_accepted or not accepted]

    def become(self, mode: Mode) -> None:
        """Treat every request from now on, and those that hang, like this."""
        with self._lock:
            self._mode = mode
            changed, self._changed = self._changed, threading.Event()
        changed.set()
        if mode == "gone":
            self._close()
        elif self._server is None:
            self._open()

    def forget(self) -> None:
        """Forget the events sent until now."""
        with self._lock:
            self.received.clear()

    def close(self) -> None:
        """Be gone for good."""
        self.become("gone")

    def take(self, event: dict[str, Any]) -> int | None:
        """Keep an event, and return the status to answer; None gives no answer."""
        with self._lock:
            mode, changed = self._mode, self._changed
            self.received.append(Received(event, mode == "answers"))
        if mode == "hangs":
            changed.wait()
            return None
        return 201 if mode == "answers" else 500

    def _open(self) -> None:
        backend = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                status = backend.take(json.loads(self.rfile.read(length)))
                if status is not None:
                    self.send_response(status)
                    self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
                """Say nothing: the default writes every request to standard error."""

        self._server = _Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()

    def _close(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    """A client may keep a request open for as long as it likes."""

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gave up waiting is not this server's error."""
