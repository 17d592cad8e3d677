"""Names and order of written columns as later readers of the files find them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from airflow_provider_spark_lineage.spark.lineage.model import Edge, Field, Output


def as_in_files(output: Output) -> list[Field]:
    """Return the columns in the order of a later read of the files: partition columns come last."""
    last = [name.lower() for name in output.partitioned_by]

    def position(column: Field) -> int:
        name = column.name.lower()
        return last.index(name) + 1 if name in last else 0

    return sorted(output.dataset.fields, key=position)


def names_of_readers(output: Output, fields: Sequence[Field], known: Collection[str]) -> dict[str, str]:
    """Return the names under which readers find columns that are added under other names.

    Readers have the names that are known already. They find columns by position in CSV, with regard to case in
    JSON, and without it in other files.
    """
    names = [column.name for column in fields]
    kind = output.dataset.identity.file_format
    if kind == "csv":
        pairs = dict(zip(names, known, strict=True)) if len(names) == len(known) else {}
    elif kind == "json":
        pairs = {}
    else:
        folded = {name.lower(): name for name in known}
        pairs = {name: folded.get(name.lower(), name) for name in names if name not in known}
    return {name: new for name, new in pairs.items() if name != new}


def renamed(edges: Iterable[Edge], names: Mapping[str, str]) -> set[Edge]:
    """Return edges to renamed columns."""
    return {replace(edge, column=names[edge.column]) if edge.column in names else edge for edge in edges}
