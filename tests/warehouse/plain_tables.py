"""The tables of a warehouse as plain Python: dicts of rows, made of all events at once; also as files.

Written from the documentation of the tables, not from the code that loads them: no families, no dates that
are rewritten, no stages, no Spark. Only the rule which event counts is shared (`events.runs`,
`graph.run_lineage`, `graph.names`), because a warehouse and the graph have one.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from airflow_provider_spark_lineage.openlineage.events.model import Event, Events
from airflow_provider_spark_lineage.openlineage.events.runs import runs_of
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.names import DatasetNames, symlinks_of
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import lineage_of
from airflow_provider_spark_lineage.openlineage.warehouse.ids import id_of_names
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables, publish
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES

Row = dict[str, Any]
GAP = {"place": "where", "kind": "kind", "reason": "reason", "column": "column"}
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def instant(time_ns: int | None) -> datetime | None:
    return None if time_ns is None else EPOCH + timedelta(microseconds=time_ns // 1000)


def at(text: str) -> datetime | None:
    return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def day(time_ns: int | None) -> date:
    return (instant(time_ns or 0) or EPOCH).date()


def number_of(content: Any) -> int:
    """Return an id of a content: another one than in a warehouse, where it is a hash of another text."""
    return int.from_bytes(hashlib.sha256(repr(content).encode()).digest()[:7], "big")


class PlainTables:
    """All tables but `loads` and `current_runs`: table -> rows."""

    def __init__(self, documents: list[Row]) -> None:
        texts = {
            json.dumps(each, sort_keys=True, ensure_ascii=False, separators=(",", ":")) for each in documents
        }
        events = [Event(json.loads(raw), hashlib.sha256(raw.encode()).hexdigest()) for raw in texts]
        self._events = Events(tuple(sorted(events, key=lambda event: (event.time_ns or 0, event.source))))
        self._counted = {run.last.run_id for run in runs_of(self._events)}
        self._lineages = [(run, lineage_of(run, self._events)) for run in runs_of(self._events, each=True)]
        self._names = DatasetNames.of(self._events)
        self.rows: dict[str, list[Row]] = {
            "runs": [self._run(run, lineage) for run, lineage in self._lineages]
        }
        self.rows["events"] = [self._event(event) for event in self._events]
        self._touched()
        self._edges()
        self.rows["jobs"] = self._jobs()
        self.rows["dataset_names"] = self._symlinks()
        self.rows["datasets"] = self._datasets()
        self.rows["dataset_tags"] = self._tags()
        self.rows["current_column_edges"] = self._current()

    def _event(self, event: Event) -> Row:
        return {
            "event_id": event.source,
            "event_date": day(event.time_ns),
            "event_time": instant(event.time_ns),
            "event_type": event.type,
            "run_id": event.run_id,
            "parent_run_id": event.parent_run_id,
            "job_namespace": event.text("job", "namespace"),
            "job_name": event.text("job", "name"),
            "producer": event.text("producer"),
            "raw": json.dumps(event.document, sort_keys=True, ensure_ascii=False, separators=(",", ":")),
        }

    def _tags(self) -> list[Row]:
        newest: dict[Any, Row] = {}
        for event in self._events:
            inputs, outputs = event.document.get("inputs", []), event.document.get("outputs", [])
            for dataset in [*inputs, *outputs, event.document.get("dataset") or {}]:
                facet = dataset.get("facets", {}).get("tags")
                if facet:
                    name = dataset["namespace"], dataset["name"]
                    words = ("key", "value", "field")
                    newest[name] = {
                        "namespace": name[0],
                        "name": name[1],
                        "dataset_id": id_of_names(*name),
                        "tags": [{word: tag.get(word, "") for word in words} for tag in facet["tags"]],
                        "said_ns": event.time_ns or 0,
                        "event_id": event.source,
                    }
        return [*newest.values()]

    def _run(self, run: Any, lineage: Any) -> Row:
        airflow = lambda *path: run.last.at("run", "facets", "airflow", *path)  # noqa: E731
        failure = lineage.failures[0] if lineage.failures else {"error_class": "", "message": ""}
        return {
            **self._place(lineage),
            "job_namespace": lineage.job.namespace,
            "job_name": lineage.job.name,
            "is_counted": lineage.run.id in self._counted,
            "group_id": lineage.group or lineage.run.id,
            "is_instance": bool(lineage.group),
            "parent_run_id": run.last.parent_run_id,
            "parents": sorted({event.parent_run_id for event in run.events} - {""}),
            "root_run_id": run.last.text("run", "facets", "parent", "root", "run", "runId"),
            "state": run.last.type,
            "nominal_start": at(run.last.text("run", "facets", "nominalTime", "nominalStartTime")),
            "started_at": instant(run.events[0].time_ns),
            "ended_at": instant(run.last.time_ns) if run.last.type in ("complete", "fail", "abort") else None,
            "error_class": failure["error_class"],
            "error_message": failure["message"],
            "gaps": len(lineage.gaps),
            "attempt": airflow("taskInstance", "try_number"),
            "dag_id": lineage.run.dag_id,
            "task_id": lineage.run.task_id,
            "airflow_run_id": airflow("dagRun", "run_id")
            or run.last.text("run", "facets", "airflowDagRun", "dagRun", "run_id"),
            "map_index": airflow("taskInstance", "map_index"),
            "logical_date": lineage.run.logical_date,
            "owners": list(lineage.run.owners),
            "application_id": "",
            "event_time_text": run.last.text("eventTime"),
            "event_dates": sorted({day(event.time_ns) for event in run.events}),
            "time_ns": run.last.time_ns or 0,
            "last_event_id": run.last.source,
            "is_sealed": False,
        }

    @staticmethod
    def _place(lineage: Any) -> Row:
        time_ns = lineage.run.time_ns
        return {
            "run_id": lineage.run.id,
            "event_date": day(time_ns),
            "event_time": instant(time_ns),
            "job_id": id_of_names(*lineage.job),
        }

    def _touched(self) -> None:
        """Make the tables of what runs read and wrote, with versions and schemas."""
        for table in ("run_inputs", "run_outputs", "assertions"):
            self.rows[table] = []
        self._known: dict[int, tuple[str, str]] = {}
        versions: dict[int, Row] = {}
        schemas: dict[tuple[int, int], Row] = {}
        for _, lineage in self._lineages:
            place = self._place(lineage)
            touches = [("run_inputs", read.input, read) for read in lineage.reads]
            touches += [("run_outputs", write.output, write) for write in lineage.writes]
            for table, name, touch in touches if lineage.run.id in self._counted else ():
                dataset_id = self._known_id(name)
                schema_id = number_of(touch.fields) if touch.fields else None
                counts = touch.statistics
                row = {**place, "dataset_id": dataset_id, "schema_id": schema_id}
                row |= {"row_count": counts.get("rows"), "bytes": counts.get("size_bytes")}
                row["files"] = counts.get("files")
                if table == "run_outputs":
                    version = self._version(lineage, touch)
                    seen(versions, version["lineage_id"], version, place["event_time"])
                    row |= {"lineage_id": version["lineage_id"], "lifecycle": touch.mode}
                self.rows[table].append(row)
                if touch.fields:
                    columns = [{"name": column, "type": kind} for column, kind in touch.fields]
                    content = {"dataset_id": dataset_id, "schema_id": schema_id, "columns": columns}
                    seen(schemas, (dataset_id, schema_id), content, place["event_time"])
                for check in touch.checks:
                    words = ("column", "name", "status", "severity", "expected", "actual")
                    result = {word: check[word] for word in words}
                    more = {"event_date": place["event_date"], "dataset_id": dataset_id}
                    self.rows["assertions"].append({"run_id": place["run_id"], **more, **result})
        self.rows["dataset_schemas"] = [*schemas.values()]
        self.rows["lineage_versions"] = [*versions.values()]

    def _known_id(self, name: tuple[str, str]) -> int:
        return self._known.setdefault(id_of_names(*name), name) and id_of_names(*name)

    def _version(self, lineage: Any, write: Any) -> Row:
        edges = [
            {
                "source_id": self._known_id(edge.source),
                "source_column": edge.field,
                "target_column": edge.column,
                "type": edge.type,
                "subtype": edge.subtype,
                "masking": edge.masking,
            }
            for edge in write.edges
        ]
        gaps = [
            {
                **{column: gap[key] for column, key in GAP.items()},
                "of_output": gap["output"] is not None,
            }
            for gap in write.gaps
        ]
        content = {
            "job_id": id_of_names(*lineage.job),
            "target_id": id_of_names(*write.output),
            "edges": sorted(edges, key=repr),
            "sources": sorted(map(self._known_id, write.sources)),
            "gaps": sorted(gaps, key=repr),
            "is_planned": write.is_planned,
            "n_edges": len(write.edges),
        }
        return {"lineage_id": number_of(content), **content}

    def _edges(self) -> None:
        columns: dict[Any, Row] = {}
        datasets: dict[Any, Row] = {}
        versions = {row["lineage_id"]: row for row in self.rows["lineage_versions"]}
        for output in sorted(self.rows["run_outputs"], key=lambda row: (row["event_time"], row["run_id"])):
            version = versions[output["lineage_id"]]
            ends = {"job_id": version["job_id"], "target_id": version["target_id"]}
            for edge in version["edges"]:
                key = number_of((edge, ends))
                seen(columns, key, {"edge_id": key, **edge, **ends}, output["event_time"])
                columns[key]["last_run_id"] = output["run_id"]
            for source in version["sources"]:
                key = number_of((source, ends))
                seen(datasets, key, {"edge_id": key, "source_id": source, **ends}, output["event_time"])
        self.rows["column_edges"], self.rows["dataset_edges"] = [*columns.values()], [*datasets.values()]

    def _jobs(self) -> list[Row]:
        jobs: dict[int, Row] = {}
        counted = [row for row in self.rows["runs"] if row["is_counted"]]
        for row in sorted(counted, key=lambda row: (row["time_ns"], row["last_event_id"])):
            content = {"job_id": row["job_id"], "namespace": row["job_namespace"], "name": row["job_name"]}
            seen(jobs, row["job_id"], content, row["event_time"])
            jobs[row["job_id"]] |= {"last_run_id": row["run_id"], "last_state": row["state"]}
        return [*jobs.values()]

    def _symlinks(self) -> list[Row]:
        said: dict[Any, list[int]] = {}
        for event in self._events:
            for alias, owner in symlinks_of(event):
                said.setdefault((alias, owner), []).append(event.time_ns or 0)
        followed = dict(self._names.moved())
        rows = []
        for (alias, owner), times in said.items():
            owners = followed.get(alias, [])
            after = [time for time, other in owners if other != owner and time > min(times)]
            rows.append(
                {
                    "namespace": alias[0],
                    "name": alias[1],
                    "dataset_id": self._known_id(owner),
                    "valid_from": instant(min(times)),
                    "valid_to": instant(min(after, default=None)),
                    "is_followed": alias in followed,
                    "first_said_ns": min(times),
                    "last_said_ns": max(times),
                }
            )
            self._known_id(alias)
        return rows

    def _datasets(self) -> list[Row]:
        meanings = dict(self._names.aliases())
        rows = []
        for dataset_id, name in self._known.items():
            reads = [row for row in self.rows["run_inputs"] if row["dataset_id"] == dataset_id]
            writes = [row for row in self.rows["run_outputs"] if row["dataset_id"] == dataset_id]
            last = max(writes, key=lambda row: (row["event_time"], row["run_id"]), default=None)
            rows.append(
                {
                    "dataset_id": dataset_id,
                    "namespace": name[0],
                    "name": name[1],
                    "canonical_id": id_of_names(*meanings.get(name, name)),
                    "first_seen": min((row["event_time"] for row in reads + writes), default=None),
                    "last_written_at": last and last["event_time"],
                    "last_read_at": max((row["event_time"] for row in reads), default=None),
                    "last_writer": last and last["job_id"],
                    "state": "unknown"
                    if not last
                    else "dropped"
                    if last["lifecycle"] == "drop"
                    else "exists",
                }
            )
        return rows

    def _current(self) -> list[Row]:
        return [
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
            for write in Current.of(self._events).writes
            for edge in write.edges
        ]


def seen(rows: dict[Any, Row], key: Any, content: Row, time: datetime) -> None:
    """Add a row, or widen the interval between its first and last time."""
    row = rows.setdefault(key, {**content, "first_seen": time, "last_seen": time})
    row["first_seen"], row["last_seen"] = min(row["first_seen"], time), max(row["last_seen"], time)


HASHES = {"lineage_id": "lineage_versions", "schema_id": "dataset_schemas"}


def comparable_tables(rows: dict[str, list[Row]]) -> dict[str, list[str]]:
    """Return rows without what only one load has, and with contents in place of their hashes."""
    versions = {
        row["lineage_id"]: repr([row["edges"], row["sources"]])
        for row in map(plain, rows["lineage_versions"])
    }
    schemas = {row["schema_id"]: repr(row["columns"]) for row in rows["dataset_schemas"]}
    contents = {"lineage_id": versions, "schema_id": schemas}
    left_out = {"edge_id", "source", "load_id"}
    return {
        table: sorted(
            repr(
                sorted(
                    (key, contents[key].get(value) if key in contents else value)
                    for key, value in plain(row).items()
                    if key not in left_out
                )
            )
            for row in some
        )
        for table, some in rows.items()
        if table not in ("loads", "current_runs")
    }


def plain(row: Row) -> Row:
    """Return a row whose lists have one order, and whose numbers have one type."""
    changed = {
        key: sorted(row[key], key=lambda each: repr(sorted(each.items())))
        for key in ("edges", "gaps")
        if isinstance(row.get(key), list)
    }
    changed |= {key: [dict(sorted(each.items())) for each in some] for key, some in changed.items()}
    numbers = {
        key: int(row[key]) for key in ("time_ns", "said_ns", "first_said_ns", "last_said_ns") if key in row
    }
    times = {key: value.timestamp() for key, value in row.items() if isinstance(value, datetime)}
    return {**row, **changed, **numbers, **times}


def plain_warehouse(path: Path, documents: list[Row]) -> Path:
    """Write the tables as a load writes them, one folder for each date."""
    rows = PlainTables(documents).rows
    counted = [row for row in rows["runs"] if row["is_counted"]]
    rows["current_runs"] = [{"run_id": row["run_id"], "run_date": row["event_date"]} for row in counted]
    rows["events"] = [{**row, "source": "events.jsonl", "load_id": "plain"} for row in rows["events"]]
    tables: dict[str, dict[str, list[str]]] = {name: {} for name in TABLES}
    for name, some in rows.items():
        schema = pa.schema([(column.name, arrow_type(column.type)) for column in TABLES[name].columns])
        parts = defaultdict(list)
        for row in some:
            parts[str(row["event_date"]) if TABLES[name].partition else ""].append(row)
        for part, of_part in parts.items():
            folder = f"data/plain/{name}" + (f"/day={part}" if part else "")
            (path / folder).mkdir(parents=True)
            pq.write_table(pa.Table.from_pylist(of_part, schema), path / folder / "part-0.parquet")
            tables[name][part] = [folder]
    publish(StoredTables(path, "plain", tables))
    return path


SIMPLE = {
    "STRING": pa.string(),
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "DECIMAL(21, 0)": pa.decimal128(21, 0),
}


def arrow_type(of_spark: str | exp.DataType) -> Any:
    """Return the type of a column as Arrow has it."""
    kind = exp.DataType.build(of_spark, dialect="spark")
    if kind.is_type(exp.DataType.Type.ARRAY):
        return pa.list_(arrow_type(kind.expressions[0]))
    if kind.is_type(exp.DataType.Type.STRUCT):
        return pa.struct([(each.name, arrow_type(each.args["kind"])) for each in kind.expressions])
    return SIMPLE[kind.sql("spark")]
