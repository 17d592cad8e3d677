"""The stored form of a task's lineage: a task writes it into an XCom or a file, the viewer reads it.

`{"version": 1, "summary": {...}, "data": "..."}`: `data` are the task's OpenLineage events as JSON,
compressed, in base64; `summary` is readable without unpacking them. Whoever may write an XCom may write
anything into it, so every reader checks its input. This module knows neither Airflow nor the stores.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from airflow_provider_spark_lineage.errors import StoredLineageError

VERSION = 1

XCOM_KEY = "spark_lineage"

MAX_STORED_BYTES = 256_000
"""Limit of `data`, in the store: an XCom is a row of Airflow's database."""

MAX_UNPACKED_BYTES = 8_000_000
"""Limit of the JSON in `data`: a few bytes may unpack to gigabytes, and JSON of many small values takes
thirty times as much memory."""

Json = dict[str, Any]


class InstanceKey(NamedTuple):
    """One instance of a task; `map_index` is -1 if the task is not mapped."""

    dag_id: str
    run_id: str
    task_id: str
    map_index: int = -1


class Stored(NamedTuple):
    """Result of `unpack`."""

    events: tuple[Json, ...]
    """OpenLineage events of one run, oldest first."""

    summary: Json
    """What `summary_of` returned when it was written."""


