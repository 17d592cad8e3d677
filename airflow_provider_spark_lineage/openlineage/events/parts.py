"""Joins what several parts of the work, or several tasks, did with one dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of
from airflow_provider_spark_lineage.openlineage.lifecycle import (
    MOVES_NO_ROWS,
    REPLACING,
    change_of_both,
    has_rows,
)

Written = tuple[Mapping[str, int], str]
"""Counts of a write, and its change as in `lifecycleStateChange`; `append`, or empty, for an append."""


def after_write(before: Written, later: Written) -> Written:
    """Return counts and change of a dataset that was written twice.

    A count of an append is known if both are. ALTER and RENAME move no rows: beside a write with rows they
    change nothing.

    >>> after_write(({"rows": 100}, "overwrite"), ({"rows": 5}, ""))
    ({'rows': 105}, 'overwrite')
    """
    (counts, change), (added, later_change) = before, later
    if later_change in MOVES_NO_ROWS and has_rows(change):
        return before
    # An ALTER with counts is a task that appended, too.
    had_rows = has_rows(change) or bool(counts)
    if change in MOVES_NO_ROWS and has_rows(later_change) and not counts:
        return later
    both = change_of_both(change, later_change)
    if later_change in REPLACING or not had_rows:
        return added, both
    return {key: counts[key] + added[key] for key in counts if key in added}, both


def join_read(reads: dict[Id, dict[str, Any]], read: dict[str, Any]) -> None:
    """Add a dataset that a part of the work has read; an earlier part may have read it, too."""
    before = reads.setdefault(id_of(read), read)
    if before is not read:
        most = max(before["statistics"], read["statistics"], key=lambda counts: counts.get("rows", 0))
        reads[id_of(read)] = _described(before, read) | {"statistics": most}


def join_write(writes: dict[Id, dict[str, Any]], write: dict[str, Any]) -> None:
    """Add a dataset that a part of the work has written; an earlier part may have written it, too."""
    before = writes.setdefault(id_of(write), write)
    if before is write:
        return
    joined = _described(before, write)
    counts = after_write((before["statistics"], before["mode"]), (write["statistics"], write["mode"]))
    joined["statistics"], joined["mode"] = counts
    if write["mode"] not in REPLACING:
        joined["edges"] = each_once([*before["edges"], *write["edges"]])
    writes[id_of(write)] = joined


def _described(before: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """Return a dataset as both parts describe it: the later one may have no schema."""
    checks = each_once([*before.get("checks", ()), *later.get("checks", ())])
    described = before | later | {"fields": later["fields"] or before["fields"]}
    return described | {"checks": checks} if checks else described


def each_once(values: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return JSON objects in their order, equal ones once."""
    return list({repr(value): value for value in values}.values())
