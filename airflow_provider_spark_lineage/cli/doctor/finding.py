"""A finding of `doctor`, and the table of all mistakes that it reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "problem"]

MISTAKES: Mapping[str, Level] = {
    # Packages
    "package-missing": "problem",
    "package-version": "problem",
    "legacy-package": "note",
    # Spark and Java
    "spark-missing": "problem",
    "spark-too-old": "problem",
    "spark-files": "problem",
    "spark-client-version": "problem",
    "spark-connect-version": "problem",
    "spark-connect-default": "note",
    "spark-home-missing": "problem",
    "spark-home-version": "problem",
    "spark-home-patch": "note",
    "py4j-missing": "problem",
    "pandas-too-new": "note",
    "java-missing": "problem",
    "java-fails": "problem",
    "java-too-old": "problem",
    "java-too-new": "problem",
    "java-listener": "note",
    "java-listener-injected": "note",
    # OpenLineage's provider
    "openlineage-unreadable": "problem",
    "openlineage-off": "problem",
    "listener-missing": "problem",
    "listener-unknown": "problem",
    "plugin-broken": "note",
    "transport-missing": "problem",
    "transport-unreadable": "problem",
    "transport-type": "problem",
    "transport-unknown": "problem",
    "transport-incomplete": "problem",
    "transport-url": "problem",
    "transport-folder": "problem",
    "transport-silent": "problem",
    "transport-noop": "problem",
    "transport-console": "note",
    "transport-ignored": "note",
    "option-unreadable": "problem",
    "option-quoted": "problem",
    "option-unknown": "note",
    "list-separator": "problem",
    "execution-timeout": "problem",
    "namespace-default": "note",
    "operators-off": "problem",
    "operators-bare-name": "note",
    "selective-enable": "note",
    "emission-policy": "note",
    # Extractors
    "extractor-import": "problem",
    "extractor-breaks-plugin": "problem",
    "extractor-circular": "problem",
    "extractor-airflow-import": "note",
    "extractor-interface": "problem",
    "extractor-twice": "problem",
    "extractor-repeated": "note",
    "extractor-over-built-in": "note",
    "extractor-before-capture": "note",
    # Settings that old guides teach
    "legacy-variable": "note",
    "legacy-extractor-variable": "problem",
    "legacy-task-metadata": "problem",
    "legacy-backend": "note",
    # Settings of this package
    "own-disabled": "problem",
    "own-value": "problem",
    "own-option": "problem",
    "own-variable": "problem",
    "own-operator": "problem",
    "own-operator-name": "problem",
    "own-pattern": "note",
    "planned-only": "problem",
    "capture-unset": "note",
    # The doctor itself
    "database-unreadable": "note",
    "database-empty": "note",
    "database-silent": "note",
    "check-failed": "note",
}
"""Name of a mistake -> its level. docs/doctor.md has a row for each."""


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report.

    >>> mistake("java-too-old", "java", "11.0.2", "Spark 4 needs Java 17 or newer; install one.").level
    'problem'
    """

    topic: str
    """Subject of the check; scripts may rely on it, so it does not change."""

    value: str
    """Value that was found, without secrets."""

    level: Level = "ok"
    """`note` works but may surprise; `problem` means that lineage cannot work until it is fixed."""

    advice: str = ""
    """One sentence: the problem, and the setting to change; empty if there is nothing to fix."""

    mistake: str = ""
    """The name in `MISTAKES`; scripts may rely on it. Empty if there is nothing to fix."""


def mistake(name: str, topic: str, value: str, advice: str) -> Finding:
    """Return the finding of a known mistake."""
    return Finding(topic, value, MISTAKES[name], advice, name)
