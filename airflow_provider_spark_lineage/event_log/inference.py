"""Tells which executions and jobs Spark ran to infer the schema of files: they read, but not for the user.

The names of columns in CSV files, and all about JSON and XML files, are in the files alone. A log lacks the
option by which records know these reads. It has the call that ran them, or the command around them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_DEFINES = re.compile(r"^Execute (?:CreateDataSourceTableCommand|CreateTempViewUsing)\b", re.MULTILINE)
_READERS = frozenset({"csv", "json", "load", "xml"})
"""Methods of `DataFrameReader`. Writers have the same names."""

_JOBS_OF_READERS = _READERS | {"orc", "parquet", "sql", "table"}
"""Calls that run jobs outside of executions, over what they make themselves: RDDs have no such methods."""

_TEXT_FILE = '"name":"textFile"'
"""What the scope of an RDD has that `SparkContext.textFile` made: no reader makes one."""

_SCANS = re.compile(r"^[^\n]*?\b(?:FileScan|Scan) (\w+)", re.MULTILINE)
_WRITES = re.compile(
    r"^[ :+*()\d-]*(?:Execute |\w*(?:AppendData|AsSelect|Overwrite|ReplaceData|WriteDelta))", re.MULTILINE
)
"""An operator that writes; others may stand above it."""

_WRITES_FILES = re.compile(r"(?:AdaptiveSparkPlan[^\n]*\n[^\n]*)?Execute InsertIntoHadoopFsRelationCommand\b")


def only_defines(text: str) -> bool:
    """Return whether a command with this text runs no query but those that infer a schema."""
    return bool(_DEFINES.search(text))


def infers(name: str, text: str) -> bool:
    """Return whether an execution read files as text to infer their schema, by Spark's name of the action."""
    if name not in _READERS:
        return False
    return set(_SCANS.findall(_physical(text))) == {"text"} and not writes(text)


def job_infers(job: Mapping[str, Any]) -> bool:
    """Return whether a job outside of executions inferred the schema of files, by their footers for example.

    All its RDDs are made by the one call that ran it; a schema that is inferred from the program's own RDD
    reads what made that. A model of MLlib has a method `load` as well, which reads its parameters by
    `SparkContext.textFile`.
    """
    rdds = [rdd for stage in job["Stage Infos"] for rdd in stage["RDD Info"]]
    if any(_TEXT_FILE in str(rdd.get("Scope")) for rdd in rdds):
        return False
    calls = {*(stage["Stage Name"] for stage in job["Stage Infos"]), *(rdd["Callsite"] for rdd in rdds)}
    return len(calls) == 1 and calls.pop().partition(" at ")[0] in _JOBS_OF_READERS


def writes(text: str) -> bool:
    """Return whether the physical plan of an execution writes."""
    return bool(_WRITES.search(_physical(text)))


def is_write_of_files(text: str) -> bool:
    """Return whether an execution is a plain write of files, which runs no other write inside."""
    return bool(_WRITES_FILES.match(_physical(text).lstrip()))


def _physical(text: str) -> str:
    return text.partition("== Physical Plan ==")[2]