def pack(events: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> Json:
    """Return the stored form of the events of one run; its size is not limited here, see `excess_of`."""
    data = base64.b64encode(zlib.compress(_text_of(events).encode(), 6)).decode()
    return {"version": VERSION, "summary": dict(summary), "data": data}


def excess_of(events: Sequence[Mapping[str, Any]], value: Mapping[str, Any]) -> float:
    """Return by what factor the stored form of some events is too large; at most 1 if it may be stored."""
    return max(len(json.dumps(value)) / MAX_STORED_BYTES, len(_text_of(events)) / MAX_UNPACKED_BYTES)


def _text_of(events: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps({"events": list(events)}, separators=(",", ":"))


def unpack(value: Any) -> Stored:
    """Return the events and the summary of a stored form.

    Raises StoredLineageError with one sentence if it is damaged, was written by another version, or was not
    written by this package.
    """
    summary = summary_in(value)
    data = value.get("data")
    if not isinstance(data, str):
        raise StoredLineageError("The stored lineage has no `data`.")
    if len(data) > MAX_STORED_BYTES:
        raise StoredLineageError("The stored lineage is larger than a task stores.")
    try:
        packed = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise StoredLineageError("The `data` of the stored lineage is not base64.") from None
    try:
        document = json.loads(_unpacked(packed), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise StoredLineageError("The `data` of the stored lineage is not JSON.") from None
    events = document.get("events") if isinstance(document, dict) else None
    if not (isinstance(events, list) and events and all(isinstance(event, dict) for event in events)):
        raise StoredLineageError("The `data` of the stored lineage has no events.")
    return Stored(tuple(events), summary)


def summary_in(value: Any) -> Json:
    """Return the summary of a stored form without unpacking it; raises as `unpack` does."""
    if not isinstance(value, dict) or "version" not in value:
        raise StoredLineageError("The stored value is not the lineage of a task.")
    version = value["version"]
    if version != VERSION or isinstance(version, bool):
        written = f"version {version}" if type(version) is int else "an unknown version"
        raise StoredLineageError(
            f"The lineage was stored as {written}; this viewer reads version {VERSION}:"
            " install the same release of airflow-provider-spark-lineage on workers and API server."
        )
    summary = value.get("summary")
    if not (isinstance(summary, dict) and is_summary(summary)):
        raise StoredLineageError("The summary of the stored lineage is damaged.")
    return summary


def _refuse(constant: str) -> None:
    """Refuse NaN and infinities, which Python reads and no browser does."""
    raise ValueError(constant)


def _unpacked(packed: bytes) -> bytes:
    decompressor = zlib.decompressobj()
    try:
        text = decompressor.decompress(packed, MAX_UNPACKED_BYTES)
    except zlib.error:
        raise StoredLineageError("The `data` of the stored lineage is damaged.") from None
    if decompressor.unconsumed_tail:
        raise StoredLineageError(f"The stored lineage is larger than {MAX_UNPACKED_BYTES // 1_000_000} MB.")
    if not decompressor.eof:
        raise StoredLineageError("The stored lineage ends in the middle.")
    return text


# The summary.

_COUNTS = ("rows", "size_bytes", "files")


def summary_of(
    event: Mapping[str, Any], *, try_number: int | None, map_index: int, began: str, ended: str
) -> Json:
    """Return the summary of a task's event, as plain JSON.

    `schema` and `edges` are short digests: the history of a task compares them to find changes. `began` and
    `ended` are ISO times, or empty.
    """
    outputs = sorted(_datasets(event, "outputs"), key=lambda each: (each["namespace"], each["name"]))
    return {
        "try": try_number,
        "map_index": None if map_index < 0 else map_index,
        "state": str(event.get("eventType") or "other").lower(),
        "began": began,
        "ended": ended,
        "outputs": [
            {"namespace": _storable(each["namespace"]), "name": _storable(each["name"]), **_counts(each)}
            for each in outputs
        ],
        "gaps": len(_listed(event, "run", "facets", "sparkLineage_gaps", "gaps")),
        "failures": len(_listed(event, "run", "facets", "sparkLineage_failures", "failures")),
        "schema": _digest([_named(each, _at(each, "facets", "schema", "fields")) for each in outputs]),
        "edges": _digest([_named(each, _edges(each)) for each in outputs]),
    }


def _storable(name: str) -> str:
    """Return a name without what PostgreSQL refuses in JSON: NUL, and halves of characters."""
    return name.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def is_summary(value: Json) -> bool:
    """Return whether an object has the form of a summary; its texts may be anything."""
    return (
        all(isinstance(value.get(name), str) for name in ("state", "began", "ended", "schema", "edges"))
        and all(_is_count(value.get(name)) for name in ("try", "map_index", "gaps", "failures"))
        and isinstance(value.get("outputs"), list)
        and all(map(_is_output, value["outputs"]))
    )


def _is_output(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(name), str) for name in ("namespace", "name"))
        and all(_is_count(value.get(name)) for name in _COUNTS)
    )


def _is_count(value: Any) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _datasets(event: Mapping[str, Any], part: str) -> Iterator[Mapping[str, Any]]:
    for dataset in event.get(part) or ():
        if all(isinstance(dataset.get(name), str) for name in ("namespace", "name")):
            yield dataset


def _counts(output: Mapping[str, Any]) -> Json:
    """Return rows, bytes and files of an output, each None if it is unknown."""
    facet = _at(output, "outputFacets", "outputStatistics") or {}
    values = (facet.get("rowCount"), facet.get("size"), facet.get("fileCount"))
    return {
        name: value if type(value) is int and value >= 0 else None
        for name, value in zip(_COUNTS, values, strict=True)
    }


def _named(output: Mapping[str, Any], what: Any) -> Any:
    return [output["namespace"], output["name"], what]


def _edges(output: Mapping[str, Any]) -> Any:
    """Return the sources of an output's columns and rows, without what may differ between equal runs."""
    facet = _at(output, "facets", "columnLineage") or {}
    fields = facet.get("fields") or {}
    of_columns = {name: sorted(map(_edge, field.get("inputFields") or ())) for name, field in fields.items()}
    return [of_columns, sorted(map(_edge, facet.get("dataset") or ()))]


def _edge(source: Mapping[str, Any]) -> str:
    kinds = sorted(
        f"{kind.get('type')} {kind.get('subtype')}" for kind in source.get("transformations") or ()
    )
    return json.dumps([source.get("namespace"), source.get("name"), source.get("field"), kinds])


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _listed(event: Mapping[str, Any], *path: str) -> Sequence[Any]:
    value = _at(event, *path)
    return value if isinstance(value, list) else []


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


# Files of a store that is a folder.

SUFFIX = ".json.z"


def folder_of(dag_id: str, run_id: str = "", task_id: str = "", map_index: int | None = None) -> str:
    """Return the folder of a DAG, a run, a task in a run or one instance, relative to the store.

    Ids are percent-encoded, also the dots of `..`: no id leads out of the store.

    >>> folder_of("shop", "manual__2026-11-24T00:00:00+00:00", "load", -1)
    'shop/manual__2026-11-24T00%3A00%3A00%2B00%3A00/load/-1'
    """
    ids = [dag_id, run_id, task_id, "" if map_index is None else str(map_index)]
    return "/".join(_encoded(each) for each in ids if each)


def file_of(instance: InstanceKey, try_number: int) -> str:
    """Return the file of one try of a task instance, relative to the store."""
    return f"{folder_of(*instance)}/{try_number}{SUFFIX}"


def _encoded(name: str) -> str:
    encoded = quote(name, safe="")
    return encoded.replace(".", "%2E") if not encoded.strip(".") else encoded


def to_file(value: Mapping[str, Any]) -> bytes:
    """Return the content of a file with a stored form."""
    return zlib.compress(json.dumps(value).encode(), 6)


def from_file(content: bytes) -> Any:
    """Return the stored form in a file, unchecked; raises StoredLineageError if it is not readable."""
    try:
        return json.loads(_unpacked(content))
    except (ValueError, RecursionError):
        raise StoredLineageError("The file of the stored lineage is not JSON.") from None
