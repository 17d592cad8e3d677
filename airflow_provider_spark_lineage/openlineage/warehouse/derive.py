"""Rows from events: pure functions, which Spark calls in its Python workers.

Which event counts is decided by `events.runs`, and the lineage of a run is read by `graph.run_lineage`: the
same rule as in the viewer and in the graph.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.instants import SECOND_NS, instant_ns
from airflow_provider_spark_lineage.openlineage.events.model import Event, Events
from airflow_provider_spark_lineage.openlineage.events.reader import events_of_text
from airflow_provider_spark_lineage.openlineage.events.runs import RunEvents, counted_runs
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, object_at, objects, text
from airflow_provider_spark_lineage.openlineage.events.tagged import tag_facets_of
from airflow_provider_spark_lineage.openlineage.graph.names import symlinks_of
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import (
    RunLineage,
    RunRead,
    RunWrite,
    lineage_of,
)
from airflow_provider_spark_lineage.openlineage.warehouse.ids import id_of_names

Row = dict[str, Any]
"""Column -> value. A DATE is a number of days, a TIMESTAMP a number of microseconds, both since 1970."""

_DAY_NS = 86_400 * SECOND_NS

_MOST_FILES = 2**63 - 1
"""Greatest BIGINT: a larger count is left out."""


def event_rows(
    line: bytes, file: str, number: int, dropped_facets: frozenset[str] = frozenset()
) -> Iterator[Row]:
    """Yield a row for each event of a line, and one with a `problem` for each text that is not an event.

    Facets with some names are left out of events.
    """
    try:
        content = line.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield {"problem": f"{file}, line {number}: not UTF-8 ({error.reason}).", "raw": repr(line)[2:-1]}
        return
    for item in events_of_text(content, file, number):
        if isinstance(item, str):
            yield {"problem": item, "raw": content.encode("utf-8", "replace").decode()}
        else:
            try:
                yield _event_row(without_facets(item.document, dropped_facets), file)
            except RecursionError:
                yield {"problem": f"{file}, line {number}: nested too deeply.", "raw": content}


def raw_of(document: Mapping[str, Any]) -> str:
    """Return an event as JSON that is the same for every order of its keys, and that every store can hold.

    >>> raw_of({"b": 1, "a": "é"})
    '{"a":"é","b":1}'
    """
    # Half of a surrogate pair is no character of UTF-8.
    return _TO_RAW(document).encode("utf-8", "replace").decode()


# A document that was read from JSON does not contain itself: to look for it would take a fifth of the time.
_TO_RAW = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), check_circular=False
).encode


def event_id_of(raw: str) -> str:
    """Return the id of an event, given as `raw_of` returns it."""
    return hashlib.sha256(raw.encode()).hexdigest()


_FACETS = ("facets", "inputFacets", "outputFacets")
"""Keys of facets in a run, job or dataset."""


def without_facets(document: Mapping[str, Any], names: frozenset[str]) -> Mapping[str, Any]:
    """Return an event without the facets of its run, job and datasets that have some names.

    >>> without_facets({"run": {"runId": "1", "facets": {"secret": {}, "parent": {}}}}, frozenset({"secret"}))
    {'run': {'runId': '1', 'facets': {'parent': {}}}}
    """
    if not names:
        return document
    parts = {
        key: [_without(each, names) for each in value] if isinstance(value, list) else _without(value, names)
        for key, value in document.items()
        if key in ("run", "job", "dataset", "inputs", "outputs")
    }
    return {**document, **parts}


def _without(part: Any, names: frozenset[str]) -> Any:
    if not isinstance(part, dict):
        return part
    facets = {
        key: {name: facet for name, facet in part[key].items() if name not in names}
        for key in _FACETS
        if isinstance(part.get(key), dict)
    }
    return {**part, **facets}


def _event_row(document: Mapping[str, Any], file: str) -> Row:
    raw = raw_of(document)
    # What UTF-8 cannot hold is replaced in every column.
    event = Event(json.loads(raw) if "?" in raw else document)
    return {
        "event_id": event_id_of(raw),
        "event_date": _day(event.time_ns or 0),
        "event_time": _micros(event.time_ns),
        "event_type": event.type,
        "run_id": event.run_id,
        "parent_run_id": event.parent_run_id,
        "job_namespace": event.text("job", "namespace"),
        "job_name": event.text("job", "name"),
        "producer": event.text("producer"),
        "raw": raw,
        "source": file,
    }


def in_order(events: Iterable[Event]) -> list[Event]:
    """Return events in the order of their times and ids, whatever order they came in; `source` is the id."""
    return sorted(events, key=lambda event: (event.time_ns or 0, event.source))


def derived(texts: Iterable[str]) -> Iterator[tuple[str, Row]]:
    """Yield rows, each with its table, from all events of some runs and of the runs above and below them.

    Besides the tables there are `versions`, `schemas` and `names`: the contents behind ids; and what
    `of_events` yields.
    """
    events = in_order(map(event_of, texts))
    whole = Events(tuple(events))
    yield from of_events(events)
    for run, is_counted in counted_runs(whole):
        lineage = lineage_of(run, whole)
        yield "runs", _run_row(run, lineage, is_counted)
        if is_counted:
            yield from _datasets_of(lineage)


def event_of(raw: str) -> Event:
    """Return an event, given as `raw_of` returns it; `source` is its id."""
    return Event(json.loads(raw), event_id_of(raw))


def of_events(events: Iterable[Event]) -> Iterator[tuple[str, Row]]:
    """Yield the rows that follow from each event alone, whatever its run: `statements` and `tags`."""
    for event in events:
        for row in statements(event):
            yield "statements", row
        for row in tag_rows(event):
            yield "tags", row


def statements(event: Event) -> Iterator[Row]:
    """Yield the statements of an event about names: a symlink, its dataset, and the time."""
    for alias, owner in symlinks_of(event):
        yield {
            "namespace": alias[0],
            "name": alias[1],
            "dataset_id": id_of_names(*owner),
            "dataset_namespace": owner[0],
            "dataset_name": owner[1],
            "said_ns": event.time_ns or 0,
        }


def tag_rows(event: Event) -> Iterator[Row]:
    """Yield the tags that an event states, a row for each dataset; `source` of the event is its id."""
    for dataset, facet in dict(tag_facets_of(event)).items():
        tags = objects(facet.get("tags"))
        yield {
            **_name(dataset),
            "tags": [{key: text(tag.get(key)) for key in ("key", "value", "field")} for tag in tags],
            "said_ns": event.time_ns or 0,
            "event_id": event.source,
        }


def _run_row(events: RunEvents, lineage: RunLineage, is_counted: bool) -> Row:
    last, run = events.last, lineage.run
    described = next((each for each in reversed(events.events) if each.task_try), last)
    failure = lineage.failures[0] if lineage.failures else {}
    return {
        **_place(lineage),
        "job_namespace": lineage.job.namespace,
        "job_name": lineage.job.name,
        "is_counted": is_counted,
        "group_id": lineage.group or run.id,
        "is_instance": bool(lineage.group),
        "parent_run_id": last.parent_run_id,
        "parents": sorted({event.parent_run_id for event in events.events} - {""}),
        "root_run_id": last.root_run_id,
        "state": run.state,
        "nominal_start": _instant(events.facets, "nominalTime", "nominalStartTime"),
        "started_at": _micros(events.events[0].time_ns),
        "ended_at": _micros(last.time_ns) if events.is_ended else None,
        "error_class": failure.get("error_class", ""),
        "error_message": failure.get("message", ""),
        "gaps": len(lineage.gaps),
        "attempt": _small(described.try_number),
        "dag_id": run.dag_id,
        "task_id": run.task_id,
        "airflow_run_id": described.dag_run[1] if described.dag_run else "",
        "map_index": _small(described.map_index),
        "logical_date": run.logical_date,
        "owners": list(run.owners),
        "application_id": _application_of(events.facets),
        "event_time_text": run.time,
        "event_dates": sorted({_day(event.time_ns or 0) for event in events.events}),
        "time_ns": run.time_ns,
        "last_event_id": last.source,
        "is_sealed": False,
    }


def _datasets_of(lineage: RunLineage) -> Iterator[tuple[str, Row]]:
    place = _place(lineage)
    for read in lineage.reads:
        yield "run_inputs", {**place, **_touched(read.input, read)}
        yield from _contents(read.input, read)
        yield from _assertions(lineage, read.input, read)
    for write in lineage.writes:
        version = _version(lineage, write)
        more = {"lineage_id": version["lineage_id"], "lifecycle": write.mode}
        yield "run_outputs", {**place, **_touched(write.output, write), **more}
        yield "versions", version
        yield from _contents(write.output, write)
        for source in {*write.sources, *(edge.source for edge in write.edges)}:
            yield "names", _name(source)
        yield from _assertions(lineage, write.output, write)


def _place(lineage: RunLineage) -> Row:
    return {
        "run_id": lineage.run.id,
        "event_date": _day(lineage.run.time_ns),
        "event_time": _micros(lineage.run.time_ns),
        "job_id": id_of_names(*lineage.job),
    }


def _touched(dataset: Id, touch: RunRead | RunWrite) -> Row:
    counts = {key: value for key, value in touch.statistics.items() if abs(value) <= _MOST_FILES}
    return {
        "dataset_id": id_of_names(*dataset),
        "row_count": counts.get("rows"),
        "bytes": counts.get("size_bytes"),
        "files": counts.get("files"),
        "schema_id": _schema_id(touch.fields),
    }


def _contents(dataset: Id, touch: RunRead | RunWrite) -> Iterator[tuple[str, Row]]:
    yield "names", _name(dataset)
    schema_id = _schema_id(touch.fields)
    if schema_id is not None:
        columns = [{"name": name, "type": kind} for name, kind in touch.fields]
        yield "schemas", {"schema_id": schema_id, "columns": columns}


def _name(dataset: Id) -> Row:
    return {"dataset_id": id_of_names(*dataset), "namespace": dataset[0], "name": dataset[1]}


def _assertions(lineage: RunLineage, dataset: Id, touch: RunRead | RunWrite) -> Iterator[tuple[str, Row]]:
    words = ("column", "name", "status", "severity", "expected", "actual")
    for check in touch.checks:
        place = {"run_id": lineage.run.id, "event_date": _day(lineage.run.time_ns)}
        row = {word: check[word] for word in words}
        yield "assertions", {**place, "dataset_id": id_of_names(*dataset), **row}


@lru_cache(maxsize=2_000)
def _schema_id(fields: tuple[tuple[str, str], ...]) -> int | None:
    return id_of_names(json.dumps(fields)) if fields else None


def _version(lineage: RunLineage, write: RunWrite) -> Row:
    """Return the lineage of an output with an id that is the same in every run that says the same."""
    content = {
        "job_id": id_of_names(*lineage.job),
        "target_id": id_of_names(*write.output),
        "edges": sorted(
            (
                {
                    "source_id": id_of_names(*edge.source),
                    "source_column": edge.field,
                    "target_column": edge.column,
                    "type": edge.type,
                    "subtype": edge.subtype,
                    "masking": edge.masking,
                }
                for edge in write.edges
            ),
            key=json.dumps,
        ),
        "sources": sorted(id_of_names(*source) for source in write.sources),
        "gaps": sorted(map(_gap_row, write.gaps), key=json.dumps),
        "is_planned": write.is_planned,
    }
    lineage_id = id_of_names(json.dumps(content, sort_keys=True))
    return {"lineage_id": lineage_id, **content, "n_edges": len(write.edges)}


def _gap_row(gap: Mapping[str, Any]) -> Row:
    return {
        "place": gap["where"],
        "kind": gap["kind"],
        "reason": gap["reason"],
        "column": gap["column"],
        "of_output": gap["output"] is not None,
    }


def _application_of(facets: Mapping[str, Any]) -> str:
    applications = objects(object_at(facets, "sparkLineage_application").get("applications"))
    named = [text(entry.get("applicationId")) for entry in applications]
    named.append(text(object_at(facets, "spark_applicationDetails").get("applicationId")))
    return next(filter(None, named), "")


def _instant(facets: Mapping[str, Any], facet: str, key: str) -> int | None:
    try:
        return _micros(instant_ns(text(object_at(facets, facet).get(key)).upper()))
    except ValueError:
        return None


def _micros(time_ns: int | None) -> int | None:
    return None if time_ns is None else time_ns // 1000


def _day(time_ns: int) -> int:
    return time_ns // _DAY_NS


def _small(number: int | None) -> int | None:
    """Return a number that an INT can hold."""
    return number if number is not None and number < 2**31 else None
