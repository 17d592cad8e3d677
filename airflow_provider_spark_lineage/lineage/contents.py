"""The content of datasets after a task's writes, now and in each version that the task wrote.

Modes, names and drops are not here; `compose` has those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from airflow_provider_spark_lineage.lineage.model import Edge, Field, Kind, Mode, Output
from airflow_provider_spark_lineage.plan.algebra import Transformation
from airflow_provider_spark_lineage.sources.dataset import DatasetId


@dataclass
class Content:
    """The content of a dataset: its columns and rows, traced to what the task read from outside."""

    columns: dict[str, set[Edge]] = field(default_factory=dict)
    rows: set[Edge] = field(default_factory=set)
    inputs: set[DatasetId] = field(default_factory=set)
    from_outside: bool = False
    """It also has rows from before the task."""

    reworked: bool = False
    """Its rows are those from before the task, rewritten by UPDATE, DELETE or MERGE."""

    def copy(self) -> Content:
        """Return a copy that can be changed independently."""
        columns = {name: set(edges) for name, edges in self.columns.items()}
        return Content(columns, set(self.rows), set(self.inputs), self.from_outside, self.reworked)

    def holds(self, fields: Iterable[Field], edges: Iterable[Edge], inputs: set[DatasetId]) -> bool:
        """Return whether it already has all of these fields, edges and inputs."""
        columns = {**self.columns, "": self.rows}
        return (
            inputs <= self.inputs
            and all(field.name in columns for field in fields)
            and all(edge in columns.get(edge.column, ()) for edge in edges)
        )

    def trace(self, edge: Edge, name: str) -> set[Edge]:
        """Return an edge that starts at column `name` of this content, traced to its origins."""
        traced = {edge} if self.from_outside else set()
        if name not in self.columns:
            return traced
        # A column without edges originates here, so the edge itself is returned.
        step = Transformation(edge.kind, edge.masking)
        for origin in self.columns[name]:
            path = step.after(Transformation(origin.kind, origin.masking))
            # Parts of a field are known only where the field is unchanged.
            inside = edge.part if origin.kind is Kind.IDENTITY else ""
            part = ".".join(name_part for name_part in (origin.part, inside) if name_part)
            traced.add(replace(origin, kind=path.kind, masking=path.masking, column=edge.column, part=part))
        return traced or {edge}

    def add(self, fields: Iterable[Field], edges: Iterable[Edge], inputs: Iterable[DatasetId]) -> None:
        """Add the rows of one write."""
        for written in fields:
            self.columns.setdefault(written.name, set())
        for edge in edges:
            (self.columns.setdefault(edge.column, set()) if edge.column else self.rows).add(edge)
        self.inputs.update(inputs)


@dataclass
class _History:
    """The content of a dataset that the task wrote, now and in its versions."""

    now: Content
    versions: dict[str, Content] = field(default_factory=dict)
    first: int | None = None
    """The oldest of these versions, where versions are increasing numbers, as in Delta."""

    def at(self, version: str, anew: bool) -> Content | None:
        """Return the content in a version; None for a version from before the task, unless created `anew`."""
        if not anew and self.first is not None and version.isdigit() and int(version) < self.first:
            return None
        return self.versions.get(version) or self.now


class Contents:
    """The datasets that a task wrote."""

    def __init__(self) -> None:
        self._histories: dict[DatasetId, _History] = {}
        self._dropped: set[DatasetId] = set()
        """Datasets that the task dropped: a table created there again starts with new versions."""

    def __contains__(self, identifier: DatasetId) -> bool:
        return identifier in self._histories

    def at(self, identifier: DatasetId, version: str) -> Content | None:
        """Return the content of a dataset in a version, or now; None where the task did not write it."""
        history = self._histories.get(identifier)
        return history.at(version, identifier in self._dropped) if history else None

    def write(self, output: Output, edges: set[Edge], inputs: set[DatasetId], *, empty: bool) -> None:
        """Add or replace rows; `empty` means that no rows from before the task are left."""
        identifier, version = output.dataset.id, output.dataset.identity.version
        history = self._histories.get(identifier)
        keeps = output.mode is Mode.APPEND or output.partial
        if history and keeps:
            content = history.now
        else:
            is_of_before = history.now.from_outside or history.now.reworked if history else not empty
            content = Content(from_outside=keeps and not empty, reworked=output.rewrites and is_of_before)
        written = output.dataset.fields, edges | _partition_filters(output, content, edges), inputs
        if not content.holds(*written):
            # Earlier versions share the object, so the content is copied before it changes.
            content = content.copy() if history and history.versions else content
            content.add(*written)
        history = self._histories.setdefault(identifier, _History(content))
        history.now = content
        if version:
            history.versions[version] = content
        if version.isdigit() and (history.first is None or int(version) < history.first):
            history.first = int(version)

    def forget(self, identifier: DatasetId) -> None:
        """Drop a dataset."""
        self._dropped.add(identifier)
        self._histories.pop(identifier, None)

    def follow(self, now: Mapping[DatasetId, DatasetId | None]) -> None:
        """Replace sources by their current names; None removes a source."""
        for history in self._histories.values():
            for content in (history.now, *history.versions.values()):
                content.columns = {name: set(moved(edges, now)) for name, edges in content.columns.items()}
                content.rows = set(moved(content.rows, now))
                content.inputs = {source for name in content.inputs if (source := now.get(name, name))}

    def rename(self, old: DatasetId, new: DatasetId) -> None:
        """Move a dataset's content to its new name."""
        if old in self._histories:
            self._histories[new] = self._histories.pop(old)


def _partition_filters(output: Output, before: Content, edges: set[Edge]) -> set[Edge]:
    """Return FILTER edges from the partition columns of both sides, which decide the rows that stay."""
    names = {name.lower() for name in output.partitions if before.columns or before.from_outside}
    deciding = [edge for name, some in before.columns.items() if name.lower() in names for edge in some]
    deciding += [edge for edge in edges if edge.column.lower() in names]
    if before.from_outside:
        shown = (field.name for field in output.dataset.fields if field.name.lower() in names)
        deciding += [Edge(output.dataset.id, name, Kind.FILTER) for name in shown]
    return {replace(edge, kind=Kind.FILTER, column="") for edge in deciding}


def moved(edges: Iterable[Edge], now: Mapping[DatasetId, DatasetId | None]) -> Iterator[Edge]:
    """Yield edges with their sources' current names, without those whose source was dropped."""
    for edge in edges:
        if edge.source not in now:
            yield edge
        elif (source := now[edge.source]) is not None:
            yield replace(edge, source=source)
