"""Content of a dataset after a task's writes: its columns and rows, traced to the inputs of the task."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from airflow_provider_spark_lineage.spark.lineage.model import (
    ColumnChange,
    Edge,
    Field,
    Kind,
)
from airflow_provider_spark_lineage.spark.plan.algebra import Transformation
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId

Parts = Mapping[str, Mapping[str, AbstractSet[Edge]]]
"""Struct column -> path of a field inside, `city.code` -> its edges, which end at the column."""


@dataclass(slots=True)
class Content:
    """The content of a dataset: its columns and rows, traced to the inputs of the task."""

    columns: dict[str, set[Edge]] = field(default_factory=dict)
    without_values: set[str] = field(default_factory=set)
    """Columns that have no values yet: of a table without rows, or added to a table and not filled."""

    parts: Parts = field(default_factory=dict)
    """Of the struct columns whose fields are known in all rows that the task wrote."""

    rows: set[Edge] = field(default_factory=set)
    inputs: set[DatasetId] = field(default_factory=set)
    from_outside: bool = False
    """It also has rows from before the task."""

    reworked: bool = False
    """Its rows are older than the task, and UPDATE, DELETE or MERGE rewrote them."""

    in_folders: frozenset[str] = frozenset()
    """Its partition columns, in lower case: names of folders have them, so they have no position in files."""

    shared: bool = False
    """A kept frame refers to it, so it is copied before it changes."""

    def copy(self) -> Content:
        """Return a copy that can be changed independently."""
        columns = {name: set(edges) for name, edges in self.columns.items()}
        without, parts = set(self.without_values), dict(self.parts)
        rows, inputs = set(self.rows), set(self.inputs)
        return Content(
            columns, without, parts, rows, inputs, self.from_outside, self.reworked, self.in_folders
        )

    def holds(
        self,
        fields: Iterable[Field],
        edges: Iterable[Edge],
        inputs: set[DatasetId],
        parts: Parts,
        without_values: Container[str],
    ) -> bool:
        """Return whether it already has all that `add` would add."""
        columns = {**self.columns, "": self.rows}
        unfilled = {name for name in self.without_values if name not in without_values}
        has_fields = all(field.name in columns and field.name not in unfilled for field in fields)
        has_parts = all(self.parts.get(field.name) == parts.get(field.name) for field in fields)
        has_all = has_fields and has_parts and inputs <= self.inputs
        return has_all and all(e in columns.get(e.column, ()) for e in edges)

    def trace(self, edge: Edge, name: str, *, by_view: bool = False) -> set[Edge]:
        """Return an edge that starts at column `name` of this content, traced to its origins.

        `by_view`: the edge is of a view, which will read the values that a column does not have yet.
        """
        traced = {edge} if self.from_outside else set()
        if name not in self.columns or (name in self.without_values and not by_view):
            return traced
        # A column without edges originates here, so the edge itself is returned.
        step = Transformation(edge.kind, edge.masking)
        origins, inner = self._origins(name, edge.part)
        for origin in origins:
            path = step.after(Transformation(origin.kind, origin.masking))
            # Parts of a field are known only where the field is unchanged.
            inside = inner if origin.kind is Kind.IDENTITY else ""
            part = ".".join(name_part for name_part in (origin.part, inside) if name_part)
            traced.add(replace(origin, kind=path.kind, masking=path.masking, column=edge.column, part=part))
        return traced or {edge}

    def _origins(self, name: str, part: str) -> tuple[AbstractSet[Edge], str]:
        """Return the edges of a part of a column, and the part of their sources that it is."""
        known = self.parts.get(name, {})
        path = part
        while path and path not in known:
            path = path.rpartition(".")[0]
        if not path:
            return self.columns[name], part
        return known[path], part[len(path) + 1 :]

    def merged(self, other: Content) -> Content:
        """Return the rows of both."""
        both = self.copy()
        both.parts = _parts_of_both(self.filled(), self.parts, other.filled(), other.parts)
        known = {name for content in (self, other) for name in content.columns}
        filled = {
            name for content in (self, other) for name in content.columns.keys() - content.without_values
        }
        both.without_values = known - filled
        for name, edges in other.columns.items():
            both.columns.setdefault(name, set()).update(edges)
        both.rows |= other.rows
        both.inputs |= other.inputs
        both.from_outside |= other.from_outside
        both.reworked |= other.reworked
        both.in_folders |= other.in_folders
        return both

    def filled(self) -> AbstractSet[str]:
        """Return the columns that have values."""
        return self.columns.keys() - self.without_values

    def change_columns(self, changes: Sequence[ColumnChange], fields: Iterable[Field]) -> None:
        """Rename and drop columns; `fields` are the columns afterwards, also added ones without values."""
        for change in changes:
            self.without_values = {new for old in self.without_values if (new := change.name_of(old))}
            columns: dict[str, set[Edge]] = {}
            for old, edges in self.columns.items():
                if name := change.name_of(old):
                    columns.setdefault(name, set()).update(replace(edge, column=name) for edge in edges)
            self.columns = columns
            self.parts = {
                new: {
                    path: {replace(edge, column=new) for edge in edges}
                    for path, edges in fields_inside.items()
                }
                for old, fields_inside in self.parts.items()
                if (new := change.name_of(old))
            }
        if not changes:
            # It may have changed fields inside a column.
            self.parts = {}
        known = {name.lower() for name in self.columns}
        # The columns of older rows are not all known, so an added one looks like them.
        is_known = not (self.from_outside or self.reworked)
        for column in fields:
            self.columns.setdefault(column.name, set())
            if is_known and column.name.lower() not in known:
                self.without_values.add(column.name)

    def add(
        self,
        fields: Iterable[Field],
        edges: Iterable[Edge],
        inputs: Iterable[DatasetId],
        parts: Parts,
        without_values: Container[str],
    ) -> None:
        """Add the rows of one write; in these rows, some columns may have no values."""
        names = [column.name for column in fields]
        written = {name for name in names if name not in without_values}
        self.parts = _parts_of_both(self.filled(), self.parts, written, parts)
        filled = {name.lower() for name in names if name not in without_values}
        unfilled = {name for name in self.without_values if name.lower() not in filled}
        self.without_values = unfilled | {
            name for name in names if name in without_values and name not in self.columns
        }
        for name in names:
            self.columns.setdefault(name, set())
        for edge in edges:
            (self.columns.setdefault(edge.column, set()) if edge.column else self.rows).add(edge)
        self.inputs.update(inputs)


def _parts_of_both(
    filled: Container[str], parts: Parts, more_filled: Container[str], more_parts: Parts
) -> Parts:
    """Return the parts of the rows of two contents; of a column that both fill, those that both know."""
    both = {}
    for name in {**parts, **more_parts}:
        some, more = parts.get(name, {}), more_parts.get(name, {})
        if name not in filled or name not in more_filled:
            both[name] = {**some, **more}
        elif known := [path for path in some if path in more]:
            both[name] = {path: some[path] | more[path] for path in known}
    return both
