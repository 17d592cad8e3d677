"""A finding of `doctor`: the value, and what to do where there is a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report.

    >>> Finding("java", "11.0.2", "problem", "Spark 4 needs Java 17 or newer; install one.").level
    'problem'
    """

    topic: str
    """What was looked at; a script may rely on it, so it does not change."""

    value: str
    """What was found, without anything secret."""

    level: Literal["ok", "note", "problem"] = "ok"
    """`note` works but may surprise; `problem` means that lineage cannot work until it is fixed."""

    advice: str = ""
    """One sentence that says what to do; empty where nothing is to fix."""
