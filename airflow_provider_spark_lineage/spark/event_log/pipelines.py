"""Recognises the executions of a declarative pipeline, by the call sites and plans of a log.

A pipeline analyzes each query when it is defined. It refreshes a materialized view by TRUNCATE and append.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_DEFINES = re.compile(r"pipeline_command \{\s+define_")
_RUNS = re.compile(r"pipeline_command \{\s+start_run ")
_EMPTIES = re.compile(r"^TruncateTableCommand ((?:`(?:[^`]|``)*`\.?)+)$", re.MULTILINE)
_WRITES = r"\b(?:CreateDataSourceTableAsSelectCommand|WriteToMicroBatchDataSourceV1) {}, "


def is_definition(details: str) -> bool:
    """Return whether the call site is a definition of a flow, before the tables of other flows exist."""
    return bool(_DEFINES.search(details))


def is_run(details: str) -> bool:
    """Return whether the call site is a pipeline's run without streams: the refresh of materialized views."""
    return bool(_RUNS.search(details))


def emptied(text: str) -> str:
    """Return the table that an execution truncates, with its quotes; empty if it does something else."""
    match = _EMPTIES.search(text)
    return match[1] if match else ""


def writes(table: str, texts: Iterable[str]) -> bool:
    """Return whether any of the plans writes to a table."""
    pattern = re.compile(_WRITES.format(re.escape(table)))
    return any(pattern.search(text) for text in texts)
