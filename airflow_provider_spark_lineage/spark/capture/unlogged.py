"""Keeps capture's calls of the JVM out of py4j's debug log.

The log has complete answers, and a plan has literals and options of the user's query. The user's own calls
are logged as before.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import Iterator

_TALK = ("Command to send", "Answer received", "Closing down clientserver connection")
"""Beginnings of py4j's messages about commands, answers and closed connections."""


class _Thread(threading.local):
    is_ours = False


_thread = _Thread()


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Mark this thread's calls of the JVM inside the block as capture's."""
    before, _thread.is_ours = _thread.is_ours, True
    try:
        yield
    finally:
        _thread.is_ours = before


def is_of_program(entry: logging.LogRecord) -> bool:
    """Return whether a message of py4j may be logged, because it is not about a call of capture."""
    return not (_thread.is_ours and str(entry.msg).startswith(_TALK))
