"""Sources of the fields of written struct columns, for later steps of a task that read single fields."""

from __future__ import annotations

from collections.abc import Iterator

from airflow_provider_spark_lineage.spark.lineage.values import ColumnValue, Sources


def by_path(value: ColumnValue, type_: str) -> Iterator[tuple[str, Sources]]:
    """Yield each field inside a struct column, as its path `city.code`, with its sources.

    Nothing of a struct whose fields are not known one by one, or whose names have a dot, as paths have.
    """
    names = list(_fields(type_))
    if len(names) != len(value.members) or any("." in name for name, _ in names):
        return
    for (name, kind), member in zip(names, value.members, strict=True):
        yield name, member.whole
        for path, sources in by_path(member, kind):
            yield f"{name}.{path}", sources


def _fields(type_: str) -> Iterator[tuple[str, str]]:
    """Yield name and type of each field of a struct, or of the structs of an array."""
    while type_.startswith("array<"):
        type_ = type_[6:-1]
    if not type_.startswith("struct<"):
        return
    depth, start = 1, 7
    for position in range(start, len(type_)):
        sign = type_[position]
        depth += (sign in "<(") - (sign in ">)")
        if depth == 0 or (depth == 1 and sign == ","):
            if name_and_type := type_[start:position]:
                name, _, kind = name_and_type.partition(":")
                yield name, kind
            start = position + 1
