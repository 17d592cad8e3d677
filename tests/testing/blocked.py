"""Processes that block until they are killed, and the proof that they were."""

from __future__ import annotations

import os
import select
from pathlib import Path

import psutil

BLOCKS = "import threading; threading.Event().wait()"
"""Python that goes on until it is killed."""


class Pipe:
    """A named pipe. Processes report that they have reached some point."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        # Without waiting for a writer; and as this end can write too, the pipe never ends.
        self.descriptor = os.open(path, os.O_RDWR)

    def read(self, seconds: float = 60) -> str:
        """Return the text written to the pipe; fail if none comes in time."""
        ready = select.select([self.descriptor], [], [], seconds)[0]
        assert ready, "nothing was said in time"
        return os.read(self.descriptor, 10_000).decode()


def are_gone(processes: list[psutil.Process]) -> bool:
    """Return whether they end in time; the others are ended here."""
    _, alive = psutil.wait_procs(processes, timeout=300)
    for process in alive:
        process.kill()
    return not alive
