"""A local stand-in for Livy's HTTP API: takes batches, and ends them at once as their files' names say."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Livy:
    """The batches that a server has taken, and its port."""

    def __init__(self) -> None:
        self.batches: list[dict[str, Any]] = []
        self.port = 0


@contextlib.contextmanager
def livy(run: Callable[[dict[str, Any]], None]) -> Iterator[Livy]:
    """Serve on a free port of this machine; `run` does what the driver of a batch would."""
    known = Livy()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            batch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known.batches.append(batch)
            run(batch)
            self.answer({"id": len(known.batches) - 1, "state": "starting"}, 201)

        def do_GET(self) -> None:
            _, kind, number, *rest = self.path.partition("?")[0].split("/")
            assert kind == "batches"
            batch = known.batches[int(number)]
            state = "dead" if "fails" in batch["file"] else "success"
            answers = {
                (): {"id": int(number), "state": state, "appId": "application_1_0001"},
                ("state",): {"id": int(number), "state": state},
                ("log",): {"id": int(number), "from": 0, "total": 1, "log": ["done"]},
            }
            self.answer(answers[tuple(rest)], 200)

        def answer(self, document: dict[str, Any], status: int) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            """Nothing: the tests' output is not a log of requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield known
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
