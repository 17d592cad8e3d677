"""A service's HTTP API on a free port of this machine, answered by a function."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body or b"null")


@dataclass(frozen=True)
class Answer:
    content: Any
    """A JSON document, or a text as it is sent."""

    status: int = 200

    def encoded(self) -> tuple[str, bytes]:
        if isinstance(self.content, str):
            return "text/plain", self.content.encode()
        return "application/json", json.dumps(self.content).encode()


@contextlib.contextmanager
def http_api(answer: Callable[[Request], Answer], certificate: Path | None = None) -> Iterator[int]:
    """Serve until the end of the block, and yield the port; an exception of `answer` is status 500.

    With a file of `servers.certificate`, TLS alone is spoken.
    """

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            url = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.command, url.path, dict(parse_qsl(url.query)), body)
            try:
                given = answer(request)
            except Exception as error:
                given = Answer({"message": repr(error)}, 500)
            kind, content = given.encoded()
            self.send_response(given.status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = respond  # noqa: N815  the base class calls these

        def log_message(self, *arguments: Any) -> None:
            """Nothing: the tests' output is not a log of requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
