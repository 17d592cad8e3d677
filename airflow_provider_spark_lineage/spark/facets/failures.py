"""Run facet of failed executions, and where in the user's code each failed, from Spark's own message.

Airflow replaces the `errorMessage` of a task's FAIL event by the text of the task's exception, so class and
SQLSTATE are here.
"""

from __future__ import annotations

import re
from typing import Any

import attrs
from openlineage.client.facet_v2 import RunFacet
from openlineage.client.utils import RedactMixin

from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER, OwnSchema
from airflow_provider_spark_lineage.spark.lineage.model import Failure, Lineage

FAILURES = "sparkLineage_failures"
"""Key of `SparkLineageFailuresRunFacet`."""

MAX_FAILURES = 100
"""Limit of an event: one task may run thousands of executions, with long messages."""

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
_FRAGMENT = re.compile(
    r"^== SQL\b[^\n]*\(line (\d+), position (\d+)\) ==\n([^\n]*)\n([ \t]*)(\^+)", re.MULTILINE
)
_POSITION = re.compile(r"; line (\d+) pos (\d+)")
_DATAFRAME = re.compile(r'^== DataFrame ==\n"[^"\n]*" was called from\n([^\n]+:\d+)$', re.MULTILINE)
_FRAME = re.compile(r'^  File "([^"\n]+)", line (\d+)', re.MULTILINE)
_LIBRARY = re.compile(r"site-packages|dist-packages|[\\/]pyspark[\\/.]|[\\/]lib[\\/]python3")


@attrs.define
class FailureEntry(RedactMixin):
    """One `Failure` of the lineage model."""

    errorClass: str  # noqa: N815  the JSON name
    message: str
    sqlState: str | None = None  # noqa: N815
    execution: str | None = None
    condition: str | None = None
    line: int | None = None
    position: int | None = None
    fragment: str | None = None
    codeLine: str | None = None  # noqa: N815


@attrs.define
class SparkLineageFailuresRunFacet(OwnSchema, RunFacet):
    """The last hundred failed executions, in order.

    It complements `errorMessage`, which has a single text, and which Airflow's provider replaces by the text
    of the task's exception.
    """

    failures: list[FailureEntry]


def failures_facets(lineage: Lineage) -> dict[str, RunFacet]:
    """Return `sparkLineage_failures`; empty if no execution failed."""
    if not lineage.failures:
        return {}
    entries = [_entry(failure) for failure in lineage.failures[-MAX_FAILURES:]]
    return {FAILURES: SparkLineageFailuresRunFacet(entries, producer=PRODUCER)}


def _entry(failure: Failure) -> FailureEntry:
    return FailureEntry(
        failure.error_class,
        failure.message,
        failure.sql_state or None,
        failure.execution or None,
        **place_of(failure.message),
    )


def place_of(message: str) -> dict[str, Any]:
    """Return the kind and place of an error from its message: fields of `FailureEntry`.

    `line` and `position` are in the statement, `codeLine` is a line of a Python program.

    >>> place_of("[DIVIDE_BY_ZERO] No.\\n== SQL (line 1, position 8) ==\\nselect 1/0\\n       ^^^")
    {'condition': 'DIVIDE_BY_ZERO', 'line': 1, 'position': 8, 'fragment': '1/0'}
    """
    place: dict[str, Any] = {}
    if condition := _CONDITION.match(message):
        place["condition"] = condition[1]
    if fragment := _FRAGMENT.search(message):
        line, position, text, before, below = fragment.groups()
        place.update(line=int(line), position=int(position))
        place["fragment"] = text[len(before) : len(before) + len(below)]
    elif position := _POSITION.search(message):
        place.update(line=int(position[1]), position=int(position[2]) + 1)
    frames = _FRAME.findall(message) if message.startswith("Traceback ") else []
    frames = [frame for frame in frames if not _LIBRARY.search(frame[0])] or frames
    if frame := _DATAFRAME.search(message):
        place["codeLine"] = frame[1]
    elif frames:
        place["codeLine"] = ":".join(frames[-1])
    return place
