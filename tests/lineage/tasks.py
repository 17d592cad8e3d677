"""Executions of a task with their reads and writes, made by hand."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Field,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
    Statistics,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity, Symlink

WAREHOUSE = "file:/wh"


def place(name: str) -> DatasetId:
    return DatasetId("file", "/wh/" + name)


def dataset(name: str, *columns: str, table: str = "") -> Dataset:
    symlinks = (Symlink(WAREHOUSE, table),) if table else ()
    identity = Identity(place(name), symlinks=symlinks)
    return Dataset(identity, tuple(Field(column, "int") for column in columns))


def reads(name: str, *columns: str, rows: int | None = None, version: str = "") -> Input:
    return Input(dataset(name, *columns).at(version), Statistics(rows))


def edge(source: str, column: str = "", kind: Kind = Kind.IDENTITY) -> Edge:
    """`a.x`, `y`: column `y` comes from field `x` of dataset `a`."""
    name, _, field = source.partition(".")
    return Edge(place(name), field, kind, column=column)


def writes(
    name: str,
    *edges: Edge,
    mode: Mode = Mode.OVERWRITE,
    table: str = "",
    rows: int | None = None,
    version: str = "",
    **more: Any,
) -> Output:
    columns = dict.fromkeys(each.column for each in edges if each.column)
    inputs = tuple(sorted({each.source for each in edges}))
    written = dataset(name, *columns, table=table).at(version)
    return Output(written, mode, Statistics(rows), edges, inputs, **more)


def changes(name: str, mode: Mode, table: str = "", **more: Any) -> Output:
    """Make a command that changes a table without a query."""
    return Output(dataset(name, table=table or f"db.{name}"), mode, has_rows=False, **more)


def execution(*parts: Input | Output, **more: Any) -> Lineage:
    return Lineage(
        inputs=tuple(part for part in parts if isinstance(part, Input)),
        outputs=tuple(part for part in parts if isinstance(part, Output)),
        **more,
    )


def inputs_of(lineage: Lineage) -> list[str]:
    return [source.dataset.id.name.removeprefix("/wh/") for source in lineage.inputs]


def edges_of(lineage: Lineage, name: str) -> set[Edge]:
    (output,) = (written for written in lineage.outputs if written.dataset.id == place(name))
    return set(output.edges)


def modes_of(lineage: Lineage) -> dict[str, Mode]:
    return {output.dataset.id.name.removeprefix("/wh/"): output.mode for output in lineage.outputs}


def named(lineage: Lineage) -> list[tuple[str, Mode]]:
    return [(output.dataset.id.name, output.mode) for output in lineage.outputs]


def entry(name: str, mode: Mode, at: str = "", previous: str = "") -> Output:
    """Make a command that changes only a catalog's entry, whose data lie at the place `at`."""
    link = (Symlink("file", "/wh/" + at, "LOCATION"),) if at else ()
    identity = Identity(DatasetId(WAREHOUSE, name), symlinks=link, type="TABLE")
    before = DatasetId(WAREHOUSE, previous) if previous else None
    return Output(Dataset(identity), mode, previous=before, has_rows=False)
