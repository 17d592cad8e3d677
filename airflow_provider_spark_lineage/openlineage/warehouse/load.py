"""Loads files of events into a warehouse.

The tables with dates are functions of the events of whole families: runs that are connected by their parents.
A load derives the families anew that have a new event, and writes the dates that their rows are in. The other
tables are folded from these. So any order, any split and any repetition of events gives the same tables.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError, extra
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.warehouse.asking import lineage_in, names_in, rows_of
from airflow_provider_spark_lineage.openlineage.warehouse.early_ends import ended_early
from airflow_provider_spark_lineage.openlineage.warehouse.event_sources import EventSource, source_of
from airflow_provider_spark_lineage.openlineage.warehouse.families import families_of
from airflow_provider_spark_lineage.openlineage.warehouse.folding import (
    QUERIES,
    columns_of,
    folded,
    read_as_json,
)
from airflow_provider_spark_lineage.openlineage.warehouse.formats import tables_of
from airflow_provider_spark_lineage.openlineage.warehouse.graph_snapshot import write_graph
from airflow_provider_spark_lineage.openlineage.warehouse.ids import id_of_names
from airflow_provider_spark_lineage.openlineage.warehouse.partial_files import PartialFiles, frame_of
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
from airflow_provider_spark_lineage.openlineage.warehouse.tables import OF_RUNS, TABLES, WarehouseColumn
from airflow_provider_spark_lineage.openlineage.warehouse.workers import (
    DERIVED,
    PARSED,
    derive,
    name,
    parsing,
)

with extra("warehouse"):
    import pyarrow as pa

_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    # A file that cannot be read ends the load: else it would count as loaded.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Old rows in new files would pass for new events.
    "spark.databricks.delta.autoCompact.enabled": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    # A job of Spark that lists the folders of all dates takes longer than to list them here.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    "spark.sql.sources.partitionOverwriteMode": "static",
    "spark.sql.storeAssignmentPolicy": "ANSI",
}
"""Settings of the session that writes, so that those of the user change no row."""

Frame = Any
"""A DataFrame of pyspark."""


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
    """Load the events of a file, a folder or a topic (`kafka://host:port/topic`) into a warehouse, a folder.

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
    target = Path(target).absolute()
    with loading(target), ended_early("the load"):
        before = whole_tables(target)
        if not before.load_id:
            before.stored_as = stored_as or before.stored_as
        elif stored_as not in (None, before.stored_as):
            raise BadInputError(
                f"{target} has tables of {before.stored_as}, not of {stored_as}: give another folder."
            )
        remove_unused(before)
        with _own_session(spark) as own:
            return _Load(own, before, tell).run(events, frozenset(dropped_facets))


@contextlib.contextmanager
def _own_session(spark: Any) -> Iterator[Any]:
    """Yield a session with the settings of a load; those of the user's session are as before afterwards."""
    # A client of Spark Connect cannot make a second session.
    is_classic = hasattr(spark, "newSession")
    if not is_classic and spark.version < "4":
        raise BadInputError("A load over Spark Connect needs Spark 4.0: load by a session of Spark itself.")
    own = spark.newSession() if is_classic else spark
    before = {key: own.conf.get(key, None) for key in _SETTINGS}
    for key, value in _SETTINGS.items():
        own.conf.set(key, value)
    try:
        yield own
    finally:
        if is_classic:
            # Making a frame makes its session the active one: here, the user's again.
            with contextlib.suppress(Exception):
                spark.createDataFrame([], "none INT")
        else:
            for key, value in before.items():
                with contextlib.suppress(Exception):
                    spark.conf.unset(key) if value is None else spark.conf.set(key, value)


