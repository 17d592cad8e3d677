"""Spreads rows over tasks of even size: several tasks write a date with many rows, each into a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

Frame = Any
"""A DataFrame of pyspark."""

DAY, SLICE = "day", "slice"
"""Columns of rows that are spread: the date as text, and the number of a part of it."""

ROWS_OF_A_TASK = 20_000
"""Rows of a date above which it has another slice."""

FEWEST_ROWS, PARTS = 2_500, 16
"""A load of fewer rows is sliced into so many parts, unless they had fewer rows than this."""


def spread(rows: Frame, sizes: Mapping[str, int], key: Collection[str], *, day: str = "event_date") -> Frame:
    """Return rows in tasks by date and slice, with the columns `day` and `slice`.

    `sizes` has about how many rows a date has. The slice of a row follows from its key, so that equal rows
    are in one task, and a task that is repeated has the same rows.
    """
    dated = rows.selectExpr("*", f"CAST({day} AS STRING) AS {DAY}") if day != DAY else rows
    return dated.selectExpr("*", f"{_slice(sizes, key)} AS {SLICE}").repartition(DAY, SLICE)


def small(rows: Frame, number: int) -> Frame:
    """Return rows that a join sends to every task, unless they are many: the other side stays in place."""
    return rows.hint("broadcast") if number <= MOST_SENT else rows


MOST_SENT = 1_000_000
"""Limit of the ids that each task can hold beside its rows."""


def slices_of(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the number of slices of each date that has several.

    >>> slices_of({"2026-01-01": 2_500, "2026-01-02": 20_000}), slices_of({"2026-01-01": 1_000_000})
    ({'2026-01-02': 8}, {'2026-01-01': 50})
    """
    most = min(ROWS_OF_A_TASK, max(FEWEST_ROWS, sum(sizes.values()) // PARTS))
    return {date: -(-rows // most) for date, rows in sizes.items() if rows > most}


def _slice(sizes: Mapping[str, int], key: Collection[str]) -> str:
    slices = slices_of(sizes)
    if not slices:
        return "CAST(0 AS BIGINT)"
    entries = ", ".join(f"'{date}', {number}" for date, number in sorted(slices.items()))
    columns = ", ".join(f"`{name}`" for name in key)
    return f"pmod(xxhash64({columns}), coalesce(element_at(map({entries}), {DAY}), 1))"
