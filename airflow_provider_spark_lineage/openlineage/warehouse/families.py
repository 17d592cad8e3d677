"""Families: the runs that are connected by their parents, because a run may repeat the datasets of one above.

The ids of a load, and of the runs connected with it, are collected on the driver; rows are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Frame = Any


@dataclass
class Families:
    """The runs with a new event, and all that are connected with them."""

    runs: set[str]
    frame: Frame
    """`run_id` and `family`: a name that is the same for connected runs."""
    dates: set[str] = field(default_factory=set)
    """Dates of the rows that the runs have had so far."""
    event_dates: set[str] = field(default_factory=set)
    """Dates of the events that the runs have had so far."""


class _Union:
    """Sets of ids that grow together."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def top(self, each: str) -> str:
        path = []
        while (above := self._above.setdefault(each, each)) != each:
            path.append(each)
            each = above
        for node in path:
            self._above[node] = each
        return each

    def join(self, first: str, second: str) -> None:
        self._above[self.top(second)] = self.top(first)


def families_of(spark: Any, new: Frame, runs: Frame | None) -> Families:
    """Return the families of new events, with the runs that are there already; `runs` is None for none."""
    links = new.where("run_id <> ''").selectExpr("run_id", "array(parent_run_id) AS parents")
    rows = links.distinct().collect()
    union = _Union()
    known: set[str] = set()
    frontier: set[str] = set()

    def connect(rows: list[Any]) -> None:
        for row in rows:
            for each in (row["run_id"], *filter(None, row["parents"])):
                union.join(row["run_id"], each)
                frontier.add(each)

    connect(rows)
    ids = {row["run_id"] for row in rows}
    dates: set[str] = set()
    event_dates: set[str] = set()
    while frontier and runs is not None:
        wanted = spark.createDataFrame([(each,) for each in frontier], "id STRING")
        known |= frontier
        frontier.clear()
        connected = spark.sql(
            """
            SELECT run_id, parents, CAST(event_date AS STRING) AS day,
                   CAST(event_dates AS ARRAY<STRING>) AS days
            FROM {runs} LEFT SEMI JOIN {wanted} ON run_id = id
            UNION
            SELECT run_id, parents, CAST(event_date AS STRING), CAST(event_dates AS ARRAY<STRING>)
            FROM {runs} LEFT SEMI JOIN {wanted} ON array_contains(parents, id)
            """,
            runs=runs,
            wanted=wanted,
        ).collect()
        connect(connected)
        frontier -= known
        ids |= {row["run_id"] for row in connected}
        dates |= {row["day"] for row in connected}
        event_dates |= {day for row in connected for day in row["days"]}
    named = spark.createDataFrame([(each, union.top(each)) for each in ids], "run_id STRING, family STRING")
    return Families(ids, named, dates, event_dates)
