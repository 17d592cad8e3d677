"""Merges the executions of one task, in their order, into the lineage of the task.

What a task reads from outside is an input, what it writes is an output, and a column that went through
a dataset that the task wrote and read back is traced to where it came from. A column that was born in
such a dataset (of literals, of rows made in Python) is traced to it and no further: the dataset is then
an input as well. The cost of one more execution does not depend on how many there were before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.lineage.contents import Content, Contents
from airflow_provider_spark_lineage.lineage.model import (
    Dataset,
    Edge,
    Failure,
    Field,
    Gap,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
)
from airflow_provider_spark_lineage.lineage.statistics import added
from airflow_provider_spark_lineage.plan.algebra import Transformation
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Symlink


@dataclass
class _Claim:
    """What the task says of one output."""

    output: Output
    edges: set[Edge]
    inputs: set[DatasetId]
    fields: dict[str, Field]
    made: bool
    """Nothing in it is from before the task: it disappears when it is dropped."""


class Composer:
    """Takes executions one by one; `lineage()` gives the task's lineage so far."""

    def __init__(self) -> None:
        self._inputs: dict[DatasetId, Input] = {}
        self._read_back: dict[DatasetId, Input] = {}
        self._claims: dict[DatasetId, _Claim] = {}
        self._contents = Contents()
        self._tables: dict[Symlink, DatasetId] = {}
        """The dataset that last had each name of a catalog."""

        self._read: dict[DatasetId, Dataset] = {}
        """How the execution at hand reads each dataset: in which version, with which columns in order."""

        self._gaps: dict[Gap, None] = {}
        self._gaps_of: dict[DatasetId, list[Gap]] = {}
        self._failures: list[Failure] = []
        self._born: set[DatasetId] = set()
        """Inputs that the task wrote itself, there because columns were born in them."""

        self._moved: dict[DatasetId, DatasetId | None] = {}
        """Where what the task made is now: under another name, or dropped, which is None."""

    def add(self, lineage: Lineage) -> None:
        """Add the next execution."""
        self._failures.extend(lineage.failures)
        self._read = {one.dataset.id: one.dataset for one in lineage.inputs}
        for one in lineage.inputs:
            content = self._held(one.dataset.id)
            outside = content is None or content.from_outside
            _add_input(self._inputs if outside else self._read_back, one)
            self._know(one.dataset)
        # Every output is resolved against what there was before this execution wrote anything.
        told = dict.fromkeys(lineage.gaps)
        resolved = [(output, *self._resolve(output, told)) for output in lineage.outputs]
        for output, edges, inputs in resolved:
            match output.mode:
                case Mode.DROP:
                    if self._drop(output):
                        told = {gap: None for gap in told if gap.output != output.dataset.id}
                case Mode.RENAME:
                    self._rename(output)
                case _:
                    self._write(output, edges, inputs)
        self._tell(told)

    def lineage(self) -> Lineage:
        """Return the merged lineage; the same on every call."""
        now = {born: self._now(born) for born in self._born if born in self._moved}
        outputs = [
            replace(
                claim.output,
                dataset=replace(claim.output.dataset, fields=tuple(claim.fields.values())),
                edges=tuple(sorted(_moved(claim.edges, now), key=lambda edge: edge.order)),
                inputs=tuple(sorted(found for one in claim.inputs if (found := now.get(one, one)))),
            )
            for claim in self._claims.values()
        ]
        inputs = [one for identifier, one in self._inputs.items() if identifier not in now]
        for renamed in {found for found in now.values() if found in self._claims}:
            claim = self._claims[renamed]
            inputs.append(Input(replace(claim.output.dataset, fields=tuple(claim.fields.values()))))
        return Lineage(
            inputs=tuple(sorted(inputs, key=lambda one: one.dataset.id)),
            outputs=tuple(sorted(outputs, key=lambda one: one.dataset.id)),
            gaps=tuple(self._gaps),
            failures=tuple(self._failures),
        )

    def _now(self, identifier: DatasetId) -> DatasetId | None:
        """Return the name that something the task made has now; None when it is no more."""
        found: DatasetId | None = identifier
        while found in self._moved:
            found = self._moved[found]
        return found

    def _held(self, identifier: DatasetId) -> Content | None:
        """Return what a dataset held as the execution at hand reads it; None where that is from outside."""
        read = self._read.get(identifier)
        return self._contents.at(identifier, read.identity.version if read else "")

    def _know(self, dataset: Dataset) -> None:
        self._tables.update(dict.fromkeys(_names(dataset), dataset.id))

    def _tell(self, gaps: Iterable[Gap]) -> None:
        for gap in gaps:
            if gap not in self._gaps:
                self._gaps[gap] = None
                if gap.output is not None:
                    self._gaps_of.setdefault(gap.output, []).append(gap)

    def _unsay(self, identifier: DatasetId) -> list[Gap]:
        """Take back the gaps of an output, and return them."""
        gaps = self._gaps_of.pop(identifier, [])
        for gap in gaps:
            del self._gaps[gap]
        return gaps

    def _drop(self, output: Output) -> bool:
        """Drop a table; say whether the task knew it, and so where it lay."""
        names = _names(output.dataset)
        known = next((self._tables[name] for name in names if name in self._tables), output.dataset.id)
        for name in names:
            self._tables.pop(name, None)
        claim, read = self._claims.get(known), self._inputs.get(known)
        if claim is not None and claim.made:
            # A table that was given a place of its own is outlived by its files, unless only its catalog
            # knew what they hold: such a table is named by the catalog.
            named = Symlink(output.dataset.id.namespace, output.dataset.id.name)
            if known == output.dataset.id or named in names:
                del self._claims[known]
                self._contents.forget(known)
                self._unsay(known)
                self._moved[known] = None
            return True
        self._unsay(known)
        self._contents.forget(known)
        seen = claim.output.dataset if claim else read.dataset if read else output.dataset
        unsure = output.partial and seen is output.dataset
        dropped = replace(output, dataset=seen, partial=unsure)
        self._claims[known] = _Claim(dropped, set(), set(), {}, made=False)
        return seen is not output.dataset

    def _rename(self, output: Output) -> None:
        """Let everything that was said of a dataset follow it to its new name."""
        new = output.dataset.id
        old = output.previous if output.previous in self._claims else new
        claim = self._claims.pop(old, None)
        for name in _names(claim.output.dataset) if claim else ():
            self._tables.pop(name, None)
        self._know(output.dataset)
        if claim is None:
            self._claim(output, set(), set())
            return
        if claim.made:
            output = replace(claim.output, dataset=output.dataset)
        output = replace(output, statistics=claim.output.statistics)
        self._claims[new] = replace(claim, output=output)
        self._contents.rename(old, new)
        self._moved.pop(new, None)
        if old != new:
            self._moved[old] = new
        self._tell(replace(gap, output=new) for gap in self._unsay(old))

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
        traced = {edge} if content.from_outside else set()
        name = self._written_name(edge, content)
        if name not in content.columns:
            if not content.from_outside:
                reason = (
                    f"`{edge.field}` of {edge.source.name} was read back, but the task wrote no such column"
                )
                told[Gap("composition", reason, output.dataset.id, edge.column)] = None
            return traced
        origins = content.columns[name]
        if not origins:
            return {edge}
        step = Transformation(edge.kind, edge.masking)
        for origin in origins:
            path = step.after(Transformation(origin.kind, origin.masking))
            # Of a field that did not arrive as it was, nobody knows what became of its parts.
            inside = edge.part if origin.kind is Kind.IDENTITY else ""
            part = ".".join(name for name in (origin.part, inside) if name)
            traced.add(replace(origin, kind=path.kind, masking=path.masking, column=edge.column, part=part))
        return traced

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
        claim = self._claims.get(identifier)
        gone = claim is not None and claim.output.mode is Mode.DROP
        made_without_rows = output.mode is Mode.CREATE and not (inputs or output.statistics or output.partial)
        if made_without_rows and identifier in self._contents and not gone:
            # CREATE TABLE IF NOT EXISTS: nothing else would have succeeded.
            return
        if output.mode is not Mode.ALTER:
            self._contents.write(output, edges, inputs, empty=gone)
            self._moved.pop(identifier, None)
        self._know(output.dataset)
        self._claim(output, edges, inputs)

    def _claim(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        """Add one write to what the task says of a dataset: every one really happened, so all edges stay."""
        identifier = output.dataset.id
        claim = self._claims.get(identifier)
        fields = {one.name: one for one in output.dataset.fields}
        gone = claim is not None and claim.output.mode is Mode.DROP
        if claim is None or gone:
            whole = output.mode in (Mode.CREATE, Mode.OVERWRITE) and not output.partial
            # A table that was dropped IF EXISTS may not have been there.
            new = identifier not in self._inputs and (claim is None or claim.output.partial)
            self._unsay(identifier)
            self._claims[identifier] = _Claim(output, set(edges), set(inputs), fields, whole and new)
            return
        if output.dataset.identity.type == "VIEW":
            claim.edges, claim.inputs, claim.fields = set(), set(), {}
        claim.edges |= edges
        claim.inputs |= inputs
        for name, one in fields.items():
            claim.fields.setdefault(name, one)
        statistics = output.statistics
        if output.mode in (Mode.APPEND, Mode.ALTER) or output.partial:
            statistics = added(claim.output.statistics, statistics)
        claim.output = replace(
            output,
            mode=_merged(claim.output.mode, output.mode),
            statistics=statistics,
            # The last write left it as it is.
            dataset=claim.output.dataset.merged(output.dataset).at(output.dataset.identity.version),
            previous=claim.output.previous,
        )


def _merged(before: Mode, now: Mode) -> Mode:
    """Return what two changes of one dataset come to."""
    if before is Mode.CREATE:
        return before
    if now is Mode.APPEND:
        return Mode.OVERWRITE if before is Mode.TRUNCATE else before
    return before if now is Mode.ALTER and before is not Mode.APPEND else now


def _names(dataset: Dataset) -> tuple[Symlink, ...]:
    """Return the names of a catalog that a dataset has; a view has no other."""
    if dataset.identity.type == "VIEW":
        return (Symlink(dataset.id.namespace, dataset.id.name),)
    return dataset.identity.symlinks


def _moved(edges: Iterable[Edge], now: Mapping[DatasetId, DatasetId | None]) -> Iterator[Edge]:
    """Yield edges that start where their sources are now, without those whose source is no more."""
    for edge in edges:
        if edge.source not in now:
            yield edge
        elif (source := now[edge.source]) is not None:
            yield replace(edge, source=source)


def _add_input(inputs: dict[DatasetId, Input], one: Input) -> None:
    """Add one read of a dataset to those that there were."""
    before = inputs.get(one.dataset.id)
    if before is not None:
        one = Input(before.dataset.merged(one.dataset), added(before.statistics, one.statistics))
    inputs[one.dataset.id] = one


def compose(executions: Iterable[Lineage]) -> Lineage:
    """Merge executions in the order in which they ended."""
    composer = Composer()
    for lineage in executions:
        composer.add(lineage)
    return composer.lineage()
