"""The versioned JSON contract between capture and everything after it: one Spark execution, one file.

This module knows the shape of a record and how it is stored; it does not know Spark, and it does not
interpret a plan. It runs on the cluster's driver too: standard library only, Python 3.9 syntax.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

FORMAT = "spark-lineage-record"
VERSION = 1
SUFFIX = ".record.json.gz"

MAX_MESSAGE_LENGTH = 4000
"""Characters of an error's message; it is cut after secrets are removed: half a secret is not recognised."""

REFRESH = "refresh"
"""Name of an execution by which a declarative pipeline fills a table that it emptied: its plan appends."""

FULL, MASKED, NONE = SQL_TEXTS = ("full", "masked", "none")
"""How much is recorded of SQL statements, and of error messages, which may repeat them.

`full`: everything but secrets. `masked`: literals are left out too. `none`: nothing.
"""


class RecordError(ValueError):
    """A record, or the place where records should be, cannot be read; the message says which and why."""


@dataclass
class Record:
    """One Spark execution, as captured while the JVM was alive."""

    application_id: str
    application_name: str
    spark_version: str
    number: int
    """Position of this execution among those captured of the application, from 1."""

    name: str
    """Spark's name of the action: `command`, `count`, `collectToPython`; or `REFRESH`."""

    started_at: str
    """ISO 8601, UTC."""

    ended_at: str
    outcome: str
    """`success` or `failure`."""

    error: dict[str, str] | None = None
    """`class`, `message` and, where Spark has one, `sql_state`."""

    sql: str = ""
    """The SQL text, if the execution came from one."""

    plan_kind: str = "analyzed"
    """`analyzed`, `optimized` when the analyzed plan was too large, `rdd` for a job that has no query,
    `explain` where there is only text, `none` when there is no plan."""

    plan: list[Any] = field(default_factory=list)
    """Spark's `TreeNode.toJSON` without the values of literals. For a job over an RDD: a node `RDD`, below a
    node `SavedRDD` if the job writes."""

    explain: str = ""
    """Spark's extended explain text, where that is all there is: plan and facts are read from it."""

    settings: dict[str, str] = field(default_factory=dict)
    """Spark's settings that name catalogs and places, where a text is all there is."""

    facts: list[dict[str, Any]] = field(default_factory=list)
    """One entry for each leaf and write target: `node`, `expr_id` of its first column, `probed` values."""

    metrics: list[dict[str, Any]] = field(default_factory=list)
    """One entry for each physical scan or write: `node`, `location`, and `rows`, `files`, `size_bytes`."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    """Executions that Spark ran inside this one, in the order in which they ended: `name`, and `plan`,
    `facts` and `metrics`, or `explain`, as in the record."""

    jobs: int | None = None
    """How many jobs Spark started for it; None where they were not counted."""

    written: dict[str, int] | None = None
    """What all tasks of the execution wrote: `rows` and `size_bytes`; None where no tasks ran."""

    problems: list[str] = field(default_factory=list)
    """What capture could not record, a sentence each."""

    rdd_id: int | None = None
    """Set where nothing ran: the RDD with this id yields the plan's rows, and later records refer to it."""

    kept_rdd: int | None = None
    """Id of the RDD that keeps the rows of an eager checkpoint; None for all else."""

    connect: dict[str, Any] = field(default_factory=dict)
    """Of Spark Connect: the `command` around the explained query, the `targets` that it names, the `reads` of
    its plan, and `tables` as the catalog describes them, and did `before` the command."""

    @property
    def failed(self) -> bool:
        """Return whether Spark reported a failure."""
        return self.outcome != "success"

    def to_json(self) -> dict[str, Any]:
        """Return the record as a plain JSON object."""
        return {"format": FORMAT, "version": VERSION, **{f.name: getattr(self, f.name) for f in fields(self)}}

    @classmethod
    def from_json(cls, value: Any) -> Record:
        """Read a plain JSON object; raise `RecordError` where it is not a record of this version."""
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise RecordError("is not a spark-lineage record")
        if value.get("version") != VERSION:
            raise RecordError(
                "has record version {!r}, this spark-lineage reads version {}: "
                "install the release that wrote it".format(value.get("version"), VERSION)
            )
        names = {f.name: f for f in fields(cls)}
        try:
            record = cls(**{name: value[name] for name in names if name in value})
        except TypeError as error:
            raise RecordError(f"lacks fields of a record: {error}") from None
        for name, is_right in _CHECKS.items():
            if not is_right(getattr(record, name)):
                raise RecordError(f"has a wrong value in field {name!r}")
        return record


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_time(value: Any) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except (TypeError, ValueError):
        return False


def _is_list_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _is_fact(value: Any) -> bool:
    """Return whether an entry of `facts` names its node; `sources/` checks what was probed."""
    ids, probed = (int, type(None)), value.get("probed")
    return _is_text(value.get("node")) and isinstance(value.get("expr_id"), ids) and isinstance(probed, dict)


