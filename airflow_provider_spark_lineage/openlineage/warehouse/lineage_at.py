"""The lineage of a warehouse after its last load or at a time, with its graph and its tags, without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.events.tagged import tag_facets_of
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.warehouse.asking import (
    graph_in,
    lineage_in,
    loaded_tables,
    tag_facets_in,
)
from airflow_provider_spark_lineage.openlineage.warehouse.past import Past
from airflow_provider_spark_lineage.openlineage.warehouse.past_names import events_with
from airflow_provider_spark_lineage.openlineage.warehouse.run_index import DAY_US, day_text
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables
from airflow_provider_spark_lineage.openlineage.warehouse.storage import whole_files

TagFacet = tuple[int, Id, Mapping[str, Any]]
"""Time of a facet `tags`, in nanoseconds since 1970, its dataset, and the facet."""


@dataclass(frozen=True)
class LineageWithTags:
    """Lineage and tags after the last load, or those that were current at a time."""

    current: Current
    graph: LineageGraph
    tag_facets: Sequence[TagFacet] = ()
    """The newest facets `tags` of datasets, oldest first."""
    left_out: Sequence[JobName] = ()
    """Jobs whose lineage depends on rows or events that were dropped; nothing of them is known."""
    perhaps_tagged: Sequence[Id] = ()
    """Datasets whose tags may have been in events that were dropped."""


def lineage_at(
    path: Path, since: int | None = None, as_of: int | None = None, *, with_tags: bool = False
) -> LineageWithTags:
    """Return what `Current.of` returns for the events of a warehouse, with tags if they are needed.

    Raise BadInputError without a warehouse, and for a time that its tables do not know.
    """
    snapshot = loaded_tables(path)
    left_out: list[JobName] = []
    with whole_files(snapshot.path):
        if since is as_of is None:
            return LineageWithTags(*graph_in(snapshot), tag_facets_in(snapshot) if with_tags else ())
        if as_of is None:
            current = lineage_in(snapshot, since)
        else:
            past = Past(snapshot)
            past.refuse_before("--as-of", as_of)
            current, left_out = past.current(as_of, since)
        facets, later = _tag_facets_at(snapshot, current, as_of) if with_tags else ([], set())
    perhaps = {current.aliases.get(name, name) for name in later}
    return LineageWithTags(current, LineageGraph.of(current), facets, left_out, sorted(perhaps))


def _tag_facets_at(
    snapshot: StoredTables, current: Current, time_ns: int | None
) -> tuple[list[TagFacet], set[Id]]:
    """Return the facets that were the newest at a time, and names that dropped events may have tagged.

    The table has the newest facet of each dataset. If that is later, the events have those before it. They
    are read for datasets of the lineage alone: one that came later would be looked for on all dates.
    """
    stored = tag_facets_in(snapshot)
    if time_ns is None:
        return stored, set()
    newest = [(time, row["event_id"], name, row) for time, name, row in stored if time <= time_ns]
    datasets = set(current.datasets)
    wanted = {
        name for time, name, _ in stored if time > time_ns and current.aliases.get(name, name) in datasets
    }
    last = day_text(time_ns // 1000 // DAY_US)
    for day in sorted((day for day in snapshot.tables["events"] if day <= last), reverse=True):
        if not wanted:
            break
        newest_of_day: dict[Id, tuple[int, str, Id, Mapping[str, Any]]] = {}
        for event in events_with(snapshot, day, ['"tags":{']):
            time = event.time_ns or 0
            for name, facet in tag_facets_of(event) if time <= time_ns else ():
                if name in wanted and (
                    name not in newest_of_day or newest_of_day[name][:2] <= (time, event.source)
                ):
                    newest_of_day[name] = time, event.source, name, facet
        newest += newest_of_day.values()
        wanted -= newest_of_day.keys()
    ordered = [(time, name, facet) for time, _, name, facet in sorted(newest, key=itemgetter(0, 1))]
    return ordered, wanted if snapshot.kept_from.get("events") else set()
