"""From one evaluated plan and the facts about its leaves to the lineage of one Spark execution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_provider_spark_lineage.lineage.columns import (
    Evaluation,
    Hole,
    Sources,
    evaluate,
)
from airflow_provider_spark_lineage.lineage.commands import effect
from airflow_provider_spark_lineage.lineage.leaves import (
    FactsOfPlan,
    Kept,
    Key,
    Leaf,
    Source,
    fields_of,
    gaps_of,
    key_of_rdd,
    merged,
)
from airflow_provider_spark_lineage.lineage.model import (
    Dataset,
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
from airflow_provider_spark_lineage.lineage.statistics import (
    Metrics,
    scan_statistics,
    task_statistics,
    write_statistics,
)
from airflow_provider_spark_lineage.lineage.writes import (
    Leaves,
    TableWrite,
    completed,
    undone,
    with_what_its_table_adds,
)
from airflow_provider_spark_lineage.plan.algebra import (
    VARIABLE,
    Kind,
    Plan,
    Scan,
)
from airflow_provider_spark_lineage.sources import (
    identify,
    keeps_nothing,
    metastore,
    names_of_table,
    stored_name,
)
from airflow_provider_spark_lineage.sources.dataset import Catalog, DatasetId, Symlink
from airflow_provider_spark_lineage.sources.program import variables

_WRAPPERS = frozenset(
    {
        "CreateDataSourceTableAsSelectCommand",
        "CreateHiveTableAsSelectCommand",
        "CreateTableAsSelect",
        "InsertIntoDataSourceDirCommand",
        "ReplaceTableAsSelect",
        "SaveAsV1TableCommand",
    }
)
"""Commands that run another write inside: both are reported, the inner one first."""

_KEEPING = frozenset({"checkpoint", "localCheckpoint"})
"""Names of executions whose result Spark keeps under the ids of its columns."""


@dataclass(frozen=True)
class ExecutionFacts:
    """What a record says besides its plan, as plain values."""

    facts: Sequence[Mapping[str, Any]] = ()
    metrics: Metrics = ()
    written: Mapping[str, int] = field(default_factory=dict)
    """What all tasks wrote: `rows` and `size_bytes`; empty where that is not known."""

    stream: str = ""
    """The streaming query that it was a batch of."""

    jobs: int | None = None
    """How many jobs Spark began for it; None where that is not known."""

    problems: Sequence[str] = ()
    failure: Failure | None = None
    """Set when the execution failed: its writes are not claimed then."""

    name: str = ""
    """What Spark calls the action."""

    rdd_id: int | None = None
    """The RDD that holds the plan's rows, where nothing was run."""

    parts: Sequence[Plan] = ()
    """What it ran to do its work: the rows that it wrote, of the same leaves."""


@dataclass(frozen=True)
class ExecutionLineage:
    """The lineage of one execution, and what tells how it belongs to those beside it."""

    lineage: Lineage
    wraps: bool = False
    """The execution ran another one inside that did the same write."""

    query: tuple[int, ...] = ()
    """Ids of the columns that it wrote: the same for a wrapping command and the write inside."""

    mode: Mode | None = None
    """What a wrapping command says of its write."""

    symlinks: tuple[Symlink, ...] = ()
    """Names of the table that a wrapping command writes."""

    catalog: Catalog | None = None
    """The catalog that a wrapping command writes by."""

    kept: Mapping[Key, Kept] = field(default_factory=dict)
    """Results that Spark keeps, which later executions read."""


