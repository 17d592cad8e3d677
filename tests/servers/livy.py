"""A local stand-in for the HTTP API of Livy, and of Synapse, whose API is Livy's: batches end at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from servers.json_api import json_api


class Livy:
    """The batches that a server has taken, and its port."""

    def __init__(self) -> None:
        self.batches: list[dict[str, Any]] = []
        self.port = 0


@contextlib.contextmanager
def livy(run: Callable[[dict[str, Any]], bool], certificate: Path | None = None) -> Iterator[Livy]:
    """Serve on a free port of this machine; `run` does what a batch's driver would, and says how it ends.

    With a certificate it is Synapse, below any path, and the service that gives the client its token.
    """
    known = Livy()
    ends: list[str] = []

    def answer(method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        if path == "/token":
            return 200, {"access_token": "local", "expires_on": "4102444800", "token_type": "Bearer"}
        _, _, rest = path.partition("/batches")
        if method == "POST":
            known.batches.append(body)
            ends.append("success" if run(body) else "dead")
            return 201 if certificate is None else 200, {"id": len(ends) - 1, "state": "starting"}
        _, number, *what = rest.split("/")
        state = {"id": int(number), "state": ends[int(number)]}
        answers = {
            (): {**state, "appId": "application_1_0001"},
            ("state",): state,
            ("log",): {"id": int(number), "from": 0, "total": 1, "log": ["done"]},
        }
        return 200, answers[tuple(what)]

    with json_api(answer, certificate) as known.port:
        yield known
