"""The server's explain text of a query: the types of its columns, and a stream as a query over its files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import (
    ANALYZED,
    UnreadablePlanError,
    sections,
)

_MARK = re.compile(r"^((?:   |:  )*(?:\+- |:- )?)~", re.MULTILINE)
_SOURCE = re.compile(
    r"\bStreamingRelation DataSource\([^,\n]*,(?P<format>\w+),.*?\), FileSource\[[^\]\n]*\], "
    r"\[(?P<columns>[^\n]*)\]$",
    re.DOTALL | re.MULTILINE,
)


def as_batch(text: str) -> str:
    """Return a text without the marks of streams, and with sources of streams as relations over their files.

    Spark marks the nodes of a stream, and prints its source with the program's objects.
    """
    if "~" not in text:
        return text

    def relation(match: re.Match[str]) -> str:
        return f"Relation [{match['columns'].replace(', ', ',')}] {match['format']}"

    return _SOURCE.sub(relation, _MARK.sub(r"\1", text))


def schema_of(text: str) -> str:
    """Return the schema of an explained query as Spark's JSON; empty if its text has only a part.

    After an unknown type, two columns may be read as one: compare the names with the columns of the plan.
    """
    header = (sections(text) if text else {}).get(ANALYZED, "").partition("\n")[0]
    columns: list[tuple[str, Any]] = []
    begin = 0
    for colon in re.finditer(": ", header):
        if colon.start() < begin:
            continue
        try:
            kind, end = types.read_type(header, colon.end())
        except UnreadablePlanError:
            continue
        if end == len(header) or header.startswith(", ", end):
            columns.append((header[begin : colon.start()], kind))
            begin = end + 2
    return schema_json(columns) if columns and begin >= len(header) else ""


def schema_json(columns: Iterable[Sequence[Any]]) -> str:
    """Return columns as the JSON of a schema."""
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in columns]
    return json.dumps({"type": "struct", "fields": fields})
