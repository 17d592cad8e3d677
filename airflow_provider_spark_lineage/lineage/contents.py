"""The content of datasets after a task's writes, now and in each version that the task wrote.

Modes, names and drops are not here; `compose` has those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from airflow_provider_spark_lineage.lineage.folders import Folders
from airflow_provider_spark_lineage.lineage.model import Edge, Field, Kind, Mode, Output, View
from airflow_provider_spark_lineage.plan.algebra import Transformation
from airflow_provider_spark_lineage.sources.dataset import DatasetId
from airflow_provider_spark_lineage.sources.paths import is_within


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

    def merged(self, other: Content) -> Content:
        """Return the rows of both."""
        both = self.copy()
        for name, edges in other.columns.items():
            both.columns.setdefault(name, set()).update(edges)
        both.rows |= other.rows
        both.inputs |= other.inputs
        both.from_outside |= other.from_outside
        both.reworked |= other.reworked
        return both

    def add(self, fields: Iterable[Field], edges: Iterable[Edge], inputs: Iterable[DatasetId]) -> None:
        """Add the rows of one write."""
        for written in fields:
            self.columns.setdefault(written.name, set())
        for edge in edges:
            (self.columns.setdefault(edge.column, set()) if edge.column else self.rows).add(edge)
        self.inputs.update(inputs)


@dataclass
class _Layer:
    """What writes left in one folder of a dataset; a later layer is written over earlier ones."""

    folder: str
    """Relative to the dataset; empty for all of it."""

    content: Content
    replaces: bool
    """Nothing of earlier layers is left in its folder."""

    number: int = 0
    """Its place in the order of writing."""


@dataclass
class _History:
    """The content of a dataset that the task wrote, now and in its versions."""

    folders: Folders[list[_Layer]] = field(default_factory=Folders)
    """The layers of each folder, in the order of writing."""

    numbers: int = 0
    """How many layers were made so far."""

    versions: dict[str, Content] = field(default_factory=dict)
    first: int | None = None
    """The oldest of these versions, where versions are increasing numbers, as in Delta."""

    def at(self, version: str, anew: bool, folders: Iterable[str]) -> Content | None:
        """Return the content in a version; None for a version from before the task, unless created `anew`."""
        if not anew and self.first is not None and version.isdigit() and int(version) < self.first:
            return None
        return self.versions.get(version) or self.now(folders)

    def now(self, folders: Iterable[str]) -> Content | None:
        """Return the content of folders, of all without any; None where the task wrote nothing there."""
        found: dict[int, Content] = {}
        from_outside = False
        for folder in folders or ("",):
            for layer in reversed(self._concerning(folder)):
                found[id(layer.content)] = layer.content
                if layer.replaces and is_within(folder, layer.folder):
                    break
            else:
                from_outside = True
        if not found:
            return None
        first, *others = found.values()
        if not others and first.from_outside == from_outside:
            return first
        content = first
        for other in others:
            content = content.merged(other)
        return replace(content, from_outside=from_outside)

    def layer_for(self, folder: str, *, keeps: bool, reworked: bool) -> _Layer:
        """Return the layer of the next write into a folder, which keeps what is there or replaces it."""
        if keeps:
            for layer in reversed(self._concerning(folder)):
                if layer.folder == folder:
                    return layer
                if layer.replaces:
                    break
        else:
            self._remove(folder)
        return self.add(folder, Content(from_outside=keeps, reworked=reworked), replaces=not keeps)

    def add(self, folder: str, content: Content, *, replaces: bool) -> _Layer:
        """Add a layer over all others."""
        self.numbers += 1
        layer = _Layer(folder, content, replaces, self.numbers)
        self.folders[folder] = [*self.folders.get(folder, []), layer]
        return layer

    def layers(self) -> Iterator[_Layer]:
        """Yield all layers."""
        yield from (layer for layers in self.folders.values() for layer in layers)

    def _concerning(self, folder: str) -> list[_Layer]:
        """Return the layers of a folder, of those around it and of those in it, in the order of writing."""
        names = (*self.folders.around(folder), *self.folders.below(folder))
        layers = (layer for name in names for layer in self.folders[name])
        return sorted(layers, key=lambda layer: layer.number)

    def _remove(self, folder: str) -> None:
        """Remove what was written into a folder; appends that nothing lies between any more become one."""
        around = [name for name in self.folders.around(folder) if name != folder]
        inside = [*self.folders.below(folder), *filter(self.folders.__contains__, [folder])]
        for name in inside:
            del self.folders[name]
        for name in around if inside else ():
            self._join(name)

    def _join(self, folder: str) -> None:
        """Make one of the last two layers of a folder where the last one adds rows and none lies between."""
        layers = self.folders[folder]
        if len(layers) < 2 or layers[-1].replaces:
            return
        before, last = layers[-2:]
        if any(before.number < layer.number < last.number for layer in self._concerning(folder)):
            return
        content = before.content.merged(last.content)
        before.content = replace(content, from_outside=before.content.from_outside)
        layers.pop()


class Contents:
    """The datasets that a task wrote."""

    def __init__(self) -> None:
        self._histories: dict[DatasetId, _History] = {}
        self._kept: dict[tuple[DatasetId, View], Content | None] = {}
        """What kept frames read, as it was then; None for rows from outside alone."""

        self._dropped: set[DatasetId] = set()
        """Datasets that the task dropped: a table created there again starts with new versions."""

    def __contains__(self, identifier: DatasetId) -> bool:
        return identifier in self._histories

    def at(self, identifier: DatasetId, view: View) -> Content | None:
        """Return the content of a dataset in a view; None where the task wrote nothing of it."""
        if (identifier, view) in self._kept:
            return self._kept[identifier, view]
        history = self._histories.get(identifier)
        return history.at(view.version, identifier in self._dropped, view.folders) if history else None

    def keep(self, identifier: DatasetId, view: View) -> None:
        """Note what a kept frame reads: later writes do not change it."""
        content = self.at(identifier, view)
        self._kept[identifier, view] = content.copy() if content is not None else None

    def write(self, output: Output, edges: set[Edge], inputs: set[DatasetId], *, empty: bool) -> None:
        """Add or replace rows; `empty` means that no rows from before the task are left."""
        identifier, version = output.dataset.id, output.dataset.identity.version
        history = self._histories.setdefault(identifier, _History())
        if empty and not history.folders:
            history.add("", Content(), replaces=True)
        folder = output.dataset.identity.folder
        before = history.now((folder,)) or Content(from_outside=True)
        keeps = output.mode is Mode.APPEND or output.partial
        if keeps:
            edges = edges | _partition_filters(output, before, edges)
        reworked = output.rewrites and (before.from_outside or before.reworked)
        layer = history.layer_for(folder, keeps=keeps, reworked=reworked)
        written = (*output.dataset.fields, *_named_by(folder)), edges, inputs
        if not layer.content.holds(*written):
            # Earlier versions share the object, so the content is copied before it changes.
            layer.content = layer.content.copy() if history.versions else layer.content
            layer.content.add(*written)
        if version:
            history.versions[version] = layer.content
        if version.isdigit() and (history.first is None or int(version) < history.first):
            history.first = int(version)

    def forget(self, identifier: DatasetId) -> None:
        """Drop a dataset."""
        self._dropped.add(identifier)
        self._histories.pop(identifier, None)

    def follow(self, now: Mapping[DatasetId, DatasetId | None]) -> None:
        """Replace sources by their current names; None removes a source."""
        contents = [content for content in self._kept.values() if content is not None]
        for history in self._histories.values():
            contents += (layer.content for layer in history.layers())
            contents += history.versions.values()
        for content in contents:
            content.columns = {name: set(moved(edges, now)) for name, edges in content.columns.items()}
            content.rows = set(moved(content.rows, now))
            content.inputs = {source for name in content.inputs if (source := now.get(name, name))}

    def rename(self, old: DatasetId, new: DatasetId) -> None:
        """Move a dataset's content to its new name."""
        if old in self._histories:
            self._histories[new] = self._histories.pop(old)


def _named_by(folder: str) -> Iterator[Field]:
    """Yield the columns whose values are in a folder's name, `day=1`: Spark adds them to its rows."""
    for part in folder.split("/"):
        name, has_value, _ = part.partition("=")
        if has_value:
            yield Field(unquote(name), "")


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
