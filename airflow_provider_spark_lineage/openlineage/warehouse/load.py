"""Loads files of events into a warehouse.

The tables with dates are functions of the events of whole families: runs that are connected by their parents.
A load derives the families anew that have a new event, and writes the dates that their rows are in. The other
tables are folded from these. So any order, any split and any repetition of events gives the same tables.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError, extra
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.warehouse.asking import lineage_in, rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.early_ends import ended_early
from airflow_provider_spark_lineage.openlineage.warehouse.event_sources import EventSource, source_of
from airflow_provider_spark_lineage.openlineage.warehouse.families import families_of
from airflow_provider_spark_lineage.openlineage.warehouse.folding import (
    columns_of,
)
from airflow_provider_spark_lineage.openlineage.warehouse.formats import write_arrow
from airflow_provider_spark_lineage.openlineage.warehouse.graph_snapshot import write_graph
from airflow_provider_spark_lineage.openlineage.warehouse.ids import id_of_names
from airflow_provider_spark_lineage.openlineage.warehouse.load_session import own_session
from airflow_provider_spark_lineage.openlineage.warehouse.partial_files import frame_of, rows_by_date
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    EACH_LOAD,
    FORMATS,
    GRAPH,
    StoredTables,
    as_read,
    loading,
    publish,
    remove_unused,
    whole_tables,
)
from airflow_provider_spark_lineage.openlineage.warehouse.spreading import small, spread
from airflow_provider_spark_lineage.openlineage.warehouse.storage import dataset_at, folder_of
from airflow_provider_spark_lineage.openlineage.warehouse.tables import OF_RUNS, TABLES
from airflow_provider_spark_lineage.openlineage.warehouse.undated import UndatedTables
from airflow_provider_spark_lineage.openlineage.warehouse.workers import (
    DERIVED,
    PARSED,
    derive,
    name,
    parsing,
)
from airflow_provider_spark_lineage.openlineage.warehouse.workspace import Frame, Workspace

with extra("warehouse"):
    import pyarrow as pa


@dataclass
class LoadSummary:
    """A load: the same as its row of `loads`, and how long it took."""

    load_id: str
    files: int = 0
    events: int = 0
    new_events: int = 0
    late_events: int = 0
    """New events of runs that are sealed, because events of them were dropped."""
    bad_lines: int = 0
    runs: int = 0
    """Runs that were derived anew."""
    new_versions: int = 0
    """Versions of lineage that no earlier load had."""
    dates: list[str] = field(default_factory=list)
    seconds: float = 0.0
    rejected: str = ""
    """Folder with the lines that are not events; empty if there are none."""

    def document(self) -> dict[str, Any]:
        """Return the summary as a JSON object."""
        return asdict(self)


def load(
    spark: Any,
    source: Path | str,
    target: Path | str,
    *,
    dropped_facets: Collection[str] = (),
    stored_as: str | None = None,
    kafka_options: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> LoadSummary:
    """Load the events of a file, a folder or a topic (`kafka://host:port/topic`) into a warehouse.

    Files of events and the warehouse may be in object storage (`s3a://bucket/lineage`).
    Files that an earlier load has read are left out, unless they have changed since; messages of a topic are
    read once. Facets with the names in `dropped_facets` are left out of events before anything else is done
    with them. `stored_as` is the format of the tables: `parquet`, `delta` or `iceberg`; None for that of the
    warehouse, or for parquet in a new one. `kafka_options` are options of Spark's reader and
    are not stored. `tell` gets the name of each stage.

    Raises BadInputError if the source has no file, the target cannot be used, Spark lacks the jars of the
    format, or another load writes to the target.
    """
    events = source_of(source, kafka_options or {})
    if stored_as not in (None, *FORMATS):
        raise BadInputError(f"{stored_as} is not a format of a warehouse: choose {', '.join(FORMATS)}.")
    folder = folder_of(target).absolute()
    with loading(folder), ended_early("the load"):
        before = whole_tables(folder)
        if not before.load_id:
            before.stored_as = stored_as or before.stored_as
        elif stored_as not in (None, before.stored_as):
            raise BadInputError(
                f"{folder} has tables of {before.stored_as}, not of {stored_as}: give another folder."
            )
        remove_unused(before)
        with own_session(spark) as own:
            return _Load(own, before, tell).run(events, frozenset(dropped_facets))


class _Load:
    """One load, from a snapshot to the next."""

    def __init__(self, spark: Any, before: StoredTables, tell: Callable[[str], None]) -> None:
        now = datetime.now(timezone.utc)
        self._tell = tell
        self._begun, self._clock = now, time.monotonic()
        self._summary = LoadSummary(f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}")
        after = replace(deepcopy(before), load_id=self._summary.load_id)
        self._work = Workspace(spark, before, after, f"data/{self._summary.load_id}")

    def run(self, source: EventSource, dropped_facets: frozenset[str]) -> LoadSummary:
        self._tell("reading events")
        lines = source.lines(self._work.spark, self._work.after, self._work.folder)
        if lines is not None:
            self._summary.files = source.files
            self._work.tables.begin()
            new = self._new_events(lines, dropped_facets)
            if self._summary.new_events:
                self._write_tables(new)
            self._write_load()
            publish(self._work.after)
        # A reader may still have the file that named the tables before this load, so their files stay.
        remove_unused(self._work.before, self._work.after)
        self._summary.seconds = round(time.monotonic() - self._clock, 1)
        return self._summary

    def _new_events(self, lines: Frame, dropped_facets: frozenset[str]) -> Frame:
        """Return the events that no earlier load had, and count and keep the lines that are not events."""
        read = self._work.staged("read", lines.mapInArrow(parsing(dropped_facets), PARSED))
        counts = self._work.sql(_COUNTS, read=read).collect()
        self._summary.bad_lines = sum(row["bad"] for row in counts)
        self._summary.events = sum(row["events"] for row in counts)
        if self._summary.bad_lines:
            rejected = self._work.before.path / "rejected" / self._summary.load_id
            self._summary.rejected = str(rejected)
            read.where("problem IS NOT NULL").selectExpr("problem", "raw AS line").write.json(str(rejected))
        sizes = {row["day"]: row["events"] for row in counts if row["day"]}
        rows = spread(self._work.sql(_EVENTS, read=read), sizes, ["event_id"])
        new = self._work.sql(_EACH_ONCE.replace("{load_id}", self._summary.load_id), rows=rows)
        # An empty side of a join would have the other one sorted.
        if known := rows_by_date(self._work.before, "events", sizes):
            ids = frame_of(self._work.spark, self._work.before, "events", known).select("event_id")
            new = new.join(small(ids, sum(known.values())), "event_id", "left_anti")
        self._work.tables.append("events", new)
        added = self._added("events")
        self._summary.new_events = sum(rows_by_date(added, "events", added.tables["events"]).values())
        return added

    def _added(self, table: str) -> StoredTables:
        """Return the rows of a table that this load has added."""
        known = set(self._work.before.folders(table))
        parts = {
            date: [folder for folder in folders if str(self._work.before.path / folder) not in known]
            for date, folders in self._work.after.tables[table].items()
        }
        added = {date: folders for date, folders in parts.items() if folders}
        return StoredTables(self._work.before.path, tables={table: added})

    def _write_tables(self, added: StoredTables) -> None:
        self._tell(f"deriving runs from {self._summary.new_events:,} new events")
        links = [link for folder in added.folders("events") for link in _links(folder)]
        families = families_of(dict.fromkeys(links), self._work.before)
        self._summary.runs = len(families.runs)
        self._summary.late_events = sum(run_id in families.sealed for run_id, _ in links)
        dates = families.event_dates | added.tables["events"].keys()
        named = self._named(families.runs)
        new = frame_of(self._work.spark, added, "events")
        derived = self._work.staged("derived", self._derived(named, dates, new), "kind")
        self._write_rows_of_runs(derived, named, families.dates)
        self._tell("folding tables")
        undated = UndatedTables(self._work)
        moving = undated.write(derived)
        self._summary.new_versions = undated.new_versions
        undated.write_tags(derived)
        self._tell("finding the current lineage")
        self._work.tables.renew_from("current_runs", self._work.partials.current_runs(moving))
        self._write_current()

    def _named(self, families: Mapping[str, str]) -> Frame:
        """Return `run_id` and `family` of runs."""
        columns = {"run_id": [*families], "family": [*families.values()]}
        schema = pa.schema({name: pa.string() for name in columns})
        folder = self._work.path("staged_families")
        write_arrow(folder, pa.table(columns, schema))
        frame = self._work.spark.read.schema("run_id STRING, family STRING").parquet(as_read(folder))
        return small(frame, len(families))

    def _derived(self, families: Frame, dates: set[str], new: Frame) -> Frame:
        texts = self._work.sql(
            """
            SELECT collect_list(raw) AS texts
            FROM {events} JOIN {families} USING (run_id)
            GROUP BY family
            """,
            events=frame_of(self._work.spark, self._work.after, "events", dates),
            families=families,
        )
        others = new.join(families, "run_id", "left_anti").select("raw")
        return texts.mapInArrow(derive, DERIVED).union(others.mapInArrow(name, DERIVED))

    def _write_rows_of_runs(self, derived: Frame, families: Frame, former: set[str]) -> None:
        dates = set(former)
        rows = {table: self._work.of_kind(derived, table, columns_of(table)) for table in OF_RUNS}
        counts = self._work.sql(
            "SELECT CAST(event_date AS STRING) AS day, count(*) AS runs FROM {rows} GROUP BY event_date",
            rows=rows["runs"],
        )
        sizes = {row["day"]: row["runs"] for row in counts.collect()}
        dates |= sizes.keys()
        for date, number in rows_by_date(self._work.before, "runs", dates).items():
            sizes[date] = sizes.get(date, 0) + number
        # Events of no run have no dates of runs.
        for table in OF_RUNS if dates else ():
            if not self._work.has_kind(table) and dates.isdisjoint(self._work.before.tables[table]):
                self._work.tables.keep(table)
                continue
            others = frame_of(self._work.spark, self._work.before, table, dates).join(
                families, "run_id", "left_anti"
            )
            written = spread(others.unionByName(rows[table]), sizes, TABLES[table].key)
            self._work.tables.replace(table, written, dates)
        self._summary.dates = sorted(dates)
        self._work.partials.write(dates)

    def _write_current(self) -> None:
        current = lineage_in(self._work.after)
        write_graph(self._work.path(GRAPH), current)
        self._work.after.tables[GRAPH] = {EACH_LOAD: [f"{self._work.folder}/{GRAPH}"]}
        texts = {column.name: pa.string() for column in TABLES["current_column_edges"].columns}
        schema = pa.schema(texts | {"job_id": pa.int64(), "masking": pa.bool_()})
        edges = _edges_of(current)
        # A row as an object takes ten times the memory of a row in a batch.
        batches = [
            pa.RecordBatch.from_pylist(rows, schema) for rows in iter(lambda: [*islice(edges, 10_000)], [])
        ]
        self._work.tables.renew_from("current_column_edges", pa.Table.from_batches(batches, schema))

    def _write_load(self) -> None:
        zone = pa.timestamp("us", "UTC")
        schema = pa.schema(
            {
                "load_id": pa.string(),
                **dict.fromkeys(("files", "events", "new_events", "late_events", "bad_lines"), pa.int64()),
                "dates": pa.list_(pa.string()),
                "started_at": zone,
                "ended_at": zone,
                "package_version": pa.string(),
            }
        )
        row = self._summary.document() | {
            "started_at": self._begun,
            "ended_at": datetime.now(timezone.utc),
            "package_version": version("airflow-provider-spark-lineage"),
        }
        rows = [*rows_of(self._work.before, "loads"), row]
        self._work.tables.renew_from("loads", pa.Table.from_pylist(rows, schema))


_COUNTS = """
SELECT CAST(date_from_unix_date(event_date) AS STRING) AS day, count(problem) AS bad,
       count(event_id) AS events