def lineage_of(
    plan: Plan | None, about: ExecutionFacts, kept: Mapping[Key, Kept] | None = None
) -> ExecutionLineage:
    """Return what one execution read and wrote; `kept` is what earlier ones kept."""
    facts = FactsOfPlan(about.facts, kept or {})
    evaluation = evaluate(plan) if plan is not None else Evaluation()
    writes = [TableWrite(written, facts.of_target(written.write)) for written in evaluation.writes]
    leaves = {scan: facts.leaf(scan) for scan in evaluation.scans}
    writes, by_writes = completed(writes)
    leaves |= by_writes
    inputs = _inputs(leaves, about.metrics, about.stream)
    inserts = [one for one in writes if one.node.inserted]
    for part in map(evaluate, about.parts if len(inserts) == 1 else ()):
        leaves |= {scan: facts.leaf(scan) for scan in part.scans}
        writes = [with_what_its_table_adds(one, part) if one in inserts else one for one in writes]
    gaps = [Gap(where="capture", reason=problem) for problem in about.problems]
    outputs: list[Output] = []
    if about.failure is None:
        for number, one in enumerate(writes):
            if keeps_nothing(one.target):
                continue
            statistics = _written_statistics(one, about, number, is_alone=len(writes) == 1)
            # A lake that is there already is not even asked to write.
            ran = bool(statistics or about.parts or about.written or about.jobs is None)
            if _found_something(one, statistics, ran=ran):
                # Nor was anything read for it.
                inputs = [] if len(writes) == 1 else inputs
                continue
            of_write, missing = _outputs(one, leaves, statistics)
            outputs.extend(of_write)
            gaps.extend(missing)
        for command in evaluation.commands:
            done = effect(command, facts.of_target(command))
            inputs.extend(done.inputs)
            outputs.extend(done.outputs)
            gaps.extend(done.gaps)
    elif about.jobs == 0:
        # Without a job nothing was read: a table is there already.
        inputs = []
    else:
        # What failed tasks read is not counted.
        inputs = [replace(one, statistics=Statistics()) for one in inputs]
        gaps.extend(gap for one in writes for gap in undone(one))
    if not outputs:
        gaps.extend(_gaps_without_output(evaluation, leaves, read_something=bool(inputs)))
    lineage = Lineage(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        gaps=tuple(dict.fromkeys(gaps)),
        failures=(about.failure,) if about.failure else (),
    )
    wrapper = next((one for one in writes if one.node.relation in _WRAPPERS), None)
    target = wrapper.target if wrapper else {}
    return ExecutionLineage(
        lineage,
        wraps=wrapper is not None,
        query=tuple(column.id for one in writes for column, _ in one.written.columns),
        mode=wrapper.mode if wrapper and "mode" in target else None,
        symlinks=names_of_table(target),
        catalog=metastore(target),
        kept=_kept(evaluation, facts, leaves, lineage, about) if not about.failure else {},
    )


def _written_statistics(
    write: TableWrite, about: ExecutionFacts, number: int, *, is_alone: bool
) -> Statistics:
    """Return what the `number`-th write counted, or what all tasks wrote where there is only one write."""
    if write.node.copied:
        # A copy reports files only; rows are unknown.
        return Statistics()
    counted, in_tasks = write_statistics(about.metrics, number), task_statistics(about.written)
    # A table that is only being made counts nothing before it is there.
    is_uncounted = not counted or (counted.rows == 0 and in_tasks.rows)
    return in_tasks if is_uncounted and is_alone else counted


def _gaps_without_output(evaluation: Evaluation, leaves: Leaves, *, read_something: bool) -> Iterator[Gap]:
    """Yield what is not known of an execution that wrote nothing."""
    # What was read and has no name is said also where nothing else was read.
    yield from (gap for leaf in leaves.values() for gap in leaf.gaps)
    if read_something or evaluation.writes or evaluation.commands:
        # Where nothing is written, nobody asks where a column came from.
        if evaluation.writes:
            yield from (gap for leaf in leaves.values() for gap in leaf.column_gaps)
        holes = (hole for hole in evaluation.holes if evaluation.writes or not hole.columns)
        yield from (_gap(hole, None) for hole in holes)


def _inputs(leaves: Mapping[Scan, Leaf], metrics: Metrics, stream: str) -> list[Input]:
    """Return each dataset once, with all columns that any scan of it shows."""
    streamed = {dataset.id for leaf in leaves.values() if leaf.is_stream for dataset in leaf.datasets}
    shown = merged(dataset for leaf in leaves.values() for dataset in leaf.datasets)
    counted = {dataset.id: None for leaf in leaves.values() if leaf.counted for dataset in leaf.datasets}
    named = {
        leaf.name: leaf.datasets[0].id if leaf.counted else None
        for leaf in leaves.values()
        if leaf.name and leaf.datasets
    }
    statistics = scan_statistics(metrics, list(counted), named)
    found = [
        Input(dataset, statistics.get(dataset.id, Statistics()), stream if dataset.id in streamed else "")
        for dataset in shown
    ]
    return sorted(found, key=lambda one: one.dataset.id)


