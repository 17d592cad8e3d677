"""Composition: merges the executions of one task, in their order, into the lineage of the task.

- A dataset that the task reads from outside is an input; a dataset that it writes is an output.
- If the task writes a dataset and reads it back, its columns are traced through it to their origin.
- A column that originates in such a dataset (literals, rows from Python) is traced to that dataset and no
  further: the dataset is then also an input.

The cost of adding an execution does not depend on how many came before, only on how many folders of its
datasets were read or written separately.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from airflow_provider_spark_lineage.lineage.claims import Claim, names_of, renamed
from airflow_provider_spark_lineage.lineage.contents import Content, Contents, moved
from airflow_provider_spark_lineage.lineage.model import (
    Dataset,
    Edge,
    Failure,
    Gap,
    Input,
    Lineage,
    Mode,
    Output,
    Snapshot,
    Statistics,
)
from airflow_provider_spark_lineage.lineage.reads import counted, together
from airflow_provider_spark_lineage.lineage.statistics import added
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Symlink


class Composer:
    """Takes the executions in order; `lineage()` returns the task's lineage so far."""

    def __init__(self) -> None:
        self._inputs: dict[DatasetId, Input] = {}
        self._read_back: dict[DatasetId, Input] = {}
        self._claims: dict[DatasetId, Claim] = {}
        self._contents = Contents()
        self._tables: dict[DatasetId, DatasetId] = {}
        """Entry of a catalog -> the dataset that it last referred to."""

        self._created_entries: set[DatasetId] = set()
        """Entries that the task created."""

        self._read: dict[DatasetId, Dataset] = {}
        """How the current execution reads each dataset: the version, and the columns in their order."""

        self._contents_read: dict[DatasetId | tuple[DatasetId, Snapshot], Content | None] = {}
        """The content of the datasets, or snapshots, that the current execution reads."""

        self._batches: dict[tuple[str, DatasetId, tuple[str, ...]], Statistics] = {}
        """(streaming query, dataset, locations) -> counts of all batches so far."""

        self._gaps: dict[Gap, None] = {}
        self._gaps_of: dict[DatasetId, list[Gap]] = {}
        self._failures: list[Failure] = []
        self._own_inputs: set[DatasetId] = set()
        """Datasets that the task wrote itself and that are inputs because columns originate in them."""

        self._dropped: dict[DatasetId, Output] = {}
        """Name -> output that drops the dataset that had this name before the task."""

        self._renamed_away: set[DatasetId] = set()
        """Names from before the task whose dataset was renamed: a new dataset of that name is the task's."""

        self._old_names: dict[DatasetId, DatasetId] = {}
        """Dataset that was renamed and then dropped -> its name before the task."""

        self._new_names: dict[DatasetId, DatasetId | None] = {}
        """Dataset that the task created -> its new name; None if it was dropped."""

    def add(self, lineage: Lineage) -> None:
        """Add the next execution."""
        self._failures.extend(lineage.failures)
        self._read = {input_.dataset.id: input_.dataset for input_ in lineage.inputs}
        self._contents_read = {}
        reads = (read for input_ in lineage.inputs for read in input_.reads())
        for read in map(self._with_batches_before, reads):
            content = self._content_read(read.dataset.id, read.dataset.snapshot)
            outside = content is None or content.from_outside
            _add_input(self._inputs if outside else self._read_back, read)
            if read.dataset.id in self._own_inputs:
                _add_input(self._inputs, read)
            elif content is not None and content.reworked and read.dataset.id in self._inputs:
                # After UPDATE and MERGE it is still the same dataset, so this read may be its largest.
                _add_input(self._inputs, replace(read, dataset=self._inputs[read.dataset.id].dataset))
            if not read.dataset.kept_by:
                self._note_entries(read.dataset)
        for identifier, snapshot in lineage.keeps:
            self._contents.keep(identifier, snapshot)
        # Resolve all outputs first, using the contents from before this execution's writes.
        gaps = dict.fromkeys(lineage.gaps)
        resolved = [(output, *self._resolve(output, gaps)) for output in lineage.outputs]
        for output, edges, inputs in resolved:
            is_entry = output.dataset.identity.is_entry
            match output.mode:
                case Mode.DROP:
                    self._end_entry(output) if is_entry else self._drop(output)
                case Mode.RENAME:
                    self._rename_entry(output) if is_entry else self._rename(output)
                case _:
                    self._write(output, edges, inputs)
        self._add_gaps(gaps)

    def lineage(self) -> Lineage:
        """Return the merged lineage; the same on every call."""
        now: dict[DatasetId, DatasetId | None] = {**self._old_names}
        now.update((name, self._current_name(name)) for name in self._own_inputs if name in self._new_names)
        outputs = [
            replace(
                claim.output,
                mode=self._mode(claim.output),
                statistics=claim.written or Statistics(),
                dataset=replace(claim.output.dataset, fields=tuple(claim.fields.values())),
                edges=tuple(sorted(moved(claim.edges, now), key=lambda edge: edge.order)),
                inputs=tuple(
                    sorted({current for source in claim.inputs if (current := now.get(source, source))})
                ),
            )
            for claim in self._claims.values()
        ]
        outputs += [output for name, output in self._dropped.items() if self._is_dropped(name)]
        inputs: dict[DatasetId, Input] = {}
        for name, read in self._inputs.items():
            if name in self._old_names:
                _add_input(inputs, replace(read, dataset=renamed(read.dataset, self._old_names[name])))
            elif name not in now:
                _add_input(inputs, read)
        for new_name in {new for source in self._own_inputs if (new := now.get(source)) is not None}:
            claim = self._claims.get(new_name)
            if claim is not None:
                _add_input(inputs, Input(replace(claim.output.dataset, fields=tuple(claim.fields.values()))))
            elif new_name in self._dropped:
                _add_input(inputs, Input(self._dropped[new_name].dataset))
        return Lineage(
            inputs=tuple(counted(inputs[name]) for name in sorted(inputs)),
            outputs=tuple(sorted(outputs, key=lambda output: output.dataset.id)),
            gaps=tuple(self._gaps),
            failures=tuple(self._failures),
        )

    def _mode(self, output: Output) -> Mode:
        """Return an output's mode; CREATE of a dataset that the task dropped is an overwrite."""
        replaced = output.mode is Mode.CREATE and output.dataset.id in self._dropped
        return Mode.OVERWRITE if replaced else output.mode

    def _current_name(self, identifier: DatasetId) -> DatasetId | None:
        """Return the current name of a dataset that the task created; None if it was dropped."""
        name: DatasetId | None = identifier
        while name in self._new_names:
            name = self._new_names[name]
        return self._old_names.get(name, name) if name is not None else None

    def _reuse_name(self, identifier: DatasetId) -> None:
        """Free a name for another dataset: earlier reads under it are reported under their current name."""
        if identifier not in self._new_names and identifier not in self._old_names:
            return
        current = self._current_name(identifier)
        if current != identifier and (identifier in self._own_inputs or identifier in self._old_names):
            now = {identifier: current}
            for claim in self._claims.values():
                claim.edges = set(moved(claim.edges, now))
                claim.inputs = {source for name in claim.inputs if (source := now.get(name, name))}
            self._contents.follow(now)
            self._own_inputs.discard(identifier)
            read, back = self._inputs.pop(identifier, None), self._read_back.pop(identifier, None)
            if read is not None and identifier in self._old_names and current is not None:
                _add_input(self._inputs, replace(read, dataset=renamed(read.dataset, current)))
            elif read is not None and back is not None and current in self._claims:
                dataset = self._claims[current].output.dataset
                self._own_inputs.add(current)
                self._inputs[current] = replace(read, dataset=dataset)
                self._read_back[current] = replace(back, dataset=dataset)
        self._new_names.pop(identifier, None)
        self._old_names.pop(identifier, None)
        for name in [name for name, after in self._new_names.items() if after == identifier]:
            self._new_names[name] = current
            if current == name:
                del self._new_names[name]

    def _content_read(self, identifier: DatasetId, snapshot: Snapshot | None = None) -> Content | None:
        """Return the content of a dataset as the current execution reads it; None if it is from outside.

        Without a snapshot, return the content of everything that the execution reads of it.
        """
        key = identifier if snapshot is None else (identifier, snapshot)
        if key not in self._contents_read:
            if snapshot is None:
                read = self._read.get(identifier)
                snapshot = read.snapshot if read else Snapshot()
            self._contents_read[key] = self._contents.at(identifier, snapshot)
        return self._contents_read[key]

    def _with_batches_before(self, read: Input) -> Input:
        """Add the counts of a stream's earlier batches: all batches are one read."""
        if not read.stream:
            return read
        key = (read.stream, read.dataset.id, read.dataset.identity.locations)
        before = self._batches.get(key)
        self._batches[key] = added(before, read.statistics) if before is not None else read.statistics
        return replace(read, statistics=self._batches[key])

    def _note_entries(self, dataset: Dataset) -> None:
        for entry in () if dataset.identity.is_entry else names_of(dataset):
            if self._tables.get(entry, dataset.id) != dataset.id:
                # The entry now refers to a table at another location.
                self._forget_entry(entry)
            self._tables[entry] = dataset.id

    def _add_gaps(self, gaps: Iterable[Gap]) -> None:
        for gap in gaps:
            if gap not in self._gaps:
                self._gaps[gap] = None
                if gap.output is not None:
                    self._gaps_of.setdefault(gap.output, []).append(gap)

    def _drop(self, output: Output) -> None:
        """Remove a dataset; if the task created it, it is no longer an output."""
        dropped = output.dataset.id
        for entry in names_of(output.dataset):
            self._tables.pop(entry, None)
            self._claims.pop(entry, None)
            self._created_entries.discard(entry)
        claim, read = self._claims.pop(dropped, None), self._inputs.get(dropped)
        self._contents.forget(dropped)
        if claim is not None and claim.created:
            self._new_names[dropped] = None
            return
        former = self._former(claim)
        if former is not None:
            # Consumers know a dataset from before the task by its old name.
            self._old_names[dropped] = former.id
        dataset = former or (claim.output.dataset if claim else read.dataset if read else output.dataset)
        self._dropped[dataset.id] = replace(output, dataset=dataset, previous=None)

    def _end_entry(self, output: Output) -> None:
        """Remove a catalog entry; its dataset stays, without this name."""
        entry = output.dataset.id
        self._forget_entry(entry)
        former = self._former(self._claims.pop(entry, None))
        if entry in self._created_entries:
            self._created_entries.discard(entry)
        else:
            dataset = former or output.dataset
            self._dropped[dataset.id] = replace(output, dataset=dataset, previous=None)

    def _forget_entry(self, entry: DatasetId, new: DatasetId | None = None) -> None:
        """Remove an entry's name from its dataset, or replace it by a new one."""
        place = self._tables.pop(entry, None)
        claim = self._claims.get(place) if place is not None else None
        if place is not None and new is not None:
            self._tables[new] = place
        if claim is not None:
            identity = claim.output.dataset.identity
            links = [link for link in identity.symlinks if DatasetId(link.namespace, link.name) != entry]
            links += [Symlink(new.namespace, new.name)] if new is not None else []
            dataset = replace(claim.output.dataset, identity=replace(identity, symlinks=tuple(links)))
            claim.output = replace(claim.output, dataset=dataset)

    def _rename_entry(self, output: Output) -> None:
        """Rename a catalog entry; its claim moves to the new name."""
        old, new = output.previous, output.dataset.id
        if old is None:
            self._claim(output, set(), set())
            return
        self._occupy(new)
        self._forget_entry(old, new)
        claim = self._claims.pop(old, None)
        if old not in self._created_entries:
            first = claim.output.previous if claim else None
            if first != new:
                output = replace(output, previous=first or old)
                self._claims[new] = Claim(output, set(), set(), {}, created=False)
            return
        self._created_entries.discard(old)
        self._created_entries.add(new)
        if claim is not None:
            self._claims[new] = replace(claim, output=replace(claim.output, dataset=output.dataset))

    def _rename(self, output: Output) -> None:
        """Rename a dataset; its claim, content and gaps move to the new name."""
        new = output.dataset.id
        self._occupy(new)
        old = output.previous if output.previous in self._claims else new
        claim = self._claims.pop(old, None)
        for entry in names_of(claim.output.dataset) if claim else ():
            self._tables.pop(entry, None)
            self._created_entries.discard(entry)
        self._note_entries(output.dataset)
        if claim is None or not claim.created:
            was = claim.output.previous if claim and claim.output.previous else output.previous
            self._renamed_away.discard(new) if was == new else self._renamed_away.add(was or old)
        if claim is None:
            self._claim(output, set(), set())
            return
        if claim.created:
            output = replace(claim.output, dataset=output.dataset)
            self._created_entries.update(names_of(output.dataset))
        elif claim.output.previous is not None:
            output = replace(output, previous=claim.output.previous)
        if output.previous != new:
            self._claims[new] = replace(claim, output=output)
        elif claim.data_mode is not None:
            # It has its first name again, so only changes of its data are reported.
            output = replace(output, mode=claim.data_mode, previous=None)
            self._claims[new] = replace(claim, output=output)
        self._contents.rename(old, new)
        self._reuse_name(new)
        if old != new:
            self._new_names[old] = new
        self._add_gaps(replace(gap, output=new) for gap in self._remove_gaps(old))

    def _former(self, claim: Claim | None) -> Dataset | None:
        """Return a renamed dataset under its name from before the task; None if it was not renamed."""
        former = claim.output.previous if claim and not claim.created else None
        if claim is None or former is None:
            return None
        return renamed(replace(claim.output.dataset, fields=tuple(claim.fields.values())), former)

    def _remove_gaps(self, identifier: DatasetId) -> list[Gap]:
        """Remove the gaps of an output, and return them."""
        gaps = self._gaps_of.pop(identifier, [])
        for gap in gaps:
            del self._gaps[gap]
        return gaps

    def _resolve(self, output: Output, gaps: dict[Gap, None]) -> tuple[set[Edge], set[DatasetId]]:
        """Trace an output's edges through earlier writes of the same task."""
        edges: set[Edge] = set()
        inputs: set[DatasetId] = set()
        snapshots: dict[DatasetId, list[Snapshot]] = {}
        for source, snapshot in output.snapshots:
            snapshots.setdefault(source, []).append(snapshot)
        contents = (
            (source, self._content_read(source, snapshot))
            for source in output.inputs
            for snapshot in snapshots.get(source, (None,))
        )
        for source, content in contents:
            if content is None or content.from_outside:
                inputs.add(source)
                if source in self._read_back:
                    # Of several snapshots, this one is from outside.
                    self._inputs.setdefault(source, self._read_back[source])
            if content is not None:
                inputs |= content.inputs
                # A column that decides the rows of the intermediate also decides the rows of the output.
                edges.update(replace(edge, column="") for edge in content.rows)
        origins: dict[Edge, list[Snapshot]] = {}
        for edge, snapshot in output.origins:
            origins.setdefault(edge, []).append(snapshot)
        for edge in output.edges:
            for of_edge in origins.get(edge, (None,)) if origins else (None,):
                edges |= self._trace(edge, of_edge, output, gaps)
        for source in {edge.source for edge in edges if edge.source in self._read_back}:
            inputs.add(source)
            if source not in self._inputs:
                self._inputs[source] = self._read_back[source]
                self._own_inputs.add(source)
        return edges, inputs

    def _trace(
        self, edge: Edge, snapshot: Snapshot | None, output: Output, gaps: dict[Gap, None]
    ) -> set[Edge]:
        content = self._content_read(edge.source, snapshot)
        if content is None:
            return {edge}
        name = self._written_name(edge, content)
        if name not in content.columns and not content.from_outside:
            reason = f"`{edge.field}` of {edge.source.name} was read back, but the task wrote no such column"
            gaps[Gap("composition", reason, output.dataset.id, edge.column)] = None
        return content.trace(edge, name)

    def _written_name(self, edge: Edge, content: Content) -> str:
        """Return the name under which the task wrote a field: matched without case, or by its position."""
        if edge.field in content.columns:
            return edge.field
        alike = [column for column in content.columns if column.lower() == edge.field.lower()]
        if len(alike) == 1:
            return alike[0]
        dataset = self._read.get(edge.source)
        read = [field.name for field in dataset.fields] if dataset else []
        claim = self._claims.get(edge.source)
        if claim and claim.output.dataset.identity.file_format == "csv" and len(read) == len(content.columns):
            # A CSV file without a header has no names: the reader's schema or Spark (`_c0`) gives them.
            return dict(zip(read, content.columns, strict=True)).get(edge.field, edge.field)
        return edge.field

    def _write(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        identifier = output.dataset.id
        is_dropped = self._is_dropped(identifier)
        made_without_rows = output.mode is Mode.CREATE and not (inputs or output.statistics or output.partial)
        if made_without_rows and identifier in self._contents and not is_dropped:
            # CREATE TABLE IF NOT EXISTS: any other CREATE of an existing table fails.
            return
        if output.mode is not Mode.ALTER and not output.dataset.identity.is_entry:
            self._contents.write(output, edges, inputs, empty=is_dropped)
            self._reuse_name(identifier)
        entries = names_of(output.dataset)
        # The task created this table and now writes it elsewhere. Spark refuses a location that is not empty.
        is_whole = output.mode in (Mode.CREATE, Mode.OVERWRITE) and not output.partial
        is_moved = is_whole and any(
            entry in self._created_entries and self._tables.get(entry, identifier) != identifier
            for entry in entries
        )
        self._note_entries(output.dataset)
        self._claim(output, edges, inputs, is_free=is_moved)
        for entry in names_of(output.dataset):
            if output.mode is Mode.CREATE:
                self._created_entries.add(entry)
            if entry != identifier:
                self._forget_claim(entry)

    def _forget_claim(self, entry: DatasetId) -> None:
        """Drop the claim of an entry whose dataset has its own claim, unless the entry was renamed."""
        claim = self._claims.get(entry)
        if claim is not None and claim.output.previous is None:
            del self._claims[entry]

    def _is_dropped(self, identifier: DatasetId) -> bool:
        """Return whether a dataset from before the task was dropped and its name is unused now."""
        return (
            identifier in self._dropped and identifier not in self._claims and identifier not in self._tables
        )

    def _occupy(self, identifier: DatasetId) -> None:
        """Note that a name is in use; a DROP IF EXISTS of it may have had no effect and is not reported."""
        if identifier in self._dropped and self._dropped[identifier].may_be_absent:
            del self._dropped[identifier]

    def _claim(
        self, output: Output, edges: set[Edge], inputs: set[DatasetId], *, is_free: bool = False
    ) -> None:
        """Add one write to the claim of its dataset; `is_free`: its location was certainly empty before."""
        identifier = output.dataset.id
        claim = self._claims.get(identifier)
        if claim is None:
            self._occupy(identifier)
            # A dataset that the task read first is older than the task; an overwritten dataset may be.
            is_free |= identifier in self._dropped or identifier in self._renamed_away
            whole = output.mode is Mode.CREATE and not output.partial
            created = output.mode is not Mode.RENAME and (
                is_free or (whole and identifier not in self._inputs)
            )
            self._claims[identifier] = Claim.of(output, edges, inputs, created=created)
        else:
            claim.add(output, edges, inputs)


def _add_input(inputs: dict[DatasetId, Input], read: Input) -> None:
    """Merge one read of a dataset into `inputs`."""
    before = inputs.get(read.dataset.id)
    inputs[read.dataset.id] = read if before is None else together(before, read)


def compose(executions: Iterable[Lineage]) -> Lineage:
    """Merge executions in the order in which they ended."""
    composer = Composer()
    for lineage in executions:
        composer.add(lineage)
    return composer.lineage()