class _Load:
    """One load, from a snapshot to the next."""

    def __init__(self, spark: Any, before: StoredTables, tell: Callable[[str], None]) -> None:
        now = datetime.now(timezone.utc)
        self._spark, self._before, self._tell = spark, before, tell
        self._begun, self._clock = now, time.monotonic()
        self._summary = LoadSummary(f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(4)}")
        self._folder = f"data/{self._summary.load_id}"
        self._after = replace(deepcopy(before), load_id=self._summary.load_id)
        self._tables = tables_of(before.stored_as, spark, self._after, self._folder)
        self._partials = PartialFiles(spark, self._after, self._folder)

    def run(self, source: EventSource, dropped_facets: frozenset[str]) -> LoadSummary:
        self._tell("reading events")
        lines = source.lines(self._spark, self._after, self._folder)
        if lines is not None:
            self._summary.files = source.files
            self._tables.begin()
            new = self._new_events(lines, dropped_facets)
            if self._summary.new_events:
                self._write_tables(new)
            self._write_load()
            publish(self._after)
        # A reader may still have the file that named the tables before this load, so their files stay.
        remove_unused(self._before, self._after)
        self._summary.seconds = round(time.monotonic() - self._clock, 1)
        return self._summary

    def _new_events(self, lines: Frame, dropped_facets: frozenset[str]) -> Frame:
        """Return the events that no earlier load had, and count and keep the lines that are not events."""
        read = self._staged("read", lines.mapInArrow(parsing(dropped_facets), PARSED))
        [counts] = read.selectExpr("count(problem) AS bad", "count(event_id) AS events").collect()
        self._summary.bad_lines, self._summary.events = counts["bad"], counts["events"]
        if self._summary.bad_lines:
            rejected = self._before.path / "rejected" / self._summary.load_id
            self._summary.rejected = str(rejected)
            read.where("problem IS NOT NULL").selectExpr("problem", "raw AS line").write.json(str(rejected))
        each_once = self._sql(_EACH_ONCE.replace("{load_id}", self._summary.load_id), read=read)
        dates = _texts(each_once.selectExpr("CAST(event_date AS STRING)").distinct())
        known = frame_of(self._spark, self._before, "events", dates).select("event_id")
        new = each_once.join(known, "event_id", "left_anti")
        self._tables.append("events", new)
        added = self._added("events")
        self._summary.new_events = added.count()
        return added

    def _added(self, table: str) -> Frame:
        """Return the rows of a table that this load has added."""
        known = set(self._before.folders(table))
        parts = {
            date: [folder for folder in folders if str(self._before.path / folder) not in known]
            for date, folders in self._after.tables[table].items()
        }
        return frame_of(self._spark, StoredTables(self._before.path, tables={table: parts}), table)

    def _write_tables(self, new: Frame) -> None:
        self._tell(f"deriving runs from {self._summary.new_events:,} new events")
        families = families_of(self._spark, new, self._before)
        self._summary.runs = len(families.runs)
        if families.sealed:
            sealed = self._spark.createDataFrame([(each,) for each in families.sealed], "run_id STRING")
            self._summary.late_events = new.join(sealed, "run_id", "left_semi").count()
        derived = self._staged("derived", self._derived(families.frame, families.event_dates, new))
        self._write_rows_of_runs(derived, families.frame, families.dates)
        self._tell("folding tables")
        moving = self._fold(derived)
        self._write_tags(derived)
        self._tell("finding the current lineage")
        self._tables.renew_from("current_runs", self._partials.current_runs(moving))
        self._write_current()

    def _derived(self, families: Frame, event_dates: set[str], new: Frame) -> Frame:
        dates = event_dates | set(_texts(new.selectExpr("CAST(event_date AS STRING)").distinct()))
        texts = self._sql(
            """
            SELECT collect_list(raw) AS texts
            FROM {events} JOIN {families} USING (run_id)
            GROUP BY family
            """,
            events=frame_of(self._spark, self._after, "events", dates),
            families=families,
        )
        rows = texts.mapInArrow(derive, DERIVED)
        return rows.union(new.select("raw").mapInArrow(name, DERIVED))

    def _write_rows_of_runs(self, derived: Frame, families: Frame, former: set[str]) -> None:
        dates = set(former)
        rows = {table: self._of_kind(derived, table, columns_of(table)) for table in OF_RUNS}
        dates |= set(_texts(rows["runs"].selectExpr("CAST(event_date AS STRING)").distinct()))
        # Events of no run have no dates of runs.
        for table in OF_RUNS if dates else ():
            others = frame_of(self._spark, self._before, table, dates).join(families, "run_id", "left_anti")
            self._tables.replace(table, others.unionByName(rows[table]), dates)
        self._summary.dates = sorted(dates)
        self._partials.write(dates)

    def _fold(self, derived: Frame) -> Frame:
        """Write the tables without dates; return the names that meant several datasets."""
        frames = self._partials.seen()
        statements = columns_of("dataset_names", "namespace", "name", "dataset_id")
        frames["names"] = self._contents(derived, "names", "datasets", "dataset_id", "namespace", "name")
        frames["names"], frames["dataset_names"], symlinks = self._names(derived, frames["names"], statements)
        frames["meanings"], moving = symlinks
        frames["schemas"] = self._contents(derived, "schemas", "dataset_schemas", "schema_id", "columns")
        content = [each.name for each in TABLES["lineage_versions"].columns if "seen" not in each.name]
        frames["versions"] = self._contents(derived, "versions", "lineage_versions", *content)
        for table, query in QUERIES.items():
            used = {key: frame for key, frame in frames.items() if f"{{{key}}}" in query}
            frames[table] = self._write_whole(table, self._sql(query, **used))
        known = frame_of(self._spark, self._before, "lineage_versions").select("lineage_id")
        self._summary.new_versions = frames["lineage_versions"].join(known, "lineage_id", "left_anti").count()
        return moving

    def _contents(self, derived: Frame, kind: str, table: str, key: str, *names: str) -> Frame:
        """Return the contents behind ids: of a table before this load, or derived by it."""
        known = frame_of(self._spark, self._before, table).select(key, *names)
        new = self._of_kind(derived, kind, columns_of(table, key, *names))
        return known.unionByName(new).dropDuplicates([key])

    def _names(
        self, derived: Frame, contents: Frame, columns: list[WarehouseColumn]
    ) -> tuple[Frame, Frame, tuple[Frame, Frame]]:
        """Write `dataset_names`; return the names of all datasets, the table, and what its names mean."""
        more = [
            WarehouseColumn("dataset_namespace", "STRING", ""),
            WarehouseColumn("dataset_name", "STRING", ""),
            WarehouseColumn("said_ns", "DECIMAL(21,0)", ""),
        ]
        stated = self._of_kind(derived, "statements", [*columns, *more])
        contents = self._sql(
            """
            SELECT * FROM {contents}
            UNION SELECT dataset_id, dataset_namespace, dataset_name FROM {said}
            UNION SELECT xxhash64(namespace, name), namespace, name FROM {said}
            """,
            contents=contents,
            said=stated,
        ).dropDuplicates(["dataset_id"])
        folded = self._sql(
            """
            SELECT namespace, name, dataset_id, min(first_ns) AS first_said_ns, max(last_ns) AS last_said_ns
            FROM (SELECT namespace, name, dataset_id, said_ns AS first_ns, said_ns AS last_ns FROM {said}
                  UNION ALL
                  SELECT namespace, name, dataset_id, first_said_ns, last_said_ns FROM {known})
            GROUP BY namespace, name, dataset_id
            """,
            said=stated,
            known=frame_of(self._spark, self._before, "dataset_names"),
        )
        rows = [row.asDict() for row in folded.collect()]
        owners = self._sql(
            "SELECT c.* FROM {contents} c LEFT SEMI JOIN {folded} USING (dataset_id)",
            contents=contents,
            folded=folded,
        )
        datasets: dict[int, Id] = {
            row["dataset_id"]: (row["namespace"], row["name"]) for row in owners.collect()
        }
        names = names_in(rows, datasets)
        written = self._frame("dataset_names", [*_intervals(rows, names, datasets)])
        meanings = [(id_of_names(*alias), id_of_names(*dataset)) for alias, dataset in names.aliases()]
        moving = [(id_of_names(*alias),) for alias in names.depending_on_time()]
        return (
            contents,
            self._write_whole("dataset_names", written),
            (
                self._spark.createDataFrame(meanings, "dataset_id BIGINT, canonical_id BIGINT"),
                self._spark.createDataFrame(moving, "dataset_id BIGINT"),
            ),
        )

    def _write_tags(self, derived: Frame) -> None:
        """Write the newest tags of each dataset, of this load or of one before."""
        rows = self._sql(
            folded(
                "dataset_tags",
                """
                SELECT *, struct(said_ns, event_id) AS place FROM {said}
                UNION ALL SELECT *, struct(said_ns, event_id) AS place FROM {known}
                """,
            ),
            said=self._of_kind(derived, "tags", columns_of("dataset_tags")),
            known=frame_of(self._spark, self._before, "dataset_tags"),
        )
        self._write_whole("dataset_tags", rows)

    def _write_current(self) -> None:
        current = lineage_in(self._after)
        write_graph(self._path(GRAPH), current)
        self._after.tables[GRAPH] = {EACH_LOAD: [f"{self._folder}/{GRAPH}"]}
        edges = [
            {
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
            for write in current.writes
            for edge in write.edges
        ]
        texts = {column.name: pa.string() for column in TABLES["current_column_edges"].columns}
        schema = pa.schema(texts | {"job_id": pa.int64(), "masking": pa.bool_()})
        self._tables.renew_from("current_column_edges", pa.Table.from_pylist(edges, schema))

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
        rows = [*rows_of(self._before, "loads"), row]
        self._tables.renew_from("loads", pa.Table.from_pylist(rows, schema))

    # ---- files ---------------------------------------------------------------------------------------

    def _write_whole(self, table: str, rows: Frame) -> Frame:
        """Write all rows of a table without dates, and return them as they are read."""
        columns = [f"`{column.name}`" for column in TABLES[table].columns]
        self._tables.renew(table, rows.select(*columns))
        return frame_of(self._spark, self._after, table)

    def _staged(self, stage: str, rows: Frame) -> Frame:
        """Write rows that several queries read."""
        folder = str(self._path(f"staged_{stage}"))
        rows.write.parquet(folder)
        if not Path(folder).is_dir():
            raise BadInputError(
                f"Spark wrote {folder} to another machine or file system: the warehouse must be a folder that"
                " Spark and this process share."
            )
        return self._spark.read.schema(rows.schema).parquet(as_read(folder))

    def _path(self, table: str) -> Path:
        return self._before.path / self._folder / table

    # ---- queries -------------------------------------------------------------------------------------

    def _of_kind(self, derived: Frame, kind: str, columns: list[WarehouseColumn]) -> Frame:
        return self._sql(read_as_json(columns, kind), derived=derived)

    def _frame(self, table: str, rows: list[tuple[Any, ...]]) -> Frame:
        return self._spark.createDataFrame(rows, TABLES[table].ddl)

    def _sql(self, query: str, **frames: Frame) -> Frame:
        return self._spark.sql(query, **frames)


_EACH_ONCE = """
SELECT event_id, date_from_unix_date(event_date) AS event_date, timestamp_micros(event_time) AS event_time,
       event_type, run_id, parent_run_id, job_namespace, job_name, producer, raw, source,
       '{load_id}' AS load_id
FROM (SELECT *, row_number() OVER (PARTITION BY event_id ORDER BY source) AS number
      FROM {read} WHERE problem IS NULL)
WHERE number = 1
"""


def _intervals(rows: list[dict[str, Any]], names: Any, datasets: dict[int, Id]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of `dataset_names`: each statement with the time for which it holds."""
    ends: dict[tuple[Id, Id], int | None] = {}
    for alias, owners in names.moved():
        following = [time_ns for time_ns, _ in owners[1:]]
        for (_, owner), end in zip(owners, [*following, None], strict=True):
            ends[alias, owner] = end
    for row in rows:
        key = (row["namespace"], row["name"]), datasets[row["dataset_id"]]
        yield (
            row["namespace"],
            row["name"],
            row["dataset_id"],
            _instant(int(row["first_said_ns"])),
            _instant(ends.get(key)),
            key in ends,
            row["first_said_ns"],
            row["last_said_ns"],
        )


def _instant(time_ns: int | None) -> datetime | None:
    if time_ns is None:
        return None
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return datetime.fromtimestamp(seconds, timezone.utc).replace(microsecond=rest // 1000)


def _texts(frame: Frame) -> list[str]:
    return [row[0] for row in frame.collect()]
