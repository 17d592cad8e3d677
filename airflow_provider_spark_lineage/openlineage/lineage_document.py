"""Parts of a lineage document: the keys of its JSON, whether it is made of a lineage or of events.

`spark.lineage.document` makes one of the engine's model, `RunEvents.document` of OpenLineage events. The
first has more: formats, symlinks and locations of datasets, inputs of outputs, parts of fields.
"""

from __future__ import annotations

from typing import Any

Part = dict[str, Any]


def edge(
    column: str | None,
    source: Part,
    field: str,
    *,
    type: str,  # noqa: A002  the key
    subtype: str,
    masking: bool,
    part: str | None = None,
) -> Part:
    """Return an edge from a field of a source to a column; no column: to the whole dataset."""
    return {
        "column": column,
        "source": source,
        "field": field,
        "part": part or None,
        "type": type,
        "subtype": subtype,
        "masking": masking,
    }


def gap(where: str, kind: str, reason: str, output: Part | None, column: str) -> Part:
    """Return a gap; events of earlier releases have no kinds."""
    return {
        "where": where,
        "kind": kind or None,
        "reason": reason,
        "output": output or None,
        "column": column or None,
    }


def failure(error_class: str, sql_state: str, message: str, execution: str) -> Part:
    """Return a failure of an execution."""
    return {"error_class": error_class, "sql_state": sql_state, "message": message, "execution": execution}
