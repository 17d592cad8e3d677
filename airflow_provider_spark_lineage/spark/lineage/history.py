"""Layers of rows in the folders of a dataset, as a task wrote them, and the content that its readers see."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import reduce
from urllib.parse import unquote

from airflow_provider_spark_lineage.spark.lineage.column_names import names_of_readers, renamed
from airflow_provider_spark_lineage.spark.lineage.contents import Content, Parts
from airflow_provider_spark_lineage.spark.lineage.folders import Folders
from airflow_provider_spark_lineage.spark.lineage.model import (
    Edge,
    Field,
    Kind,
    Mode,
    Output,
    Snapshot,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId
from airflow_provider_spark_lineage.spark.sources.paths import is_within


@dataclass(slots=True)
class _Layer:
    """Rows that writes left in one folder of a dataset; a later layer lies over earlier layers."""

    folder: str
    """Relative to the dataset; empty for the whole dataset."""

    content: Content
    replaces: bool
    """It removed all earlier layers from its folder."""

    number: int
    """Its position in the order of writing."""

    of_stream: bool = False
    """The first of these writes was a batch of a stream."""


@dataclass(slots=True)
class History:
    """The content of a dataset that the task wrote, now and in its versions."""

    source: DatasetId
    """Where the edges start that come from rows of the dataset from before the task."""

    folders: Folders[list[_Layer]] = field(default_factory=Folders)
    """The layers of each folder, in the order of writing."""

    numbers: int = 0
    """Number of layers so far."""

    versions: dict[str, Content] = field(default_factory=dict)
    first: int | None = None
    """The oldest of these versions, if versions are increasing numbers: of Iceberg, they are not."""

    is_unknown: bool = False
    """The version of a write is not known: Iceberg's history lacks a staged snapshot, for example."""

    def at(self, snapshot: Snapshot, *, anew: bool) -> Content | None:
        """Return the content of a snapshot; None if the task wrote nothing of it.

        A version below all that the task wrote is older than the task, unless the dataset was created `anew`;
        so is one of Iceberg's that the query chose, if the task wrote other snapshots only.
        """
        version = snapshot.version
        if known := self.versions.get(version):
            return known
        is_below = self.first is not None and version.isdigit() and int(version) < self.first
        if version and not anew and (is_below or (snapshot.is_chosen and not self.is_unknown)):
            return None
        return self.now(snapshot.folders)

    def now(self, folders: Iterable[str]) -> Content | None:
        """Return the content of these folders (none: all folders); None if the task wrote nothing there."""
        contents: dict[int, Content] = {}
        from_outside = False
        filters = set[Edge]()
        for folder in folders or ("",):
            for layer, deciding in self._reads_of(folder):
                filters |= deciding
                if layer is None:
                    from_outside = True
                else:
                    contents[id(layer.content)] = layer.content
        if not contents:
            return None
        first, *others = contents.values()
        if not others and not filters and first.from_outside == from_outside:
            return first
        content = reduce(Content.merged, others, first.copy())
        content.from_outside = from_outside
        content.rows |= filters
        return content

    def filters(self) -> set[Edge]:
        """Return the FILTER edges of the rows that the task wrote around folders that it replaced later.

        Rows of a stream have none: its lineage is the same after one batch and after several.
        """
        return {
            edge
            for layer, deciding in self._reads_of("")
            if layer is not None and not layer.of_stream
            for edge in deciding
        }

    def _reads_of(self, folder: str) -> Iterator[tuple[_Layer | None, set[Edge]]]:
        """Yield the layers that a reader of a folder reads, newest first; None: rows from before the task.

        With each, the FILTER edges that decide which of its rows these are, from columns in the names of
        folders: the reader's folder has one value, and rows in a folder that was replaced later are gone.
        """
        replaced = Folders[AbstractSet[str]]()
        names = Counter[str]()
        """Of all of these folders: column -> number of folders."""
        for layer in reversed(self._concerning(folder)):
            is_around = is_within(folder, layer.folder)
            below = () if is_around else replaced.below(layer.folder)
            deciding = {*names, *_names_in(folder)} if is_around else {n for b in below for n in replaced[b]}
            yield layer, _filters(layer.content, deciding - _names_in(layer.folder))
            if layer.replaces:
                if is_around:
                    return
                # These replaced rows of this layer, not older ones.
                for each in below:
                    names -= Counter(replaced[each])
                    del replaced[each]
                replaced[layer.folder] = _names_in(layer.folder)
                names.update(replaced[layer.folder])
        yield None, {Edge(self.source, name, Kind.FILTER) for name in names.keys() - _names_in(folder)}

    def write(
        self,
        output: Output,
        edges: set[Edge],
        inputs: set[DatasetId],
        parts: Parts,
        *,
        empty: bool,
        is_batch: bool,
    ) -> set[Edge]:
        """Add or replace rows; `empty`: no rows from before the task are left, `is_batch`: of a stream.

        Returns the FILTER edges that decide which earlier rows of the task a partial overwrite keeps.
        """
        if empty and not self.folders:
            self._add("", Content(), replaces=True)
        folder = output.dataset.identity.folder
        adds = output.mode is Mode.APPEND or output.partial
        reworked = False
        deciding = set[Edge]()
        if output.partitions or output.rewrites:
            before = self.now((folder,)) or Content(from_outside=True)
            if adds:
                filters = _partition_filters(output, before, edges)
                edges = edges | filters | _partition_filters_of_earlier_rows(output, self.source, before)
                deciding = filters if before.filled() else deciding
            reworked = output.rewrites and (before.from_outside or before.reworked)
        layer = self._layer_for(folder, adds=adds, reworked=reworked, of_stream=is_batch)
        fields = (*output.dataset.fields, *_named_by(folder))
        in_folders = {name.lower() for name in output.partitioned_by}
        in_folders |= {column.name.lower() for column in _named_by(folder)}
        without_values = _without_values(output, edges)
        known = layer.content.columns or self._first_columns()
        if names := names_of_readers(output, fields, known, layer.content.in_folders | in_folders):
            fields = tuple(replace(column, name=names.get(column.name, column.name)) for column in fields)
            edges = renamed(edges, names)
            parts = {
                names.get(name, name): {path: renamed(some, names) for path, some in inside.items()}
                for name, inside in parts.items()
            }
            without_values = {names.get(name, name) for name in without_values}
        written = fields, edges, inputs, parts, without_values
        if not layer.content.holds(*written):
            self._own(layer).add(*written)
            layer.content.in_folders |= in_folders
        self.is_unknown = self.is_unknown or not output.dataset.identity.version
        self._set_version(output, layer.content)
        return deciding

    def change_columns(self, output: Output) -> None:
        """Rename, drop and add columns; the rows stay.

        A change without a version of its own, as in Iceberg, applies to the last version.
        """
        version = output.dataset.identity.version
        layers = [layer for layers in self.folders.values() for layer in layers]
        for layer in layers:
            before = layer.content
            self._own(layer).change_columns(output.changes, output.dataset.fields)
            for known in [known for known, content in self.versions.items() if content is before]:
                self.versions[known] = before if version else layer.content
        if len(layers) == 1:
            self._set_version(output, layers[0].content)

    def _first_columns(self) -> Collection[str]:
        """Return the columns of the oldest rows: readers of all folders know the columns by these names."""
        columns = (layer.content.columns for layers in self.folders.values() for layer in layers)
        return next(filter(None, columns), ())

    def _own(self, layer: _Layer) -> Content:
        """Return the content of a layer for a change: a copy if earlier versions or kept frames share it."""
        if self.versions or layer.content.shared:
            layer.content = layer.content.copy()
        return layer.content

    def _set_version(self, output: Output, content: Content) -> None:
        identity = output.dataset.identity
        if identity.version:
            self.versions[identity.version] = content
        if identity.version.isdigit() and identity.storage_layer != "iceberg":
            number = int(identity.version)
            self.first = number if self.first is None else min(number, self.first)

    def _layer_for(self, folder: str, *, adds: bool, reworked: bool, of_stream: bool) -> _Layer:
        """Return the layer for the next write into a folder, which adds rows or replaces all rows."""
        if adds:
            for layer in reversed(self._concerning(folder)):
                if layer.folder == folder:
                    return layer
                if layer.replaces:
                    break
        else:
            self._remove(folder)
        content = Content(from_outside=adds, reworked=reworked)
        return self._add(folder, content, replaces=not adds, of_stream=of_stream)

    def _add(self, folder: str, content: Content, *, replaces: bool, of_stream: bool = False) -> _Layer:
        """Add a layer over all others."""
        self.numbers += 1
        layer = _Layer(folder, content, replaces, self.numbers, of_stream)
        self.folders[folder] = [*self.folders.get(folder, []), layer]
        return layer

    def _concerning(self, folder: str) -> list[_Layer]:
        """Return the layers of a folder, of its parents and of its subfolders, in the order of writing."""
        names = (*self.folders.around(folder), *self.folders.below(folder))
        layers = (layer for name in names for layer in self.folders[name])
        return sorted(layers, key=lambda layer: layer.number)

    def _remove(self, folder: str) -> None:
        """Remove the layers of a folder; appends that become neighbors by this are joined."""
        around = [name for name in self.folders.around(folder) if name != folder]
        inside = [name for name in (*self.folders.below(folder), folder) if name in self.folders]
        for name in inside:
            del self.folders[name]
        for name in around if inside else ():
            self._join(name)

    def _join(self, folder: str) -> None:
        """Join the layers of a folder that only add rows, if no other folder's layer lies between them."""
        layers = self.folders[folder]
        if len(layers) < 2:
            return
        others = [layer.number for layer in self._concerning(folder) if layer.folder != folder]
        joined = layers[:1]
        for layer in layers[1:]:
            before = joined[-1]
            if layer.replaces or bisect(others, before.number) != bisect(others, layer.number):
                joined.append(layer)
                continue
            content = before.content.merged(layer.content)
            before.content = replace(content, from_outside=before.content.from_outside)
            before.number = layer.number
        self.folders[folder] = joined


