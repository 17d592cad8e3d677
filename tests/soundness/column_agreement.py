"""Compares the columns of a lineage with the schemas on disk and in the catalog, and with its edges."""

from __future__ import annotations

from collections.abc import Iterator

from agreement import Difference, Span
from disk import Columns

from airflow_provider_spark_lineage.spark.lineage.model import Mode, Output


def schemas(span: Span) -> Iterator[Difference]:
    """The columns of an output are those that Spark reads there at the end, with their types."""
    for output in span.lineage.outputs:
        name, there = output.dataset.id.name, columns_of(span, output)
        folder = name.rpartition("/")[2]
        claimed = {field.name: field.type for field in output.dataset.fields}
        if output.mode is Mode.DROP or there is None:
            continue
        is_of_readers = output.dataset.identity.file_format in ("csv", "json") and name not in span.end.tables
        # A command may tell nothing of the columns, and writes no rows.
        if not claimed and not output.has_rows:
            continue
        for column, kind in there:
            # A write by the path of a partition has the column in the name of the folder alone.
            by_folder = any(f"/{folder}/{column}=" in step.text for step in span.steps)
            if column not in claimed and by_folder:
                continue
            if column not in claimed:
                yield name, f"has the column {column}, which is not said"
            # A column that a folder's name gives has no type in its files.
            # Of files of text, each reader says the types: the catalog has those of an earlier one.
            elif claimed[column] not in (kind, "") and not is_of_readers:
                yield name, f"{column} is {kind}, said to be {claimed[column]}"
        for column in claimed.keys() - dict(there).keys():
            yield name, f"said to have the column {column}, and has not"


def targets(span: Span) -> Iterator[Difference]:
    """An edge ends at a column that is there, and starts at an input."""
    inputs = {source.dataset.id.name for source in span.lineage.inputs}
    for output in span.lineage.outputs:
        name, there = output.dataset.id.name, columns_of(span, output)
        for edge in output.edges:
            if edge.source.name not in inputs:
                yield name, f"{edge.column or '*'} said to be from {edge.source.name}, which is not an input"
            is_there = not edge.column or there is None or edge.column in dict(there)
            if output.mode is not Mode.DROP and not is_there:
                yield name, f"{edge.column} said to be from {edge.source.name}, and is not a column"


def own_data(span: Span) -> Iterator[Difference]:
    """An input had data before, unless columns originate in it: literals that the program wrote."""
    for source in span.lineage.inputs:
        name = source.dataset.id.name
        former = {now: before for before, now in span.moved.items()}.get(name, name)
        has_rows = any(file.rows for file in span.start.place(former).readable())
        if has_rows or (span.start.has(former) and _is_read_as_it_was(span, former)):
            continue
        # A view reads its tables later, also those without rows.
        if any(
            name == edge.source.name for each in span.lineage.outputs if each.is_view for edge in each.edges
        ):
            continue
        # Nothing tells a file without rows from others, and whether there is one where a table is made.
        if span.start.place(former).files or any(_makes_a_table_at(name, step.text) for step in span.steps):
            continue
        what = "empty" if span.start.has(former) else "not there"
        writes = [write for each in {name, former} for write in _writes(span, each)]
        literals = {column for write in writes for column, is_literal in write.items() if is_literal}
        if not (literals or {} in writes):
            yield name, f"is an input, was {what} before, and nothing originates in it"
            continue
        # A write that read nothing has only literals.
        computed = set() if {} in writes else {column for write in writes for column in write} - literals
        for output in span.lineage.outputs:
            for edge in output.edges:
                if edge.source.name == name and edge.field in computed:
                    text = f"{edge.column or '*'} said to be from {name}.{edge.field}"
                    yield output.dataset.id.name, f"{text}, which was {what} before and is computed"


CHECKS = (schemas, targets, own_data)
"""All are made; each yields differences."""


def columns_of(span: Span, output: Output) -> Columns | None:
    """Return the columns of an output at the end; None where nothing tells them."""
    name = output.dataset.id.name
    if name in span.end.tables:
        return span.end.tables[name].columns
    if span.end.place(name).version:
        # What the session's catalog may have of a table of Delta is older.
        return span.end.place(name).columns
    for table in span.end.tables.values():
        if table.place == name and table.columns:
            return table.columns
    of_files = span.end.place(name).columns
    return of_files if of_files is not None else span.steps[-1].written.get(name)


def _makes_a_table_at(name: str, text: str) -> bool:
    """Return whether a step makes a table without rows at a location."""
    _, location, place = text.partition(" location '")
    folder = name.rpartition("/")[2]
    return bool(location) and text.startswith("create table ") and place.endswith(f"/{folder}'")


def _is_read_as_it_was(span: Span, name: str) -> bool:
    """Return whether a step read a place before any step changed it."""
    return any(
        name in step.reads and step.before.place(name) == span.start.place(name) for step in span.steps
    )


def _writes(span: Span, name: str) -> Iterator[dict[str, bool]]:
    """Yield the columns of each write of a place, and whether they are literals; none if it read nothing."""
    for step in span.steps:
        for output in step.lineage.outputs:
            if output.dataset.id.name == name and output.has_rows:
                from_others = {edge.column for edge in output.edges}
                columns = {field.name: field.name not in from_others for field in output.dataset.fields}
                yield columns if output.inputs else {}
