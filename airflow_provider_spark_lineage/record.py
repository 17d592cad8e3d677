"""The versioned JSON contract between capture and everything after it: one Spark execution, one file.

This module knows the shape of a record and how it is stored; it does not know Spark, and it does not
interpret a plan. It runs on the cluster's driver too: standard library only, Python 3.9 syntax.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

FORMAT = "spark-lineage-record"
VERSION = 1
SUFFIX = ".record.json.gz"

REMOVED = "***"
"""What stands where a secret was."""

_SECRETS = re.compile(
    r"""(?ix)
      (?P<keep1> [a-z][a-z0-9+.-]*:// ) [^\s/@:'"\\]+ : [^\s/@'"\\]+ (?P<at> @ )
    | (?P<keep2> (?: \b[\w.-]* (?: password | passwd | secret | token | credential s? | api[_.-]?key
            | access[_.-]?key (?:[_.-]?id)? | account[_.-]?key | private[_.-]?key ) [\w.-]*
          | \b (?: [\w-]+ [._-] )* (?: pwd | sas | sig | auth | authorization ) )
        ["'\\]* \s* (?: => | -> | [=:] ) \s* ["'\\]* (?: bearer \s+ | basic \s+ )? )
        [^\s,;&"'\\)\]}]+
    | \b (?: AKIA | ASIA ) [A-Z0-9]{16} \b
    | \b eyJ [\w-]{8,} \. [\w-]{8,} (?: \. [\w-]* )?
    | \b (?: gh[pousr]_ | github_pat_ | xox[abprs]- | glpat- | dapi | sk_live_ | sk- ) [\w-]{16,}
    | -----BEGIN [\w\s]*PRIVATE\ KEY----- .*? (?: -----END [\w\s]*PRIVATE\ KEY----- | \Z )
    """,
    re.DOTALL,
)
_SECRET_HINT = re.compile(
    r"(?i)pass|pwd|secret|token|cred|key|sas|sig|auth|akia|asia|eyj|gh[pousr]_|github|xox|glpat|dapi|sk_|sk-|@"
)


def without_secrets(text: str) -> str:
    """Replace everything that looks like a credential; the rest of the text stays as it was."""
    # Nearly every text is clean, and the hint is ten times cheaper than the full pattern.
    if not _SECRET_HINT.search(text):
        return text

    def keep(match: re.Match[str]) -> str:
        return (match["keep1"] or match["keep2"] or "") + REMOVED + (match["at"] or "")

    return _SECRETS.sub(keep, text)


class RecordError(ValueError):
    """A record, or the place where records should be, cannot be read; the message says which and why."""


@dataclass
class Record:
    """One Spark execution as it was while the JVM was alive."""

    application_id: str
    application_name: str
    spark_version: str
    agent_version: str
    number: int
    """Position of this execution among those captured of the application, from 1."""

    name: str
    """What Spark calls the action: `command`, `count`, `collectToPython`."""

    started_at: str
    """ISO 8601, UTC."""

    ended_at: str
    outcome: str
    """`success` or `failure`."""

    error: Optional[Dict[str, str]] = None
    """`class`, `message` and, where Spark has one, `sql_state`."""

    sql: str = ""
    """The SQL text, if the execution came from one."""

    plan_kind: str = "analyzed"
    """`analyzed`, `optimized` when the analyzed plan was too large, `none` when there is no plan."""

    plan: List[Any] = field(default_factory=list)
    """Spark's `TreeNode.toJSON` with literal values taken out."""

    facts: List[Dict[str, Any]] = field(default_factory=list)
    """One entry for each leaf and write target: `node`, `expr_id` of its first column, `probed` values."""

    metrics: List[Dict[str, Any]] = field(default_factory=list)
    """One entry for each physical scan or write: `node`, `location` and counts."""

    problems: List[str] = field(default_factory=list)
    """What capture could not do, a sentence each."""

    @property
    def failed(self) -> bool:
        return self.outcome != "success"

    def to_json(self) -> Dict[str, Any]:
        """Return the record as a plain JSON object."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}

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
        known = {f.name: f for f in fields(cls)}
        try:
            record = cls(**{name: value[name] for name in known if name in value})
        except TypeError as error:
            raise RecordError(f"lacks fields of a record: {error}") from None
        for name, kind in _KINDS.items():
            if not isinstance(getattr(record, name), kind):
                raise RecordError(f"has a wrong value in field {name!r}")
        return record


_KINDS: Dict[str, Any] = {
    "application_id": str,
    "number": int,
    "name": str,
    "started_at": str,
    "ended_at": str,
    "outcome": str,
    "plan": list,
    "facts": list,
    "metrics": list,
    "problems": list,
}


def write_record(directory: Union[str, Path], record: Record) -> Path:
    """Store a record so that a reader sees all of it or nothing; return the file's path."""
    name = "{}-{:06d}{}".format(re.sub(r"[^\w.-]", "_", record.application_id), record.number, SUFFIX)
    path = Path(directory, name)
    temporary = path.with_name("." + path.name + ".part")
    # Level 1: the plan is repetitive, and a higher level costs the job more than it saves on disk.
    with gzip.open(temporary, "wt", compresslevel=1, encoding="utf-8") as out:
        json.dump(record.to_json(), out, separators=(",", ":"))
    os.replace(temporary, path)
    return path


def read_record(path: Union[str, Path]) -> Record:
    """Read one record file; raise `RecordError` naming the file and the cause."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as source:
            return Record.from_json(json.load(source))
    except RecordError as error:
        raise RecordError(f"{path} {error}") from None
    except FileNotFoundError:
        raise RecordError(f"{path} does not exist") from None
    except (
        EOFError,
        zlib.error,
        gzip.BadGzipFile,
        UnicodeDecodeError,
        json.JSONDecodeError,
        OSError,
    ) as error:
        raise RecordError(f"{path} is truncated or is not a record: {error}") from None
    except RecursionError:
        raise RecordError(f"{path} is nested too deeply to be a record") from None


def record_paths(directory: Union[str, Path]) -> List[Path]:
    """Return the record files of a directory in the order in which the executions ended.

    Raise `RecordError` when there is no such directory or no record in it.
    """
    place = Path(directory)
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise RecordError(f"{place} does not exist: give the folder that `spark-lineage run` wrote")
    paths = sorted(place.glob("*" + SUFFIX))
    if not paths:
        raise RecordError(f"{place} holds no records: no Spark execution was captured there")
    return paths


def read_records(paths: List[Path], problems: List[str]) -> Iterator[Record]:
    """Yield the readable records one by one; a sentence for each other file is added to `problems`."""
    for path in paths:
        try:
            yield read_record(path)
        except RecordError as error:
            problems.append(str(error))


def record_order(record: Record) -> Tuple[str, int]:
    """Sort key that puts executions of one application in order and applications by their start."""
    return (record.application_id, record.number)