def _found_something(write: TableWrite, statistics: Statistics, *, ran: bool) -> bool:
    """Return whether IF NOT EXISTS, or the mode `ignore`, found that there was something already.

    A command that wrote something says so by the write inside.
    """
    target = write.target
    if_not_exists = target.get("if_not_exists") or str(target.get("mode")).lower() == "ignore"
    # A view is there at once, or was.
    is_there = target.get("existed") is True
    return bool(if_not_exists) and (
        statistics.files == 0 or not ran or write.node.relation in _WRAPPERS or is_there
    )


def _outputs(write: TableWrite, leaves: Leaves, statistics: Statistics) -> tuple[list[Output], list[Gap]]:
    """Return the output of one write, and what is not known about it."""
    written, target = write.written, write.target
    identities = identify(target)
    gaps = list(gaps_of(written.write.label, identities))
    fields = fields_of(target, tuple(Field(column.name, column.type) for column, _ in written.columns))
    if len(fields) == 1:
        fields = (Field(stored_name(target, fields[0].name), fields[0].type),)
    edges: set[Edge] = set()
    for one, (_, value) in zip(fields, written.columns, strict=True):
        edges.update(_edges(_traced(value.whole, leaves), one.name))
    fed_by = [leaves[scan] for scan in written.scans]
    edges.update(_edges(_traced(written.rows, leaves), ""))
    for leaf in fed_by:
        edges.update(_edges(leaf.rows, ""))
    fed = sorted({dataset.id for leaf in fed_by for dataset in leaf.datasets})
    found = []
    for identity in identities:
        found.append(
            Output(
                dataset=Dataset(identity, fields),
                mode=write.mode,
                statistics=statistics,
                edges=tuple(sorted(edges, key=lambda edge: edge.order)),
                inputs=tuple(fed),
                partial=write.is_partial,
                rewrites=write.rewrites,
                partitions=write.partitions if write.is_partial else (),
            )
        )
        unknown = [gap for leaf in fed_by for gap in (*leaf.gaps, *leaf.column_gaps)]
        gaps.extend(replace(gap, output=identity.id) for gap in unknown)
        gaps.extend(_gap(hole, identity.id) for hole in written.holes)
    return found, gaps


def _traced(sources: Sources, leaves: Mapping[Scan, Leaf]) -> frozenset[Source]:
    """Put the fields of datasets in the place of those of scans."""
    return frozenset(
        # Of a field that did not arrive as it was, nobody knows what became of its parts.
        (dataset, name, (*outer, *inside) if origin.kind is Kind.IDENTITY else outer, path.after(origin))
        for (scan, column, inside), path in sources
        for dataset, name, outer, origin in leaves[scan].columns.get(column, ())
    )


def _edges(sources: Iterable[Source], column: str) -> Iterable[Edge]:
    return (
        Edge(dataset, name, path.kind, path.masking, column, ".".join(inside))
        for dataset, name, inside, path in sources
    )


def _kept(
    evaluation: Evaluation,
    facts: FactsOfPlan,
    leaves: Mapping[Scan, Leaf],
    lineage: Lineage,
    about: ExecutionFacts,
) -> dict[Key, Kept]:
    """Return what later executions may read by its first column's id or by its name."""
    datasets = tuple(one.dataset for one in lineage.inputs)
    kept_rows = frozenset[Source]().union(*(leaf.rows for leaf in leaves.values()))
    gaps = (*lineage.gaps, *(gap for leaf in leaves.values() for gap in leaf.column_gaps))
    found: dict[Key, Kept] = {}
    declared = {name: one for node, one in evaluation.declared for name in variables(facts.of_target(node))}
    for name, sources in (evaluation.variables | declared).items():
        value = _traced(sources, leaves) | kept_rows
        found[name] = Kept({VARIABLE: value}, frozenset(), datasets, gaps)
    if evaluation.output and (about.name in _KEEPING or about.rdd_id is not None):
        columns = {column.id: _traced(value.whole, leaves) for column, value in evaluation.output}
        rows = _traced(evaluation.rows, leaves) | kept_rows
        first = evaluation.output[0][0].id
        key = first if about.rdd_id is None else key_of_rdd(about.rdd_id)
        found[key] = Kept(columns, rows, datasets, gaps)
    return found


def _gap(hole: Hole, output: DatasetId | None) -> Gap:
    names = ", ".join(f"`{name}`" for name in hole.columns[:20])
    more = f" and {len(hole.columns) - 20} more" if len(hole.columns) > 20 else ""
    reason = f"columns {names}{more}: {hole.reason}" if names else hole.reason
    column = hole.columns[0] if len(hole.columns) == 1 else ""
    return Gap(hole.label, reason, output, column)
