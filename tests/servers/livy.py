"""A local stand-in for the HTTP API of Livy, and of Synapse, whose API is Livy's: batches end at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from servers.http_api import Answer, Request, http_api

TOKEN = {"access_token": "local", "expires_on": "4102444800", "token_type": "Bearer"}


class Livy:
    """The batches that a server has taken, and its port."""

    def __init__(self) -> None:
        self.batches: list[dict[str, Any]] = []
        self.port = 0


@contextlib.contextmanager
def livy(run: Callable[[dict[str, Any]], bool], certificate: Path | None = None) -> Iterator[Livy]:
    """Serve on a free port of this machine; `run` acts as a batch's driver, and decides how it ends.

    With a certificate it is Synapse, below any path, and the service that gives the client its token.
    """
    known = Livy()
    ends: list[str] = []

    def answer(request: Request) -> Answer:
        if request.path == "/token":
            return Answer(TOKEN)
        if request.method == "POST":
            known.batches.append(request.document)
            ends.append("success" if run(request.document) else "dead")
            batch = {"id": len(ends) - 1, "state": "starting"}
            return Answer(batch, 201 if certificate is None else 200)
        number, *rest = request.path.partition("/batches/")[2].split("/")
        state = {"id": int(number), "state": ends[int(number)]}
        answers = {
            (): {**state, "appId": "application_1_0001"},
            ("state",): state,
            ("log",): {"id": int(number), "from": 0, "total": 1, "log": ["done"]},
        }
        return Answer(answers[tuple(rest)])

    with http_api(answer, certificate) as known.port:
        yield known
