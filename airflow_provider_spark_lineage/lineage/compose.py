"""Merges the executions of one task, in their order, into the lineage of the task.

What a task reads from outside is an input, what it writes is an output, and a column that went through
a dataset that the task wrote and read back is traced to where it came from. A column that was born in
such a dataset (of literals, of rows made in Python) is traced to it and no further: the dataset is then
an input as well. The cost of one more execution does not depend on how many there were before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from airflow_provider_spark_lineage.lineage.claims import Claim, called, names_of
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
    Statistics,
)
from airflow_provider_spark_lineage.lineage.statistics import added, larger
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Symlink


class Composer:
    """Takes executions one by one; `lineage()` gives the task's lineage so far."""

    def __init__(self) -> None:
        self._inputs: dict[DatasetId, Input] = {}
        self._read_back: dict[DatasetId, Input] = {}
        self._claims: dict[DatasetId, Claim] = {}
        self._contents = Contents()
        self._tables: dict[DatasetId, DatasetId] = {}
        """An entry of a catalog -> the data that it last stood for."""

        self._made: set[DatasetId] = set()
        """Entries that were not there before the task."""

        self._read: dict[DatasetId, Dataset] = {}
        """How the execution at hand reads each dataset: in which version, with which columns in order."""

        self._batches: dict[tuple[str, DatasetId], Statistics] = {}
        """What a streaming query has read of each dataset."""

        self._gaps: dict[Gap, None] = {}
        self._gaps_of: dict[DatasetId, list[Gap]] = {}
        self._failures: list[Failure] = []
        self._born: set[DatasetId] = set()
        """Inputs that the task wrote itself, there because columns were born in them."""

        self._gone: dict[DatasetId, Output] = {}
        """What was there before the task under a name and is no more, whatever has the name by now."""

        self._left: set[DatasetId] = set()
        """Names of before the task that were taken from what had them: what has them now is the task's."""

        self._formerly: dict[DatasetId, DatasetId] = {}
        """What was renamed and then dropped -> what it was called before the task."""

        self._moved: dict[DatasetId, DatasetId | None] = {}
        """Where what the task made is now: under another name, or dropped, which is None."""

    def add(self, lineage: Lineage) -> None:
        """Add the next execution."""
        self._failures.extend(lineage.failures)
        self._read = {one.dataset.id: one.dataset for one in lineage.inputs}
        for one in map(self._with_batches_before, lineage.inputs):
            content = self._held(one.dataset.id)
            outside = content is None or content.from_outside
            _add_input(self._inputs if outside else self._read_back, one)
            if one.dataset.id in self._born:
                _add_input(self._inputs, one)
            elif content is not None and content.reworked and one.dataset.id in self._inputs:
                # It is no other dataset for that, so its largest read may be this one.
                _add_input(self._inputs, replace(one, dataset=self._inputs[one.dataset.id].dataset))
            self._know(one.dataset)
        # Every output is resolved against what there was before this execution wrote anything.
        told = dict.fromkeys(lineage.gaps)
        resolved = [(output, *self._resolve(output, told)) for output in lineage.outputs]
        for output, edges, inputs in resolved:
            is_entry = output.dataset.identity.is_entry
            match output.mode:
                case Mode.DROP:
                    self._end_entry(output) if is_entry else self._drop(output)
                case Mode.RENAME:
                    self._rename_entry(output) if is_entry else self._rename(output)
                case _:
                    self._write(output, edges, inputs)
        self._tell(told)

    def lineage(self) -> Lineage:
        """Return the merged lineage; the same on every call."""
        now: dict[DatasetId, DatasetId | None] = {**self._formerly}
        now.update((born, self._now(born)) for born in self._born if born in self._moved)
        outputs = [
            replace(
                claim.output,
                mode=self._mode(claim.output),
                statistics=claim.written or Statistics(),
                dataset=replace(claim.output.dataset, fields=tuple(claim.fields.values())),
                edges=tuple(sorted(moved(claim.edges, now), key=lambda edge: edge.order)),
                inputs=tuple(sorted({found for one in claim.inputs if (found := now.get(one, one))})),
            )
            for claim in self._claims.values()
        ]
        outputs += [output for name, output in self._gone.items() if self._is_gone(name)]
        inputs: dict[DatasetId, Input] = {}
        for name, one in self._inputs.items():
            if name in self._formerly:
                _add_input(inputs, replace(one, dataset=called(one.dataset, self._formerly[name])))
            elif name not in now:
                _add_input(inputs, one)
        for renamed in {found for born in self._born if (found := now.get(born)) is not None}:
            claim = self._claims.get(renamed)
            if claim is not None:
                _add_input(inputs, Input(replace(claim.output.dataset, fields=tuple(claim.fields.values()))))
            elif renamed in self._gone:
                _add_input(inputs, Input(self._gone[renamed].dataset))
        return Lineage(
            inputs=tuple(sorted(inputs.values(), key=lambda one: one.dataset.id)),
            outputs=tuple(sorted(outputs, key=lambda one: one.dataset.id)),
            gaps=tuple(self._gaps),
            failures=tuple(self._failures),
        )

    def _mode(self, output: Output) -> Mode:
        """Return what became of a name: to make anew what was dropped is to overwrite it."""
        replaced = output.mode is Mode.CREATE and output.dataset.id in self._gone
        return Mode.OVERWRITE if replaced else output.mode

    def _now(self, identifier: DatasetId) -> DatasetId | None:
        """Return the name that something the task made has now; None when it is no more."""
        found: DatasetId | None = identifier
        while found in self._moved:
            found = self._moved[found]
        return self._formerly.get(found, found) if found is not None else None

    def _use_again(self, identifier: DatasetId) -> None:
        """Let something else have a name: what was read under it is known by the name that it has now."""
        if identifier not in self._moved and identifier not in self._formerly:
            return
        found = self._now(identifier)
        if found != identifier and (identifier in self._born or identifier in self._formerly):
            now = {identifier: found}
            for claim in self._claims.values():
                claim.edges = set(moved(claim.edges, now))
                claim.inputs = {one for name in claim.inputs if (one := now.get(name, name))}
            self._contents.follow(now)
            self._born.discard(identifier)
            read, back = self._inputs.pop(identifier, None), self._read_back.pop(identifier, None)
            if read is not None and identifier in self._formerly and found is not None:
                _add_input(self._inputs, replace(read, dataset=called(read.dataset, found)))
            elif read is not None and back is not None and found in self._claims:
                dataset = self._claims[found].output.dataset
                self._born.add(found)
                self._inputs[found] = replace(read, dataset=dataset)
                self._read_back[found] = replace(back, dataset=dataset)
        self._moved.pop(identifier, None)
        self._formerly.pop(identifier, None)
        for name in [name for name, after in self._moved.items() if after == identifier]:
            self._moved[name] = found
            if found == name:
                del self._moved[name]

    def _held(self, identifier: DatasetId) -> Content | None:
        """Return what a dataset held as the execution at hand reads it; None where that is from outside."""
        read = self._read.get(identifier)
        return self._contents.at(identifier, read.identity.version if read else "")

    def _with_batches_before(self, one: Input) -> Input:
        """Count a batch of a stream with those before it: together they are one read."""
        if not one.stream:
            return one
        key = (one.stream, one.dataset.id)
        before = self._batches.get(key)
        self._batches[key] = added(before, one.statistics) if before is not None else one.statistics
        return replace(one, statistics=self._batches[key])

    def _know(self, dataset: Dataset) -> None:
        for entry in () if dataset.identity.is_entry else names_of(dataset):
            if self._tables.get(entry, dataset.id) != dataset.id:
                # Replaced by a table at another place.
                self._forget_entry(entry)
            self._tables[entry] = dataset.id

    def _tell(self, gaps: Iterable[Gap]) -> None:
        for gap in gaps:
            if gap not in self._gaps:
                self._gaps[gap] = None
                if gap.output is not None:
                    self._gaps_of.setdefault(gap.output, []).append(gap)

    def _drop(self, output: Output) -> None:
        """Remove data; what the task made of them itself is no output any more."""
        dropped = output.dataset.id
        for entry in names_of(output.dataset):
            self._tables.pop(entry, None)
            self._claims.pop(entry, None)
            self._made.discard(entry)
        claim, read = self._claims.pop(dropped, None), self._inputs.get(dropped)
        self._contents.forget(dropped)
        if claim is not None and claim.made:
            self._moved[dropped] = None
            return
        former = self._former(claim)
        if former is not None:
            # What was there before the task is known outside by its old name.
            self._formerly[dropped] = former.id
        seen = former or (claim.output.dataset if claim else read.dataset if read else output.dataset)
        self._gone[seen.id] = replace(output, dataset=seen, previous=None)

    def _end_entry(self, output: Output) -> None:
        """End a name; the data that it stood for stay, and lose it."""
        entry = output.dataset.id
        self._forget_entry(entry)
        former = self._former(self._claims.pop(entry, None))
        if entry in self._made:
            self._made.discard(entry)
        else:
            ended = former or output.dataset
            self._gone[ended.id] = replace(output, dataset=ended, previous=None)

    def _forget_entry(self, entry: DatasetId, new: DatasetId | None = None) -> None:
        """Take a name from the data that it stood for, or give them a new one in its place."""
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
        """Give a name's data another name; what was said of the name itself follows it."""
        old, new = output.previous, output.dataset.id
        if old is None:
            self._claim(output, set(), set())
            return
        self._take(new)
        self._forget_entry(old, new)
        claim = self._claims.pop(old, None)
        if old not in self._made:
            first = claim.output.previous if claim else None
            if first != new:
                output = replace(output, previous=first or old)
                self._claims[new] = Claim(output, set(), set(), {}, made=False)
            return
        self._made.discard(old)
        self._made.add(new)
        if claim is not None:
            self._claims[new] = replace(claim, output=replace(claim.output, dataset=output.dataset))

    def _rename(self, output: Output) -> None:
        """Let everything that was said of a dataset follow it to its new name."""
        new = output.dataset.id
        self._take(new)
        old = output.previous if output.previous in self._claims else new
        claim = self._claims.pop(old, None)
        for entry in names_of(claim.output.dataset) if claim else ():
            self._tables.pop(entry, None)
            self._made.discard(entry)
        self._know(output.dataset)
        if claim is None or not claim.made:
            was = claim.output.previous if claim and claim.output.previous else output.previous
            self._left.discard(new) if was == new else self._left.add(was or old)
        if claim is None:
            self._claim(output, set(), set())
            return
        if claim.made:
            output = replace(claim.output, dataset=output.dataset)
            self._made.update(names_of(output.dataset))
        elif claim.output.previous is not None:
            output = replace(output, previous=claim.output.previous)
        if output.previous != new:
            self._claims[new] = replace(claim, output=output)
        elif claim.done is not None:
            # It is called again what it was; what was done to it stays said.
            output = replace(output, mode=claim.done, previous=None)
            self._claims[new] = replace(claim, output=output)
        self._contents.rename(old, new)
        self._use_again(new)
        if old != new:
            self._moved[old] = new
        self._tell(replace(gap, output=new) for gap in self._unsay(old))

    def _former(self, claim: Claim | None) -> Dataset | None:
        """Return what a renamed dataset was before the task."""
        former = claim.output.previous if claim and not claim.made else None
        if claim is None or former is None:
            return None
        return called(replace(claim.output.dataset, fields=tuple(claim.fields.values())), former)

    def _unsay(self, identifier: DatasetId) -> list[Gap]:
        """Take back the gaps of an output, and return them."""
        gaps = self._gaps_of.pop(identifier, [])
        for gap in gaps:
            del self._gaps[gap]
        return gaps

    def _resolve(self, output: Output, told: dict[Gap, None]) -> tuple[set[Edge], set[DatasetId]]:
        """Trace an output's edges through what the task itself wrote before."""
        edges: set[Edge] = set()
        inputs: set[DatasetId] = set()
        for source in output.inputs:
            content = self._held(source)
            if content is None or content.from_outside:
                inputs.add(source)
            if content is not None:
                inputs |= content.inputs
                # Which rows the intermediate has decides which rows the output has.
                edges.update(replace(edge, column="") for edge in content.rows)
        for edge in output.edges:
            edges |= self._trace(edge, output, told)
        for born in {edge.source for edge in edges if edge.source in self._read_back}:
            inputs.add(born)
            if born not in self._inputs:
                self._inputs[born] = self._read_back[born]
                self._born.add(born)
        return edges, inputs

    def _trace(self, edge: Edge, output: Output, told: dict[Gap, None]) -> set[Edge]:
        content = self._held(edge.source)
        if content is None:
            return {edge}
        name = self._written_name(edge, content)
        if name not in content.columns and not content.from_outside:
            reason = f"`{edge.field}` of {edge.source.name} was read back, but the task wrote no such column"
            told[Gap("composition", reason, output.dataset.id, edge.column)] = None
        return content.trace(edge, name)

    def _written_name(self, edge: Edge, content: Content) -> str:
        """Return what the task called a field that it reads back: perhaps in another case, or by position."""
        if edge.field in content.columns:
            return edge.field
        alike = [column for column in content.columns if column.lower() == edge.field.lower()]
        if len(alike) == 1:
            return alike[0]
        seen = self._read.get(edge.source)
        read = [one.name for one in seen.fields] if seen else []
        claim = self._claims.get(edge.source)
        if claim and claim.output.dataset.identity.file_format == "csv" and len(read) == len(content.columns):
            # A CSV file without a header has no names: they are the reader's, or `_c0`, `_c1`.
            return dict(zip(read, content.columns, strict=True)).get(edge.field, edge.field)
        return edge.field

    def _write(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        identifier = output.dataset.id
        gone = self._is_gone(identifier)
        made_without_rows = output.mode is Mode.CREATE and not (inputs or output.statistics or output.partial)
        if made_without_rows and identifier in self._contents and not gone:
            # CREATE TABLE IF NOT EXISTS: nothing else would have succeeded.
            return
        if output.mode is not Mode.ALTER and not output.dataset.identity.is_entry:
            self._contents.write(output, edges, inputs, empty=gone)
            self._use_again(identifier)
        self._know(output.dataset)
        self._claim(output, edges, inputs)
        for entry in names_of(output.dataset):
            if output.mode is Mode.CREATE:
                self._made.add(entry)
            if entry != identifier:
                self._forget_claim(entry)

    def _forget_claim(self, entry: DatasetId) -> None:
        """Leave to the data what there is to say of their name, but for what it was before."""
        claim = self._claims.get(entry)
        if claim is not None and claim.output.previous is None:
            del self._claims[entry]

    def _is_gone(self, identifier: DatasetId) -> bool:
        """Return whether there is nothing under a name under which something was before the task."""
        return identifier in self._gone and identifier not in self._claims and identifier not in self._tables

    def _take(self, identifier: DatasetId) -> None:
        """Give a name to something: a table that was dropped IF EXISTS under it may not have been there."""
        if identifier in self._gone and self._gone[identifier].may_be_absent:
            del self._gone[identifier]

    def _claim(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        """Add one write to what the task says of a dataset."""
        identifier = output.dataset.id
        claim = self._claims.get(identifier)
        if claim is None:
            self._take(identifier)
            # What is overwritten may have been there before, and what was read was.
            is_free = identifier in self._gone or identifier in self._left
            whole = output.mode is Mode.CREATE and not output.partial
            made = output.mode is not Mode.RENAME and (is_free or (whole and identifier not in self._inputs))
            self._claims[identifier] = Claim.of(output, edges, inputs, made=made)
        else:
            claim.add(output, edges, inputs)


def _add_input(inputs: dict[DatasetId, Input], one: Input) -> None:
    """Add one read of a dataset to those that there were."""
    before = inputs.get(one.dataset.id)
    if before is not None:
        one = Input(before.dataset.merged(one.dataset), larger(before.statistics, one.statistics))
    inputs[one.dataset.id] = one


def compose(executions: Iterable[Lineage]) -> Lineage:
    """Merge executions in the order in which they ended."""
    composer = Composer()
    for lineage in executions:
        composer.add(lineage)
    return composer.lineage()