FROM {read} GROUP BY event_date
"""

_EVENTS = """
SELECT event_id, date_from_unix_date(event_date) AS event_date, timestamp_micros(event_time) AS event_time,
       event_type, run_id, parent_run_id, job_namespace, job_name, producer, raw, source
FROM {read} WHERE problem IS NULL
"""

_EACH_ONCE = """
SELECT event_id, event_date, event_time, event_type, run_id, parent_run_id, job_namespace, job_name, producer,
       raw, source, '{load_id}' AS load_id, day, slice
FROM (SELECT *, row_number() OVER (PARTITION BY event_id, day, slice ORDER BY source) AS number FROM {rows})
WHERE number = 1
"""


def _edges_of(current: Current) -> Iterator[dict[str, Any]]:
    """Yield the rows of `current_column_edges`."""
    for write in current.writes:
        for edge in write.edges:
            yield {
                "job_id": id_of_names(*write.job),
                "run_id": write.run.id,
                "source_namespace": edge.source[0],
                "source_name": edge.source[1],
                "source_column": edge.field,
                "target_namespace": write.output[0],
                "target_name": write.output[1],
                "target_column": edge.column,
                "type": edge.type,
                "subtype": edge.subtype,
                "masking": edge.masking,
            }


def _links(folder: str) -> Iterator[tuple[str, str]]:
    """Yield run and parent of the events of a folder."""
    for batch in dataset_at(folder).to_batches(columns=["run_id", "parent_run_id"]):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
