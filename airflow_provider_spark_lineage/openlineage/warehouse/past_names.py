"""Meaning of symlinks at a time, from the first and the last time of each statement."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from airflow_provider_spark_lineage.errors import extra
from airflow_provider_spark_lineage.openlineage.events.model import Event
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.names import DatasetNames, symlinks_of
from airflow_provider_spark_lineage.openlineage.warehouse.asking import Row
from airflow_provider_spark_lineage.openlineage.warehouse.run_index import DAY_US, day_text
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables
from airflow_provider_spark_lineage.openlineage.warehouse.storage import dataset_of, files_at

with extra("warehouse"):
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

Statement = tuple[int, Id, Id]
"""A time in nanoseconds, a symlink, and the dataset that it means."""


def names_at(
    snapshot: StoredTables, rows: Iterable[Row], datasets: Mapping[int, Id], time_ns: int
) -> DatasetNames:
    """Return the symlinks that events until a time state, from the rows of `dataset_names`."""
    stated: dict[Id, list[tuple[int, int, Id]]] = defaultdict(list)
    for row in rows:
        first, last = int(row["first_said_ns"]), int(row["last_said_ns"])
        if first <= time_ns:
            stated[row["namespace"], row["name"]].append((first, last, datasets[row["dataset_id"]]))
    statements = [
        (time, alias, owner)
        for alias, some in stated.items()
        for first, last, owner in some
        for time in (first, last)
        if time <= time_ns
    ]
    unclear = {alias: start for alias, some in stated.items() if (start := _unclear_from(some, time_ns))}
    if unclear:
        statements += _again(snapshot, unclear, stated, time_ns)
    return DatasetNames.said(statements)


def _unclear_from(stated: Sequence[tuple[int, int, Id]], time_ns: int) -> int | None:
    """Return when a name was said of a second dataset, if it may have been said of the first again by a time.

    The table has only the last time of each pair, which is after that time.
    """
    seconds = [
        second for first, last, _ in stated if last > time_ns for second, _, _ in stated if second > first
    ]
    return min(seconds, default=None)


def _again(
    snapshot: StoredTables,
    unclear: Mapping[Id, int],
    stated: Mapping[Id, Sequence[tuple[int, int, Id]]],
    time_ns: int,
) -> Iterator[Statement]:
    """Yield statements about some names, until one of them shows that a name was said of several in turn.

    A date whose events were dropped may have had one: then the name is not followed, as it is not later.
    """
    open_names = set(unclear)
    dropped = snapshot.kept_from.get("events", "")
    for alias in unclear:
        if day_text(unclear[alias] // 1000 // DAY_US) < dropped:
            open_names.discard(alias)
            yield from _contradiction(alias, stated[alias])
    begin, end = (day_text(time // 1000 // DAY_US) for time in (min(unclear.values()), time_ns))
    for day in sorted(day for day in snapshot.tables["events"] if begin <= day <= end):
        if not open_names:
            return
        for statement in _statements_of(snapshot, day, {name for _, name in open_names}):
            time, alias, owner = statement
            if alias in open_names and time <= time_ns:
                yield statement
                if _is_return(stated[alias], time, owner):
                    open_names.discard(alias)


def _is_return(stated: Sequence[tuple[int, int, Id]], time: int, owner: Id) -> bool:
    """Return whether a name was said of another dataset between the first time of one and a time."""
    [begun] = [first for first, _, each in stated if each == owner]
    return any(begun < first < time for first, _, _ in stated)


def _contradiction(alias: Id, stated: Sequence[tuple[int, int, Id]]) -> Iterator[Statement]:
    """Yield the statement that may have been among those that are gone: of the first dataset again."""
    yield max(first for first, _, _ in stated) + 1, alias, min(stated)[2]


def _statements_of(snapshot: StoredTables, day: str, names: set[str]) -> Iterator[Statement]:
    """Yield the statements of a date whose text has one of some names."""
    # As `raw_of` writes them: quotes and backslashes are escaped.
    parts = (json.dumps(name, ensure_ascii=False).encode("utf-8", "replace").decode() for name in names)
    for event in events_with(snapshot, day, sorted(parts)):
        for alias, owner in symlinks_of(event):
            yield event.time_ns or 0, alias, owner


def events_with(snapshot: StoredTables, day: str, parts: Iterable[str]) -> Iterator[Event]:
    """Yield the events of a date, with their ids as sources, whose JSON has one of some parts."""
    raw = ds.field("raw")
    where = None
    for part in parts:
        matches = pc.match_substring(raw, part)
        where = matches if where is None else where | matches
    files = files_at(snapshot.folders("events", [day]))
    if not files:
        return
    columns = ["event_id", "raw"]
    for batch in dataset_of(files).to_batches(columns=columns, filter=where, batch_size=_MOST_ROWS):
        for event_id, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield Event(json.loads(text), event_id)


_MOST_ROWS = 10_000
"""Limit of the rows of a batch: an event may be large, and a date may have many."""
