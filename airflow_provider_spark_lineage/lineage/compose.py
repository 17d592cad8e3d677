"""Merges the executions of one task, in their order, into the lineage of the task.

What a task reads from outside is an input, what it writes is an output, and a column that went through
a dataset that the task wrote and read back is traced to where it came from. A column that was born in
such a dataset (of literals, of rows made in Python) is traced to it and no further: the dataset is then
an input as well. The cost of one more execution does not depend on how many there were before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from airflow_provider_spark_lineage.lineage.execution import ExecutionLineage
from airflow_provider_spark_lineage.lineage.model import (
    Edge,
    Failure,
    Field,
    Gap,
    Input,
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
        gaps=done.gaps if outputs else tuple(dict.fromkeys((*done.gaps, *said.gaps))),
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


@dataclass
class _Claim:
    """What the task says of one output."""

    output: Output
    edges: set[Edge]
    inputs: set[DatasetId]
    fields: dict[str, Field]


class Composer:
    """Takes executions one by one; `lineage()` gives the task's lineage so far."""

    def __init__(self) -> None:
        self._inputs: dict[DatasetId, Input] = {}
        self._read_back: dict[DatasetId, Input] = {}
        self._claims: dict[DatasetId, _Claim] = {}
        self._contents: dict[DatasetId, _Content] = {}
        self._gaps: dict[Gap, None] = {}
        self._failures: list[Failure] = []
        self._empty: set[Symlink] = set()
        self._born: set[DatasetId] = set()
        """Inputs that the task wrote itself, there because columns were born in them."""

    def add(self, lineage: Lineage) -> None:
        """Add the next execution."""
        self._gaps.update(dict.fromkeys(lineage.gaps))
        self._failures.extend(lineage.failures)
        for one in lineage.inputs:
            content = self._contents.get(one.dataset.id)
            outside = content is None or content.from_outside
            _add_input(self._inputs if outside else self._read_back, one)
        # Every output is resolved against what there was before this execution wrote anything.
        resolved = [(output, *self._resolve(output)) for output in lineage.outputs]
        for output, edges, inputs in resolved:
            self._write(output, edges, inputs)
        self._forget(lineage)

    def lineage(self) -> Lineage:
        """Return the merged lineage; the same on every call."""
        outputs = [
            replace(
                claim.output,
                dataset=replace(claim.output.dataset, fields=tuple(claim.fields.values())),
                edges=tuple(sorted(claim.edges, key=lambda edge: edge.order)),
                inputs=tuple(sorted(claim.inputs)),
            )
            for claim in self._claims.values()
        ]
        return Lineage(
            inputs=tuple(sorted(self._inputs.values(), key=lambda one: one.dataset.id)),
            outputs=tuple(sorted(outputs, key=lambda one: one.dataset.id)),
            gaps=tuple(self._gaps),
            failures=tuple(self._failures),
        )

    def _forget(self, lineage: Lineage) -> None:
        """Take note of tables that were left without rows, and let go of those that are no more."""
        self._empty.update(lineage.emptied)
        self._empty.difference_update(lineage.dropped)
        gone = {*lineage.emptied, *lineage.dropped}
        for identifier, claim in list(self._claims.items()) if gone else ():
            identity = claim.output.dataset.identity
            if gone.isdisjoint(identity.symlinks):
                continue
            self._contents[identifier] = _Content()
            # The data of an external table outlives it; only those of the warehouse are dropped with it.
            inside = any(identity.uri.startswith(name.namespace + "/") for name in identity.symlinks)
            if inside and not set(lineage.dropped).isdisjoint(identity.symlinks):
                self._remove(identifier)

    def _remove(self, identifier: DatasetId) -> None:
        """Drop a dataset from everything that was said so far."""
        del self._claims[identifier], self._contents[identifier]
        self._gaps = {gap: None for gap in self._gaps if gap.output != identifier}
        if identifier in self._born:
            self._born.remove(identifier)
            del self._inputs[identifier]
            for claim in self._claims.values():
                claim.edges = {edge for edge in claim.edges if edge.source != identifier}
                claim.inputs.discard(identifier)

    def _resolve(self, output: Output) -> tuple[set[Edge], set[DatasetId]]:
        """Trace an output's edges through what the task itself wrote before."""
        edges: set[Edge] = set()
        inputs: set[DatasetId] = set()
        for source in output.inputs:
            content = self._contents.get(source)
            if content is None or content.from_outside:
                inputs.add(source)
            if content is not None:
                inputs |= content.inputs
                # Which rows the intermediate has decides which rows the output has.
                edges.update(replace(edge, column="") for edge in content.rows)
        for edge in output.edges:
            edges |= self._trace(edge, output)
        for born in {edge.source for edge in edges} & set(self._read_back):
            inputs.add(born)
            if born not in self._inputs:
                self._inputs[born] = self._read_back[born]
                self._born.add(born)
        return edges, inputs

    def _trace(self, edge: Edge, output: Output) -> set[Edge]:
        content = self._contents.get(edge.source)
        if content is None:
            return {edge}
        traced = {edge} if content.from_outside else set()
        name = edge.field
        if name not in content.columns:
            # Spark reads a column by its name in another case, too.
            alike = [column for column in content.columns if column.lower() == name.lower()]
            name = alike[0] if len(alike) == 1 else name
        if name not in content.columns:
            if not content.from_outside:
                reason = (
                    f"`{edge.field}` of {edge.source.name} was read back, but the task wrote no such column"
                )
                self._gaps[Gap("composition", reason, output.dataset.id, edge.column)] = None
            return traced
        origins = content.columns[name]
        if not origins:
            return {edge}
        step = Transformation(edge.kind, edge.masking)
        for origin in origins:
            path = step.after(Transformation(origin.kind, origin.masking))
            traced.add(replace(origin, kind=path.kind, masking=path.masking, column=edge.column))
        return traced

    def _write(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        identifier = output.dataset.id
        before = self._contents.get(identifier)
        names = set(output.dataset.identity.symlinks)
        if output.mode is Mode.APPEND or output.partial:
            content = before or _Content(from_outside=self._empty.isdisjoint(names))
        else:
            content = _Content()
        self._empty -= names
        for written in output.dataset.fields:
            content.columns.setdefault(written.name, set())
        for edge in edges:
            (content.columns.setdefault(edge.column, set()) if edge.column else content.rows).add(edge)
        content.inputs |= inputs
        self._contents[identifier] = content
        self._claim(output, edges, inputs)

    def _claim(self, output: Output, edges: set[Edge], inputs: set[DatasetId]) -> None:
        """Add one write to what the task says of a dataset: every one really happened, so all edges stay."""
        claim = self._claims.get(output.dataset.id)
        fields = {one.name: one for one in output.dataset.fields}
        if claim is None:
            self._claims[output.dataset.id] = _Claim(output, set(edges), set(inputs), fields)
            return
        claim.edges |= edges
        claim.inputs |= inputs
        for name, one in fields.items():
            claim.fields.setdefault(name, one)
        if output.mode is Mode.APPEND:
            statistics = added(claim.output.statistics, output.statistics)
            claim.output = replace(claim.output, statistics=statistics)
        else:
            mode = Mode.CREATE if claim.output.mode is Mode.CREATE else output.mode
            claim.output = replace(output, mode=mode, dataset=claim.output.dataset.merged(output.dataset))


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
