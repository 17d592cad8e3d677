"""What `doctor` says about one thing: the value it found and, when something is to mend, the cure."""

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
    """`note` works but may surprise; `problem` means that lineage cannot work until it is mended."""

    advice: str = ""
    """One sentence with the cure; empty when nothing is to mend."""
