"""Names of written columns as later readers of the files find them."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace

from airflow_provider_spark_lineage.spark.lineage.model import Edge, Field, Output


def names_of_readers(
    output: Output, fields: Sequence[Field], known: Collection[str], in_folders: Container[str]
) -> dict[str, str]:
    """Return the names under which readers find columns that are added under other names.

    Readers have the names that are known already. They find columns by position in CSV, by the exact name in
    JSON, and without regard to case in other files.
    """
    names = [column.name for column in fields]
    kind = output.dataset.identity.file_format
    if kind == "csv":
        pairs = by_position(names, known, in_folders)
    elif kind == "json" or len({name.lower() for name in names}) < len(names):
        # The second is a session that distinguishes case.
        pairs = {}
    else:
        folded = {name.lower(): name for name in known}
        pairs = {name: folded.get(name.lower(), name) for name in names if name not in known}
    return {name: new for name, new in pairs.items() if name != new}


def renamed(edges: Iterable[Edge], names: Mapping[str, str]) -> set[Edge]:
    """Return edges to renamed columns."""
    return {replace(edge, column=names[edge.column]) if edge.column in names else edge for edge in edges}


def by_position(names: Iterable[str], written: Iterable[str], in_folders: Container[str]) -> dict[str, str]:
    """Return the written names of the columns of CSV: those in files are matched by position."""
    read, stored = ([name for name in some if name.lower() not in in_folders] for some in (names, written))
    return dict(zip(read, stored, strict=True)) if len(read) == len(stored) else {}
