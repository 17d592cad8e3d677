"""A finding of `doctor`: one line of its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["problem", "note", "ok"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report.

    >>> problem("java-too-old", "java", "11.0.2", "Spark 4 needs Java 17 or newer; install one.").level
    'problem'
    """

    topic: str
    """Subject of the check; scripts may rely on it, so it does not change."""

    value: str
    """Value that was found."""

    level: Level = "ok"
    """`note` works but may surprise; `problem` means that lineage cannot work until it is fixed."""

    advice: str = ""
    """One sentence: the problem, and the setting to change; empty if there is nothing to fix."""

    mistake: str = ""
    """The name in docs/doctor.md; scripts may rely on it. Empty if there is nothing to fix."""


def problem(mistake: str, topic: str, value: str, advice: str) -> Finding:
    """Return the finding of something that prevents lineage."""
    return Finding(topic, value, "problem", advice, mistake)


def note(mistake: str, topic: str, value: str, advice: str) -> Finding:
    """Return the finding of something that works but may surprise."""
    return Finding(topic, value, "note", advice, mistake)