def _without_values(output: Output, edges: Iterable[Edge]) -> set[str]:
    """Return the columns that a write leaves without values; `edges` are its edges, traced to their origins.

    A command that leaves a table without rows fills no column. A copy of a column without values has none.
    """
    if not output.has_rows and output.mode in (Mode.CREATE, Mode.OVERWRITE, Mode.TRUNCATE):
        return {field.name for field in output.dataset.fields}
    return {edge.column for edge in output.edges} - {edge.column for edge in edges}


def _named_by(folder: str) -> Iterator[Field]:
    """Yield the columns in a folder's name (`day=1`): Spark adds their values to the rows."""
    for part in folder.split("/"):
        name, has_value, _ = part.partition("=")
        if has_value:
            yield Field(unquote(name), "")


def _names_in(folder: str) -> frozenset[str]:
    """Return the columns in a folder's name."""
    return frozenset(column.name for column in _named_by(folder))


def _partition_filters(output: Output, before: Content, edges: set[Edge]) -> set[Edge]:
    """Return FILTER edges from the sources of the partition columns of both sides: they decide what stays."""
    names = _deciding_names(output) if before.filled() or before.from_outside else frozenset()
    deciding = [edge for name, some in before.columns.items() if name.lower() in names for edge in some]
    deciding += [edge for edge in edges if edge.column.lower() in names]
    return _as_filters(deciding)


def _filters(content: Content, names: AbstractSet[str]) -> set[Edge]:
    """Return FILTER edges from the sources of these columns, where folders of the rows are named by them."""
    known = {name.lower() for name in names} & content.in_folders
    filled = content.filled() if known else ()
    return _as_filters(edge for name in filled if name.lower() in known for edge in content.columns[name])


def _as_filters(edges: Iterable[Edge]) -> set[Edge]:
    return {replace(edge, kind=Kind.FILTER, column="") for edge in edges}


def _deciding_names(output: Output) -> frozenset[str]:
    """Return the partition columns, in lower case, that decide which earlier rows a write keeps."""
    names = (*output.partitions, *_names_in(output.dataset.identity.folder)) if output.partitions else ()
    return frozenset(name.lower() for name in names)


def _partition_filters_of_earlier_rows(output: Output, source: DatasetId, before: Content) -> set[Edge]:
    """Return FILTER edges from the partition columns of rows that were there before the task."""
    names = _deciding_names(output) if before.from_outside else frozenset()
    fields = (*output.dataset.fields, *_named_by(output.dataset.identity.folder))
    shown = {field.name.lower(): field.name for field in reversed(fields)}
    return {Edge(source, shown[name], Kind.FILTER) for name in names if name in shown}
