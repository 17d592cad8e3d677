"""Families: the runs that are connected by their parents, because a run may repeat the datasets of one above.

The ids of a load, and of the runs connected with it, are collected on the driver; rows are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables
from airflow_provider_spark_lineage.openlineage.warehouse.storage import dataset_at

with extra("warehouse"):
    import pyarrow as pa
    import pyarrow.compute as pc

_Key = TypeVar("_Key")


@dataclass
class Families:
    """The runs with a new event, and all that are connected with them."""

    runs: dict[str, str]
    """Id of a run -> its family: a name that is the same for connected runs."""
    dates: set[str] = field(default_factory=set)
    """Dates of the rows that the runs have had so far."""
    event_dates: set[str] = field(default_factory=set)
    """Dates of the events that the runs have had so far."""
    sealed: set[str] = field(default_factory=set)
    """Runs with a new event that cannot be derived anew, because events of them were dropped."""


class ConnectedIds(Generic[_Key]):
    """Sets of ids that grow together."""

    def __init__(self) -> None:
        self._above: dict[_Key, _Key] = {}

    def top(self, each: _Key) -> _Key:
        """Return the id that stands for all that are connected with one."""
        path = []
        while (above := self._above.setdefault(each, each)) != each:
            path.append(each)
            each = above
        for node in path:
            self._above[node] = each
        return each

    def join(self, first: _Key, second: _Key) -> None:
        """Connect two ids."""
        self._above[self.top(second)] = self.top(first)


def families_of(new: Iterable[tuple[str, str]], before: StoredTables) -> Families:
    """Return the families of new events, given by run and parent, with the runs that are in the tables.

    A run that is sealed connects others, and is not a member itself: it cannot be derived anew.
    """
    rows: list[Any] = [{"run_id": run_id, "parents": [parent]} for run_id, parent in new if run_id]
    union = ConnectedIds[str]()
    known: set[str] = set()
    frontier: set[str] = set()

    def connect(rows: Iterable[Any]) -> None:
        for row in rows:
            for each in (row["run_id"], *filter(None, row["parents"])):
                union.join(row["run_id"], each)
                frontier.add(each)

    connect(rows)
    ids = {row["run_id"] for row in rows}
    earlier: dict[str, Any] = {}
    while frontier:
        known |= frontier
        wanted = pa.array(frontier, pa.string())
        frontier.clear()
        connected = {row["run_id"]: row for row in _connected(before, wanted)}
        connect(connected.values())
        frontier -= known
        earlier |= connected
    sealed = {run_id for run_id, row in earlier.items() if row["is_sealed"]}
    members = (ids | earlier.keys()) - sealed
    rows = [row for run_id, row in earlier.items() if run_id not in sealed]
    return Families(
        {each: union.top(each) for each in members},
        {str(row["event_date"]) for row in rows},
        {str(day) for row in rows for day in row["event_dates"]},
        sealed & ids,
    )


def _connected(before: StoredTables, ids: Any) -> Iterator[Any]:
    """Yield the runs with one of some ids, and those with a parent among them; all others only pass by."""
    columns = ["run_id", "parents", "event_date", "event_dates", "is_sealed"]
    for folder in before.folders("runs"):
        for batch in dataset_at(folder).to_batches(columns=columns):
            parents = batch.column("parents")
            children = pc.list_parent_indices(parents).filter(
                pc.is_in(pc.list_flatten(parents), value_set=ids)
            )
            runs = pc.indices_nonzero(pc.is_in(batch.column("run_id"), value_set=ids))
            rows = {*runs.to_pylist(), *children.to_pylist()}
            yield from batch.take(pa.array(sorted(rows), pa.int64())).to_pylist()
