"""An OpenLineage backend over HTTP that checks events, or misbehaves from a given request on."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of

Mode = Literal["takes", "hangs", "errors", "drops", "goes away"]

_SECONDS = 120
"""A request that hangs ends after this time at the latest."""


class Backend:
    """Takes so many events, then behaves as `mode` says; ends with its `with` block.

    `drops` closes the connection after it has read the event, `goes away` closes the port as well.
    """

    def __init__(self, mode: Mode = "takes", after: int = 0) -> None:
        self.mode, self._after = mode, after
        self.taken: list[dict[str, Any]] = []
        """Events that were answered with 201."""

        self.problems: list[str] = []
        self.seen = 0
        self._lock = threading.Condition()
        self._released = threading.Event()
        backend = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = backend._take(event)
                if status:
                    self.send_response(status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()

            def log_message(self, *arguments: Any) -> None:
                """Say nothing."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True)

    def __enter__(self) -> Backend:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._close()

    def names(self) -> list[tuple[str, str]]:
        """Return run and state of the events that were taken."""
        with self._lock:
            return [(event["run"]["runId"], event["eventType"]) for event in self.taken]

    def wait_until_seen(self, count: int) -> None:
        """Wait until so many requests have come."""
        with self._lock:
            assert self._lock.wait_for(lambda: self.seen >= count, _SECONDS)

    def _take(self, event: dict[str, Any]) -> int | None:
        """Return the status of an answer; None for no answer."""
        with self._lock:
            self.seen += 1
            self._lock.notify_all()
            mode = self.mode if self.seen > self._after else "takes"
            if mode == "takes":
                self.taken.append(event)
                self.problems += problems_of(event)
                return 201
        if mode == "errors":
            return 500
        if mode == "hangs":
            self._released.wait(_SECONDS)
        if mode == "goes away":
            self._close()
        return None

    def _close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    """A request that hangs does not hold the end of the server."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that gave up waiting."""
