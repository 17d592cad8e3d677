"""Recognises executions and jobs that Spark ran only to infer the schema of files.

The column names of CSV files, and the whole schema of JSON and XML files, are only in the files. A log lacks
the option that marks these reads in a live plan. It has the call that ran them, or the command around them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_DEFINES = re.compile(r"^Execute (?:CreateDataSourceTableCommand|CreateTempViewUsing)\b", re.MULTILINE)
_READERS = frozenset({"csv", "json", "load", "xml"})
"""Methods of `DataFrameReader`; methods of writers have the same names."""

_JOBS_OF_READERS = _READERS | {"orc", "parquet", "sql", "table"}
"""Reader methods whose schema inference runs a job without an SQL execution; RDDs have no such methods."""

_TEXT_FILE = '"name":"textFile"'
"""Text in the scope of an RDD of `SparkContext.textFile`, which readers do not use."""

_SCANS = re.compile(r"^[^\n]*?\b(?:FileScan|Scan) (\w+)", re.MULTILINE)
_WRITES = re.compile(
    r"^[ :+*()\d-]*(?:Execute |\w*(?:AppendData|AsSelect|Overwrite|ReplaceData|WriteDelta))", re.MULTILINE
)
"""An operator that writes; other operators may be above it."""

_WRITES_FILES = re.compile(r"(?:AdaptiveSparkPlan[^\n]*\n[^\n]*)?Execute InsertIntoHadoopFsRelationCommand\b")


def only_defines(text: str) -> bool:
    """Return whether a command with this text runs only queries that infer a schema."""
    return bool(_DEFINES.search(text))


def infers(name: str, text: str) -> bool:
    """Return whether an execution read files as text to infer their schema, by the name of the action."""
    if name not in _READERS:
        return False
    return set(_SCANS.findall(_physical(text))) == {"text"} and not writes(text)


def job_infers(job: Mapping[str, Any]) -> bool:
    """Return whether a job outside of executions inferred the schema of files, for example from footers.

    All RDDs of such a job come from one call. If the schema of the program's RDD is inferred, the job also
    has the call that created that RDD. MLlib's models also have a method `load`, which reads parameters with
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
