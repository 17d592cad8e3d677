"""The versioned JSON contract between capture and its readers: one file for each Spark execution.

This module defines the structure of a record and its storage; it does not use Spark or interpret a plan. It
also runs on the cluster's driver: standard library only, Python 3.9 syntax.
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

from airflow_provider_spark_lineage.spark.gaps.kinds import reason_of, reasons

FORMAT = "spark-lineage-record"
VERSION = 1
SUFFIX = ".record.json.gz"
BEGIN_AFTER_SECONDS = 1.0
"""Age of a running execution at which its beginning is recorded.

Most executions are shorter: reading their plans twice would cost more than an earlier START is worth.
"""

BEGUN = ".begun.json.gz"
"""Suffix of files with the beginning of an execution."""

MAX_MESSAGE_LENGTH = 4000
"""Maximum of characters of an error's message; cut after secrets are removed, because half a secret is not
recognised."""

REFRESH = "refresh"
"""Name of a pipeline's refresh: it truncates a table, then appends, so the append overwrites."""


class RecordError(ValueError):
    """A record or a folder of records cannot be read; the message has its path and the reason."""


@dataclass
class Record:
    """One Spark execution, as captured while the JVM was alive."""

    application_id: str
    application_name: str
    spark_version: str
    number: int
    """Position among the captured executions of the application, from 1.

    0 for the beginning of an execution, which is not stored.
    """

    name: str
    """Spark's name of the action: `command`, `count`, `collectToPython`; or `REFRESH`."""

    started_at: str
    """ISO 8601, UTC."""

    ended_at: str
    outcome: str
    """`success` or `failure`."""

    error: dict[str, str] | None = None
    """`class`, `message` and, if Spark gives one, `sql_state`."""

    sql: str = ""
    """The SQL text, if the execution came from one."""

    plan_kind: str = "analyzed"
    """`analyzed`; `optimized` if the analyzed plan was too large; `rdd` for a job without a query; `explain`
    if there is only text; `none` without a plan."""

    plan: list[Any] = field(default_factory=list)
    """Spark's `TreeNode.toJSON` without the values of literals. For a job over an RDD: a node `RDD`, below a
    node `SavedRDD` if the job writes."""

    explain: str = ""
    """Spark's extended explain text, if there is nothing else: plan and facts are read from it."""

    settings: dict[str, str] = field(default_factory=dict)
    """Spark's settings that name catalogs and places, for records with only a text."""

    facts: list[dict[str, Any]] = field(default_factory=list)
    """One entry for each leaf and write target: `node`, `expr_id` of its first column, `probed` values.

    Class and id find the node: a plan may have the same relation several times, and Spark numbers the nodes
    of a live tree in another way.
    """

    metrics: list[dict[str, Any]] = field(default_factory=list)
    """One entry for each physical scan or write: `node`, `location`, and `rows`, `files`, `size_bytes`."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    """Executions that Spark ran inside this one, in the order of their ends: `name`, and `plan`, `facts` and
    `metrics`, or `explain`, as in the record."""

    joins: list[dict[str, Any]] = field(default_factory=list)
    """Physical joins that compare every row of one side with every row of the other: `node`, the number of
    the `execution` in Spark's user interface, and where known `rows`, `left_rows` and `right_rows`."""

    observed: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Name of an observation -> its measurements by column, as `records.observed` writes them; of
    executions that succeeded. Texts of rows are there only for checks of ours, which compare them."""

    miscounted: dict[str, str] = field(default_factory=dict)
    """Name of an observation -> why Spark may have counted other rows than the written ones, or some twice:
    `limit`, `sort` or `retry`."""

    jobs: int | None = None
    """Number of Spark jobs; None if they were not counted."""

    written: dict[str, int] | None = None
    """`rows` and `size_bytes` written by all tasks of the execution; None if no tasks ran."""

    problems: list[str] = field(default_factory=list)
    """Parts that capture could not record, one sentence each; a `Reason` has the kind of its gap.

    In JSON, the kinds are a list of their own, `problem_kinds`: so earlier releases can read the sentences.
    Records of earlier releases have no kinds.
    """

    rdd_id: int | None = None
    """Set if nothing ran yet: the RDD with this id has the plan's rows, and later records refer to it."""

    execution_id: int | None = None
    """Spark's id of the execution in its application; on Connect, where it is unknown, a number of the
    client's process; None for a call without one."""

    kept_rdd: int | None = None
    """Id of the RDD with the rows of an eager checkpoint; else None."""

    collected: str = ""
    """Line of the program that received the rows and may use their values, `load.py:12`, or `?` if it is
    unknown; empty if it only shows them, or receives none."""

    stream_run: str = ""
    """Run id of the streaming query that this is a batch of, or whose function ran it; empty for others."""

    connect: dict[str, Any] = field(default_factory=dict)
    """For Spark Connect: the `command` around the explained query, its `targets`, the `reads` of its plan,
    and the catalog's descriptions of `tables`, after the command and `before` it."""

    @property
    def failed(self) -> bool:
        """Return whether Spark reported a failure."""
        return self.outcome != "success"

    def to_json(self) -> dict[str, Any]:
        """Return the record as a plain JSON object."""
        kinds = [reason_of(problem).kind.value for problem in self.problems]
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return {"format": FORMAT, "version": VERSION, **named, **({"problem_kinds": kinds} if kinds else {})}

    @classmethod
    def from_json(cls, value: Any) -> Record:
        """Parse a plain JSON object; raise `RecordError` if it is not a record of this version."""
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise RecordError("is not a spark-lineage record")
        if value.get("version") != VERSION:
            raise RecordError(
                "has record version {!r}, but this spark-lineage reads version {}: "
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
        record.problems = reasons(record.problems, value.get("problem_kinds"))
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
    """Return whether an entry of `facts` names its node; `sources/` checks the probed values."""
    ids, probed = (int, type(None)), value.get("probed")
    return _is_text(value.get("node")) and isinstance(value.get("expr_id"), ids) and isinstance(probed, dict)


def _is_count(value: Any) -> bool:
    """Return whether an entry of `metrics` has only texts, and integers to add up."""
    return all(type(item) in (str, int) for item in value.values())


def _is_list_of_entries(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: _is_list_of(dict)(value) and all(is_right(item) for item in value)


def _is_part(value: Any) -> bool:
    """Return whether the fields of an entry of `parts` have the types of the record's fields."""
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
    "joins": _is_list_of_entries(_is_count),
    "observed": lambda value: isinstance(value, dict) and _is_list_of(dict)([*value.values()]),
    "miscounted": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "jobs": lambda value: value is None or isinstance(value, int),
    "written": lambda value: value is None or (isinstance(value, dict) and _is_count(value)),
    "problems": _is_list_of(str),
    "execution_id": lambda value: value is None or isinstance(value, int),
    "rdd_id": lambda value: value is None or isinstance(value, int),
    "kept_rdd": lambda value: value is None or isinstance(value, int),
    "collected": _is_text,
    "stream_run": _is_text,
    "connect": lambda value: isinstance(value, dict),
}
"""Field of a record -> check of the type that readers rely on."""


def encode_record(record: Record, attempt: str = "") -> tuple[str, bytes]:
    """Return the name and content of the file of a record, or of the beginning of an execution.

    `attempt` is the driver's attempt, if the cluster may restart the driver of an application.
    """
    ending = f"{record.number:06d}{SUFFIX}" if record.number else f"{record.execution_id}{BEGUN}"
    name = f"{file_stem(record.application_id, attempt)}-{ending}"
    # Level 1: the plan is repetitive; a higher level costs the job more time than it saves space.
    return name, gzip.compress(json.dumps(record.to_json(), separators=(",", ":")).encode("ascii"), 1)


def file_stem(application_id: str, attempt: str = "") -> str:
    """Return the beginning of the names of all files that a driver writes for an application."""
    return re.sub(r"[^\w.-]", "_", f"{application_id}_{attempt}" if attempt else application_id)


def write_record(directory: str | Path, record: Record) -> Path:
    """Write a record atomically, and return the file's path."""
    name, content = encode_record(record)
    path = Path(directory, name)
    write_file(path, content)
    return path


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically: a reader sees all of it or nothing."""
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
    """Return the record files of a directory in the order of the executions' ends.

    Raise `RecordError` if the directory does not exist or has no record.
    """
    place = Path(directory)
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise RecordError(f"{place} does not exist: give a folder written by `spark-lineage run`")
    paths = sorted(place.glob("*" + SUFFIX), key=_order)
    if not paths:
        raise RecordError(f"{place} has no records: no Spark execution was captured there")
    return paths


def read_records(paths: list[Path], problems: list[str]) -> Iterator[Record]:
    """Yield the readable records; add a sentence to `problems` for each other file."""
    for path in paths:
        try:
            yield read_record(path)
        except RecordError as error:
            problems.append(str(error))


def _order(path: Path) -> tuple[str, int, str]:
    """Return the sort key: application, then number, which may have more than six digits."""
    application, _, number = path.name[: -len(SUFFIX)].rpartition("-")
    return (application, int(number) if number.isdecimal() else 0, path.name)
