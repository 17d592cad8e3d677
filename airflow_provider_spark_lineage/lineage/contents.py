"""What datasets hold after a task's writes, now and in each version that the task gave them.

Says nothing of what the task did to them; that is `compose`'s job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from airflow_provider_spark_lineage.lineage.model import Edge, Field, Kind, Mode, Output
from airflow_provider_spark_lineage.plan.algebra import Transformation
from airflow_provider_spark_lineage.sources.dataset import DatasetId


@dataclass
class Content:
    """What a dataset holds, in terms of what the task read from outside."""

    columns: dict[str, set[Edge]] = field(default_factory=dict)
    rows: set[Edge] = field(default_factory=set)
    inputs: set[DatasetId] = field(default_factory=set)
    from_outside: bool = False
    """It also holds rows from before the task."""

    reworked: bool = False
    """Its rows are those from before the task, given anew by UPDATE, DELETE or MERGE."""

    def copy(self) -> Content:
        """Return the same, to be changed on its own."""
        columns = {name: set(edges) for name, edges in self.columns.items()}
        return Content(columns, set(self.rows), set(self.inputs), self.from_outside, self.reworked)

    def holds(self, fields: Iterable[Field], edges: Iterable[Edge], inputs: set[DatasetId]) -> bool:
        """Return whether another write of the same kind would add nothing."""
        known = {**self.columns, "": self.rows}
        return (
            inputs <= self.inputs
            and all(one.name in known for one in fields)
            and all(edge in known.get(edge.column, ()) for edge in edges)
        )

    def trace(self, edge: Edge, name: str) -> set[Edge]:
        """Return where an edge begins that starts at a column of this, which was written as `name`."""
        traced = {edge} if self.from_outside else set()
        if name not in self.columns:
            return traced
        # Of a column that was born in it there is nothing before.
        step = Transformation(edge.kind, edge.masking)
        for origin in self.columns[name]:
            path = step.after(Transformation(origin.kind, origin.masking))
            # Of a field that did not arrive as it was, nobody knows what became of its parts.
            inside = edge.part if origin.kind is Kind.IDENTITY else ""
            part = ".".join(one for one in (origin.part, inside) if one)
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
    """A dataset that the task wrote: it may be read or restored at any version that it had."""

    now: Content
    versions: dict[str, Content] = field(default_factory=dict)
    first: int | None = None
    """The oldest of these versions, where they are numbers in order, as Delta's are."""

    def at(self, version: str, anew: bool) -> Content | None:
        """Return what it held in a version; None for one from before the task, unless it was made `anew`."""
        if not anew and self.first is not None and version.isdigit() and int(version) < self.first:
            return None
        return self.versions.get(version) or self.now


class Contents:
    """The datasets that a task wrote."""

    def __init__(self) -> None:
        self._histories: dict[DatasetId, _History] = {}
        self._dropped: set[DatasetId] = set()
        """Their versions begin anew."""

    def __contains__(self, identifier: DatasetId) -> bool:
        return identifier in self._histories

    def at(self, identifier: DatasetId, version: str) -> Content | None:
        """Return what a dataset held in a version, or holds now; None where none of it is the task's."""
        history = self._histories.get(identifier)
        return history.at(version, identifier in self._dropped) if history else None

    def write(self, output: Output, edges: set[Edge], inputs: set[DatasetId], *, empty: bool) -> None:
        """Add or replace rows; `empty` says that nothing from before the task can be there."""
        identifier, version = output.dataset.id, output.dataset.identity.version
        history = self._histories.get(identifier)
        keeps = output.mode is Mode.APPEND or output.partial
        if history and keeps:
            content = history.now
        else:
            is_of_before = history.now.from_outside or history.now.reworked if history else not empty
            content = Content(from_outside=keeps and not empty, reworked=output.rewrites and is_of_before)
        written = output.dataset.fields, edges | _left(output, content, edges), inputs
        if not content.holds(*written):
            # What a former version held does not change any more.
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
        """Let what was traced to some datasets be traced to the names that they have now; None is no more."""
        for history in self._histories.values():
            for content in (history.now, *history.versions.values()):
                content.columns = {name: set(moved(edges, now)) for name, edges in content.columns.items()}
                content.rows = set(moved(content.rows, now))
                content.inputs = {one for name in content.inputs if (one := now.get(name, name))}

    def rename(self, old: DatasetId, new: DatasetId) -> None:
        """Let what a dataset holds follow it to its new name."""
        if old in self._histories:
            self._histories[new] = self._histories.pop(old)


def _left(output: Output, before: Content, edges: set[Edge]) -> set[Edge]:
    """Return what decides which rows a partial overwrite left: the partitions of both sides."""
    names = {name.lower() for name in output.partitions if before.columns or before.from_outside}
    deciding = [edge for name, some in before.columns.items() if name.lower() in names for edge in some]
    deciding += [edge for edge in edges if edge.column.lower() in names]
    if before.from_outside:
        shown = (one.name for one in output.dataset.fields if one.name.lower() in names)
        deciding += [Edge(output.dataset.id, name, Kind.FILTER) for name in shown]
    return {replace(edge, kind=Kind.FILTER, column="") for edge in deciding}


def moved(edges: Iterable[Edge], now: Mapping[DatasetId, DatasetId | None]) -> Iterator[Edge]:
    """Yield edges that start where their sources are now, without those whose source is no more."""
    for edge in edges:
        if edge.source not in now:
            yield edge
        elif (source := now[edge.source]) is not None:
            yield replace(edge, source=source)
