"""Keeps what capture asks the JVM out of py4j's debug log, which shows every answer to the letter.

A plan has the literals and options of a user's query. What a user's own calls show there is their choice.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import Iterator

_TALK = ("Command to send", "Answer received", "Closing down clientserver connection")
"""How py4j's messages begin that show what goes over a connection, and that tell of its end."""


class _Thread(threading.local):
    is_ours = False


_thread = _Thread()


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """Mark what this thread asks the JVM inside the block as capture's."""
    before, _thread.is_ours = _thread.is_ours, True
    try:
        yield
    finally:
        _thread.is_ours = before


def is_ours(entry: logging.LogRecord) -> bool:
    """Say whether a message of py4j shows what capture asked or was told."""
    return _thread.is_ours and str(entry.msg).startswith(_TALK)
