"""Merges the executions of one task, in their order, into the lineage of the task.

What a task reads from outside is an input, what it writes is an output, and a column that went through
a dataset that the task wrote and read back is traced to where it came from. A column that was born in
such a dataset (of literals, of rows made in Python) is traced to it and no further: the dataset is then
an input as well. The cost of one more execution does not depend on how many there were before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from airflow_provider_spark_lineage.lineage.execution import ExecutionLineage
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
    Statistics,
)
from airflow_provider_spark_lineage.lineage.statistics import added
from airflow_provider_spark_lineage.plan.algebra import Transformation
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Symlink


def absorbs(outer: ExecutionLineage, inner: ExecutionLineage) -> bool:
    """Say whether a wrapping command did its write by running the execution before it."""
    if not outer.wraps:
        return False
    if outer.query and outer.query == inner.query:
        return True
    written = [output.dataset.id for output in inner.lineage.outputs]
    return bool(written) and written == [output.dataset.id for output in outer.lineage.outputs]


def absorbed(outer: ExecutionLineage, inner: ExecutionLineage) -> ExecutionLineage:
    """Return one execution: what the inner one really did, under the names that the command gives it."""
    done, said = inner.lineage, outer.lineage
    outputs = tuple(
        replace(
            output,
            mode=outer.mode or output.mode,
            # A table that is only being made counts nothing before it is there.
            statistics=output.statistics if output.statistics.rows != 0 else Statistics(),
            dataset=replace(
                output.dataset,
                identity=replace(
                    output.dataset.identity,
                    symlinks=tuple(dict.fromkeys((*output.dataset.identity.symlinks, *outer.symlinks))),
                ),
            ),
        )
        for output in done.outputs
    )
    counted = {one.dataset.id: one.statistics for one in done.inputs}
    inputs = tuple(
        replace(one, statistics=one.statistics or counted.get(one.dataset.id, Statistics()))
        for one in said.inputs or done.inputs
    )
    lineage = Lineage(
        inputs=inputs,
        outputs=outputs or said.outputs,
        # What the write inside did not know, the command may say; of one that failed nobody asks.
        gaps=done.gaps if outputs or not (said.outputs or said.failures) else said.gaps,
        # Spark reports the same error for both.
        failures=done.failures or said.failures,
    )
    return replace(outer, lineage=lineage)


@dataclass
class _Content:
    """What a dataset holds after the task's writes, in terms of what the task read from outside."""

    columns: dict[str, set[Edge]] = field(default_factory=dict)
    rows: set[Edge] = field(default_factory=set)
    inputs: set[DatasetId] = field(default_factory=set)
    from_outside: bool = False
    """It also holds rows from before the task."""

    def copy(self) -> _Content:
        """Return the same, to be changed on its own."""
        columns = {name: set(edges) for name, edges in self.columns.items()}
        return _Content(columns, set(self.rows), set(self.inputs), self.from_outside)

    def holds(self, fields: Iterable[Field], edges: Iterable[Edge], inputs: set[DatasetId]) -> bool:
        """Say whether another write of the same kind would add nothing."""
        known = {**self.columns, "": self.rows}
        return (
            inputs <= self.inputs
            and all(one.name in known for one in fields)
            and all(edge in known.get(edge.column, ()) for edge in edges)
        )

    def add(self, fields: Iterable[Field], edges: Iterable[Edge], inputs: Iterable[DatasetId]) -> None:
        """Add the rows of one write."""
        for written in fields:
            self.columns.setdefault(written.name, set())
        for edge in edges:
            (self.columns.setdefault(edge.column, set()) if edge.column else self.rows).add(edge)
        self.inputs.update(inputs)


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
        self._contents: dict[DatasetId, _Content] = {}
        self._states: dict[DatasetId, dict[str, _Content]] = {}
        """What a dataset held in each version that the task gave it: it may be read or restored later."""

        self._dropped: set[DatasetId] = set()
        """What was there before the task and is no more: their versions begin anew."""

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

    def _held(self, identifier: DatasetId) -> _Content | None:
        """Return what a dataset held as the execution at hand reads it; None where the task wrote nothing."""
        read, states = self._read.get(identifier), self._states.get(identifier, {})
        version = read.identity.version if read else ""
        if identifier not in self._dropped and _is_before(version, states):
            return None
        return states.get(version) or self._contents.get(identifier)

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
                self._forget(known)
                self._unsay(known)
                self._moved[known] = None
            return True
        self._unsay(known)
        self._forget(known)
        seen = claim.output.dataset if claim else read.dataset if read else output.dataset
        unsure = output.partial and seen is output.dataset
        dropped = replace(output, dataset=seen, partial=unsure)
        self._claims[known] = _Claim(dropped, set(), set(), {}, made=False)
        return seen is not output.dataset

    def _forget(self, identifier: DatasetId) -> None:
        self._dropped.add(identifier)
        self._contents.pop(identifier, None)
        self._states.pop(identifier, None)

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
        if old in self._contents:
            self._contents[new] = self._contents.pop(old)
            self._states[new] = self._states.pop(old, {})
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

    def _written_name(self, edge: Edge, content: _Content) -> str:
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
        claim, before = self._claims.get(identifier), self._contents.get(identifier)
        gone = claim is not None and claim.output.mode is Mode.DROP
        made_without_rows = output.mode is Mode.CREATE and not (inputs or output.statistics or output.partial)
        if made_without_rows and before is not None and not gone:
            # CREATE TABLE IF NOT EXISTS: nothing else would have succeeded.
            return
        if output.mode is not Mode.ALTER:
            keeps = output.mode is Mode.APPEND or output.partial
            content = (before if keeps else None) or _Content(from_outside=keeps and not gone)
            states, version = self._states.setdefault(identifier, {}), output.dataset.identity.version
            written = output.dataset.fields, edges | _left(output, content, edges), inputs
            if not content.holds(*written):
                # What a former version held does not change any more.
                content = content.copy() if states else content
                content.add(*written)
            self._contents[identifier] = content
            if version:
                states[version] = content
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


def _is_before(version: str, states: Mapping[str, _Content]) -> bool:
    """Say whether a version is older than those that the task made; Delta's are numbers in order."""
    known = [int(one) for one in states if one.isdigit()]
    return version.isdigit() and bool(known) and int(version) < min(known)


def _left(output: Output, before: _Content, edges: set[Edge]) -> set[Edge]:
    """Return what decides which rows a partial overwrite left: the partitions of both sides."""
    names = {name.lower() for name in output.partitions if before.columns or before.from_outside}
    deciding = [edge for name, some in before.columns.items() if name.lower() in names for edge in some]
    deciding += [edge for edge in edges if edge.column.lower() in names]
    if before.from_outside:
        shown = (one.name for one in output.dataset.fields if one.name.lower() in names)
        deciding += [Edge(output.dataset.id, name, Kind.FILTER) for name in shown]
    return {replace(edge, kind=Kind.FILTER, column="") for edge in deciding}


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
