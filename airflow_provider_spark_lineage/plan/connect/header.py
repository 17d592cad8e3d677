"""The columns of an explained query with their types: the line above its analyzed plan."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from airflow_provider_spark_lineage.plan.spark.explain import types
from airflow_provider_spark_lineage.plan.spark.explain.sections import ANALYZED, UnreadableError, sections


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
        except UnreadableError:
            continue
        if end == len(header) or header.startswith(", ", end):
            columns.append((header[begin : colon.start()], kind))
            begin = end + 2
    return schema_json(columns) if columns and begin >= len(header) else ""


def schema_json(columns: Iterable[Sequence[Any]]) -> str:
    """Return columns as the JSON of a schema."""
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in columns]
    return json.dumps({"type": "struct", "fields": fields})
