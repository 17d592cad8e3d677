"""What a declarative pipeline does differs from what a program does: read from call sites and plans of a log.

A pipeline looks at each query when it is defined; it empties a materialized view, and appends to it then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_DEFINES = re.compile(r"pipeline_command \{\s+define_")
_RUNS = re.compile(r"pipeline_command \{\s+start_run ")
_EMPTIES = re.compile(r"^TruncateTableCommand ((?:`(?:[^`]|``)*`\.?)+)$", re.MULTILINE)
_WRITES = r"\b(?:CreateDataSourceTableAsSelectCommand|WriteToMicroBatchDataSourceV1) {}, "


def is_definition(details: str) -> bool:
    """Return whether a flow was being defined, before the tables of other flows exist; by the call site."""
    return bool(_DEFINES.search(details))


def is_run(details: str) -> bool:
    """Return whether a pipeline ran it that was not a stream: the refresh of a materialized view."""
    return bool(_RUNS.search(details))


def emptied(text: str) -> str:
    """Return the table that an execution empties, with its quotes; empty if it does something else."""
    match = _EMPTIES.search(text)
    return match[1] if match else ""


def writes(table: str, texts: Iterable[str]) -> bool:
    """Return whether one of several plans writes to a table."""
    pattern = re.compile(_WRITES.format(re.escape(table)))
    return any(pattern.search(text) for text in texts)