def _is_count(value: Any) -> bool:
    """Return whether an entry of `metrics` has only texts and integers, which can be added up."""
    return all(type(item) in (str, int) for item in value.values())


def _is_list_of_entries(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: _is_list_of(dict)(value) and all(is_right(item) for item in value)


def _is_part(value: Any) -> bool:
    """Return whether an entry of `parts` has the types that a record has under the same names."""
    return _is_text(value.get("name")) and all(
        is_right(value[name]) for name, is_right in _CHECKS.items() if name in _OF_PARTS and name in value
    )


_OF_PARTS = ("plan", "facts", "metrics", "explain")

_CHECKS: dict[str, Callable[[Any], bool]] = {
    "application_id": _is_text,
    "application_name": _is_text,
    "spark_version": _is_text,
    "number": lambda value: isinstance(value, int),
    "name": _is_text,
    "started_at": _is_time,
    "ended_at": _is_time,
    "outcome": lambda value: value in ("success", "failure"),
    "error": lambda value: value is None or isinstance(value, dict),
    "sql": _is_text,
    "plan_kind": _is_text,
    "plan": _is_list_of(dict),
    "facts": _is_list_of_entries(_is_fact),
    "explain": _is_text,
    "settings": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "metrics": _is_list_of_entries(_is_count),
    "parts": _is_list_of_entries(_is_part),
    "jobs": lambda value: value is None or isinstance(value, int),
    "written": lambda value: value is None or (isinstance(value, dict) and _is_count(value)),
    "problems": _is_list_of(str),
    "rdd_id": lambda value: value is None or isinstance(value, int),
    "kept_rdd": lambda value: value is None or isinstance(value, int),
    "connect": lambda value: isinstance(value, dict),
}
"""Field of a record -> whether a value has the type that readers rely on."""


def encode_record(record: Record, attempt: str = "") -> tuple[str, bytes]:
    """Return the name of the record's file, and its content.

    `attempt` is that of a driver which the cluster may start again for the same application.
    """
    name = f"{file_stem(record.application_id, attempt)}-{record.number:06d}{SUFFIX}"
    # Level 1: the plan is repetitive, and a higher level costs the job more than it saves on disk.
    return name, gzip.compress(json.dumps(record.to_json(), separators=(",", ":")).encode("ascii"), 1)


def file_stem(application_id: str, attempt: str = "") -> str:
    """Return how the names of all files begin that a driver writes for an application."""
    return re.sub(r"[^\w.-]", "_", f"{application_id}_{attempt}" if attempt else application_id)


def write_record(directory: str | Path, record: Record) -> Path:
    """Store a record so that a reader sees all of it or nothing; return the file's path."""
    name, content = encode_record(record)
    path = Path(directory, name)
    write_file(path, content)
    return path


def write_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees all of it or nothing."""
    temporary = path.with_name("." + path.name + ".part")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError:
        # The disk may be full: an unfinished file must not take up space.
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def read_record(path: str | Path) -> Record:
    """Read one record file; raise `RecordError` naming the file and the cause."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as source:
            text = source.read()
        if not text:
            raise EOFError("it is empty")
        return Record.from_json(json.loads(text))
    except RecordError as error:
        raise RecordError(f"{path} {error}") from None
    except FileNotFoundError:
        raise RecordError(f"{path} does not exist") from None
    except (EOFError, zlib.error) as error:
        raise RecordError(f"{path} is truncated or damaged: {error}") from None
    except gzip.BadGzipFile as error:
        raise RecordError(f"{path} is not a record: {error}") from None
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror or error}") from None
    # Not UTF-8, not JSON, or an integer with more digits than Python converts.
    except ValueError as error:
        raise RecordError(f"{path} is not a record: {error}") from None
    except RecursionError:
        raise RecordError(f"{path} is nested too deeply to be a record") from None


def record_paths(directory: str | Path) -> list[Path]:
    """Return the record files of a directory in the order in which the executions ended.

    Raise `RecordError` when there is no such directory or no record in it.
    """
    place = Path(directory)
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise RecordError(f"{place} does not exist: give the folder that `spark-lineage run` wrote")
    paths = sorted(place.glob("*" + SUFFIX), key=_order)
    if not paths:
        raise RecordError(f"{place} holds no records: no Spark execution was captured there")
    return paths


def read_records(paths: list[Path], problems: list[str]) -> Iterator[Record]:
    """Yield the readable records; add a sentence to `problems` for each file that is not."""
    for path in paths:
        try:
            yield read_record(path)
        except RecordError as error:
            problems.append(str(error))


def _order(path: Path) -> tuple[str, int, str]:
    """Return the key to sort by: application, then number, also where a number has more than six digits."""
    application, _, number = path.name[: -len(SUFFIX)].rpartition("-")
    return (application, int(number) if number.isdecimal() else 0, path.name)
