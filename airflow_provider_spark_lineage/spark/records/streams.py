"""Runs of the streaming queries of one Spark application. Also runs on the cluster's driver.

The facts are Spark's own, from the events of its `StreamingQueryListener`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Mapping, Optional, Tuple

from airflow_provider_spark_lineage.spark.records.credentials import without_secrets

MOST_RUNS = 200
"""Number of runs that are kept of an application: the first ones that ended are forgotten."""

MOST_SOURCES = 20
MAX_OFFSET_LENGTH = 1000
MAX_TEXT_LENGTH = 400

RUNNING, SUCCESS, FAILURE = OUTCOMES = ("running", "success", "failure")

_LAG = re.compile(r"behind|outstanding|lag", re.IGNORECASE)
"""Metrics of sources about data not read yet, as Kafka's `maxOffsetsBehindLatest`."""


@dataclass(frozen=True)
class StreamSource:
    """One source of a streaming query, as of the last batch."""

    description: str
    start_offset: str = ""
    """Where the batch began, mostly as JSON; empty for the first batch."""

    end_offset: str = ""
    rows: int = 0
    input_rows_per_second: Optional[float] = None
    """Rows that arrived per second since the batch before."""

    processed_rows_per_second: Optional[float] = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    """What the source knows of the data that it has not read yet."""


@dataclass(frozen=True)
class Progress:
    """Spark's report of the last batch of a query."""

    batch_id: int = -1
    at: str = ""
    """ISO 8601: when the batch began."""

    duration_ms: Optional[int] = None
    watermark: str = ""
    """ISO 8601: rows with an earlier event time are late."""

    sink: str = ""
    sources: Tuple[StreamSource, ...] = ()


@dataclass(frozen=True)
class StreamRun:
    """One run of a streaming query; a restart from a checkpoint is a new run of the same query."""

    id: str
    """Id of the query, which its checkpoint keeps."""

    run_id: str
    name: str = ""
    started_at: str = ""
    """ISO 8601; empty if it started before the capture."""

    ended_at: str = ""
    """ISO 8601; empty if it runs, and in an event log, which does not tell it."""

    outcome: str = RUNNING
    """One of `OUTCOMES`."""

    batches: int = 0
    rows: int = 0
    """Rows that its batches read; Spark counts each time that the function of `foreachBatch` reads them."""

    error: Mapping[str, str] = field(default_factory=dict)
    """`class`, first line of the `message`, and Spark's `condition`; empty if the query has not failed."""

    last: Optional[Progress] = None

    @classmethod
    def from_json(cls, value: Any) -> Optional[StreamRun]:
        """Return the run of plain JSON values as `Streams.from_json`; None if they do not describe a run."""
        if not isinstance(value, dict):
            return None
        known = _known(cls, value)
        for name in ("started_at", "ended_at"):
            known[name] = _time(known.get(name, ""))
        if not known.get("run_id") or known.get("outcome", RUNNING) not in OUTCOMES:
            return None
        errors = value.get("error")
        error = {
            name: _text(errors[name])
            for name in ("class", "message", "condition")
            if isinstance(errors, dict) and isinstance(errors.get(name), str) and errors[name]
        }
        return cls(**{"id": "", **known}, error=error, last=_progress(value.get("last")))


@dataclass(frozen=True)
class Streams:
    """The runs of streaming queries of an application, while it was captured."""

    count: int = 0
    runs: Tuple[StreamRun, ...] = ()
    """At most `MOST_RUNS`, in the order of their starts."""

    @classmethod
    def from_json(cls, value: Any) -> Optional[Streams]:
        """Return the streams of plain JSON values, without secrets; None if there are none.

        Values of a wrong type are left out.
        """
        if not isinstance(value, dict):
            return None
        runs = tuple(filter(None, map(StreamRun.from_json, _list(value.get("runs")))))[-MOST_RUNS:]
        return cls(max(_known(cls, value).get("count", 0), len(runs)), runs)


def error_of(exception: str, condition: str = "") -> dict[str, str]:
    """Return class, message and condition of the text that Spark has of an exception.

    >>> error_of("java.io.IOException: disk full\\n\\tat org.apache.spark...")
    {'class': 'java.io.IOException', 'message': 'disk full', 'condition': ''}
    """
    line = exception.partition("\n")[0]
    name, _, message = line.partition(": ")
    has_class = re.fullmatch(r"[\w.$]+", name, re.ASCII)
    error = {"class": name, "message": message} if has_class else {"class": "", "message": line}
    return {**error, "condition": condition}


def _progress(value: Any) -> Optional[Progress]:
    if not isinstance(value, dict) or "batch_id" not in value:
        return None
    sources = filter(None, map(_source, _list(value.get("sources"))[:MOST_SOURCES]))
    return Progress(**_known(Progress, value), sources=tuple(sources))


def _source(value: Any) -> Optional[StreamSource]:
    if not isinstance(value, dict):
        return None
    metrics = value.get("metrics")
    known = _known(StreamSource, value)
    for name in ("start_offset", "end_offset"):
        known[name] = _offset(value.get(name))
    lag = {
        name: number
        for name, each in (metrics.items() if isinstance(metrics, dict) else ())
        if _LAG.search(name) and (number := _number(each)) is not None
    }
    return StreamSource(**{"description": "", **known}, metrics=lag)


def _offset(value: Any) -> str:
    """Return an offset as compact JSON, or unchanged if it is not JSON."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            parsed = value
        value = parsed
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return without_secrets(text)[:MAX_OFFSET_LENGTH]


def _number(value: Any) -> Optional[float]:
    """Return a metric, which Spark has as a text."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if abs(number) < 1e300 else None


def _time(text: str) -> str:
    """Return a time in ISO 8601 with a zone; empty for another text."""
    try:
        # Python 3.10 does not read Z.
        return text if datetime.fromisoformat(text.replace("Z", "+00:00")).tzinfo else ""
    except ValueError:
        return ""


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _text(value: str) -> str:
    return without_secrets(value)[:MAX_TEXT_LENGTH]


_KINDS: Mapping[str, Any] = {"int": int, "str": str, "Optional[int]": int, "Optional[float]": (int, float)}


def _known(kind: Any, value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plain values of a class's fields that have the right type; texts without secrets."""
    known = {
        each.name: value[each.name]
        for each in fields(kind)
        if each.type in _KINDS
        and isinstance(value.get(each.name), _KINDS[str(each.type)])
        and not isinstance(value[each.name], bool)
    }
    return {name: _text(item) if isinstance(item, str) else item for name, item in known.items()}
