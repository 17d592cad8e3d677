"""Lineage of one Spark execution, from its evaluated plan and the facts about its leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.gaps.kinds import reason_of
from airflow_provider_spark_lineage.spark.lineage import struct_fields
from airflow_provider_spark_lineage.spark.lineage.columns import Evaluation, PlanGap, evaluate
from airflow_provider_spark_lineage.spark.lineage.commands import effect
from airflow_provider_spark_lineage.spark.lineage.kept_results import (
    FieldUse,
    KeptFrames,
    Results,
    StoredResult,
    rdd_key,
)
from airflow_provider_spark_lineage.spark.lineage.leaves import FactsOfPlan, Leaf, fields_of, gaps_of, merged
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Failure,
    Field,
    Gap,
    Input,
    Lineage,
    Mode,
    Output,
    Snapshot,
    Statistics,
)
from airflow_provider_spark_lineage.spark.lineage.reads import together, with_total
from airflow_provider_spark_lineage.spark.lineage.statistics import (
    Metrics,
    scan_statistics,
    task_statistics,
    write_statistics,
)
from airflow_provider_spark_lineage.spark.lineage.values import Sources
from airflow_provider_spark_lineage.spark.lineage.writes import (
    Leaves,
    TableWrite,
    completed,
    gaps_of_failed,
    with_what_its_table_adds,
)
from airflow_provider_spark_lineage.spark.plan.algebra import VARIABLE, Kind, Plan, Scan
from airflow_provider_spark_lineage.spark.sources import source_of
from airflow_provider_spark_lineage.spark.sources.catalogs import metastore, symlinks
from airflow_provider_spark_lineage.spark.sources.dataset import Before, Catalog, DatasetId, Identity, Symlink
from airflow_provider_spark_lineage.spark.sources.program import variables

_CHECKPOINTS = frozenset({"checkpoint", "localCheckpoint"})
"""Names of executions whose result later plans read by its column ids."""


@dataclass(frozen=True)
class ExecutionFacts:
    """The parts of a record besides its plan, as plain values."""

    facts: Sequence[Mapping[str, Any]] = ()
    metrics: Metrics = ()
    written: Mapping[str, int] = field(default_factory=dict)
    """Sums over all tasks: `rows` and `size_bytes` written; empty if unknown."""

    stream: str = ""
    """The streaming query, if the execution was a batch of one."""

    jobs: int | None = None
    """Number of jobs that Spark started for it; None if unknown."""

    problems: Sequence[str] = ()
    failure: Failure | None = None
    """Set if the execution failed; its writes are not reported then."""

    name: str = ""
    """Spark's name of the action, for example `save` or `checkpoint`."""

    statement: str = ""
    """Text of its SQL statement; empty if it is unknown."""

    key: str = ""
    """Name of the execution, unique in the task; needed if it keeps a result."""

    rdd_id: int | None = None
    """The RDD that holds the plan's rows, if nothing was run."""

    kept_rdd: int | None = None
    """The RDD that keeps the rows of a checkpoint; None if unknown."""

    nested: Sequence[Plan] = ()
    """Plans of the executions that it ran inside, which compute the written rows from the same leaves."""


@dataclass(frozen=True)
class ExecutionLineage:
    """The lineage of one execution, with the facts for merging it with the execution inside it."""

    lineage: Lineage
    wraps: bool = False
    """The execution ran another execution inside that did the same write."""

    query: tuple[int, ...] = ()
    """Ids of the written columns: equal for a wrapping command and the write inside."""

    mode: Mode | None = None
    """The mode of a wrapping command's write."""

    symlinks: tuple[Symlink, ...] = ()
    """Names of the table that a wrapping command writes."""

    catalog: Catalog | None = None
    """The catalog through which a wrapping command writes."""

    targets: tuple[Identity, ...] = ()
    """Targets of its writes, in the order of its plan; also if it failed and wrote nothing."""

    results: Results = field(default_factory=dict)
    """Results that later executions may read: checkpoints, variables, RDDs."""


def lineage_of(plan: Plan | None, about: ExecutionFacts, results: Results | None = None) -> ExecutionLineage:
    """Return the inputs and outputs of one execution; `results` come from earlier executions."""
    facts = FactsOfPlan(about.facts, results or {}, about.statement)
    evaluation = evaluate(plan) if plan is not None else Evaluation()
    writes = [TableWrite(written, source_of(facts.of_target(written.write))) for written in evaluation.writes]
    leaves = {scan: facts.leaf(scan) for scan in evaluation.scans}
    writes, by_writes = completed(writes)
    leaves |= by_writes
    inputs = _inputs(leaves, about.metrics, about.stream)
    inserts = [write for write in writes if write.node.inserted]
    for inner in map(evaluate, about.nested if len(inserts) == 1 else ()):
        leaves |= {scan: facts.leaf(scan) for scan in inner.scans}
        writes = [with_what_its_table_adds(write, inner) if write in inserts else write for write in writes]
    gaps = [Gap("capture", reason_of(problem)) for problem in about.problems]
    outputs: list[Output] = []
    if about.failure is None:
        for number, write in enumerate(writes):
            if write.source.discards_rows() or write.source.is_noop():
                continue
            statistics = _written_statistics(write, about, number, is_alone=len(writes) == 1)
            # A write to an existing Delta or Iceberg table with `ignore` starts no job and nothing inside.
            ran = bool(statistics or about.nested or about.written or about.jobs is None)
            if write.was_skipped(statistics, ran=ran) or write.was_written_before(about.jobs):
                # A write that was skipped read nothing either.
                inputs = [] if len(writes) == 1 else inputs
                continue
            of_write, missing = _outputs(write, leaves, statistics)
            outputs.extend(of_write)
            gaps.extend(missing)
        for command in evaluation.commands:
            of_command = effect(command, facts.of_target(command))
            inputs.extend(of_command.inputs)
            outputs.extend(of_command.outputs)
            gaps.extend(of_command.gaps)
    elif about.jobs == 0:
        # Nothing was read without a job, for example because the table already existed.
        inputs = []
    else:
        # Spark does not count the reads of failed tasks.
        inputs = [read.uncounted() for read in inputs]
        gaps.extend(gap for write in writes for gap in gaps_of_failed(write))
    inputs.extend(_inputs_of_nested(inputs, outputs, leaves))
    if not outputs:
        gaps.extend(_gaps_without_output(evaluation, leaves, read_something=bool(inputs)))
    lineage = Lineage(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        gaps=tuple(dict.fromkeys(gaps)),
        failures=(about.failure,) if about.failure else (),
    )
    results = _stored_results(evaluation, facts, leaves, lineage, about) if not about.failure else {}
    keeps = frozenset(
        place
        for frames in results.values()
        for frame in frames.frames
        if frame.kept_by == (about.key,)
        for place in frame.kept_snapshots
    )
    lineage = replace(lineage, keeps=keeps)
    if about.name in _CHECKPOINTS and about.jobs == 0:
        # A lazy checkpoint: its rows are read when they are used for the first time.
        lineage = replace(lineage, inputs=())
    wrapper = next((write for write in writes if write.wraps), None)
    target = wrapper.target if wrapper else {}
    return ExecutionLineage(
        lineage,
        wraps=wrapper is not None,
        query=tuple(column.id for write in writes for column, _ in write.written.columns),
        mode=wrapper.mode if wrapper and "mode" in target else None,
        symlinks=symlinks(target),
        catalog=metastore(target),
        targets=tuple(
            identity
            for write in writes
            if not write.source.discards_rows()
            for identity in write.source.identities
        ),
        results=results | (_streamed_results(plan, leaves) if plan is not None and about.stream else {}),
    )


def _inputs_of_nested(
    inputs: Sequence[Input], outputs: Sequence[Output], leaves: Mapping[Scan, Leaf]
) -> Iterator[Input]:
    """Yield the datasets that edges come from but only the execution inside names, without counts."""
    known = {read.dataset.id for read in inputs}
    used = {edge.source for output in outputs for edge in output.edges} - known
    datasets = (dataset for leaf in leaves.values() for dataset in leaf.datasets)
    yield from (Input(dataset) for dataset in merged(each for each in datasets if each.id in used))


def _written_statistics(
    write: TableWrite, about: ExecutionFacts, number: int, *, is_alone: bool
) -> Statistics:
    """Return the counts of the `number`-th write, or the counts of all tasks for a single write."""
    if write.node.copied:
        # A copy reports files only; rows are unknown.
        return Statistics()
    statistics = write_statistics(about.metrics, number)
    in_tasks = task_statistics(about.written, counts_all=write.is_into_file_sink)
    # A CTAS has a row metric of 0 while its table does not exist; the tasks count the rows.
    is_uncounted = not statistics or (statistics.rows == 0 and in_tasks.rows)
    return in_tasks if is_uncounted and is_alone else statistics


def _gaps_without_output(evaluation: Evaluation, leaves: Leaves, *, read_something: bool) -> Iterator[Gap]:
    """Yield the gaps of an execution without outputs."""
    # An input without a name is a gap even if there is no other input.
    yield from (gap for leaf in leaves.values() for gap in leaf.gaps)
    if read_something or evaluation.writes or evaluation.commands:
        # Gaps about columns matter only if columns are written.
        if evaluation.writes:
            yield from (gap for leaf in leaves.values() for gap in leaf.column_gaps)
        gaps = (gap for gap in evaluation.gaps if evaluation.writes or not gap.columns)
        yield from (_gap(gap, None) for gap in gaps)


def _inputs(leaves: Mapping[Scan, Leaf], metrics: Metrics, stream: str) -> list[Input]:
    """Return each dataset once, sorted by name, with the columns of all scans of it."""
    reads = [(dataset, leaf) for leaf in leaves.values() for dataset in leaf.datasets]
    streamed = {dataset.id for dataset, leaf in reads if leaf.is_stream}
    shown: dict[tuple[DatasetId, frozenset[str]], list[Dataset]] = {}
    for dataset, _ in reads:
        shown.setdefault((dataset.id, dataset.identity.folders), []).append(dataset)
    with_counts = [dataset.identity for dataset, leaf in reads if leaf.is_counted]
    shared = {dataset.id for dataset, leaf in reads if len(leaf.datasets) > 1}
    named = {
        leaf.name: leaf.datasets[0].id if leaf.is_counted else None
        for leaf in leaves.values()
        if leaf.name and leaf.datasets
    }
    statistics = scan_statistics(metrics, with_counts, named, shared)
    inputs: dict[DatasetId, list[Input]] = {}
    for place, datasets in shown.items():
        (dataset,) = merged(datasets)
        of_stream = stream if dataset.id in streamed else ""
        read = Input(dataset, statistics.get(place, Statistics()), of_stream)
        inputs.setdefault(dataset.id, []).append(read)
    return [with_total(together(*inputs[identifier])) for identifier in sorted(inputs)]


def _outputs(write: TableWrite, leaves: Leaves, statistics: Statistics) -> tuple[list[Output], list[Gap]]:
    """Return the outputs of one write, and their gaps."""
    written, target = write.written, write.target
    identities = write.source.identities
    gaps = list(gaps_of(write.node.label, identities))
    fields = fields_of(target, tuple(Field(column.name, column.type) for column, _ in written.columns))
    in_folders = {name.lower() for name in write.partitions}
    in_files = [field_ for field_ in fields if field_.name.lower() not in in_folders]
    if len(in_files) == 1:
        name = write.source.stored_name(in_files[0].name)
        stored = Field(in_files[0].name if name.lower() in in_folders else name, in_files[0].type)
        fields = tuple(stored if field_ is in_files[0] else field_ for field_ in fields)
    fed_by = [leaves[scan] for scan in written.scans]
    origins = {
        origin
        for field_, (_, value) in zip(fields, written.columns, strict=True)
        for origin in _edges(_traced(value.whole, leaves), field_.name)
    }
    parts = {
        field_.name: {
            path: frozenset(_edges(_traced(sources, leaves), field_.name))
            for path, sources in struct_fields.by_path(value, field_.type)
        }
        for field_, (_, value) in zip(fields, written.columns, strict=True)
        if value.members
    }
    for uses in (_traced(written.rows, leaves), *(leaf.rows for leaf in fed_by)):
        origins.update(_edges(uses, ""))
    places = {(edge.source, snapshot) for edge, snapshot in origins}
    places |= {(dataset.id, dataset.snapshot) for leaf in fed_by for dataset in leaf.datasets}
    before = write.before(statistics)
    is_partial = write.is_partial and before is not Before.GONE
    read_apart = {source for source, count in Counter(source for source, _ in places).items() if count > 1}
    fed = sorted({dataset.id for leaf in fed_by for dataset in leaf.datasets})
    outputs = [
        Output(
            dataset=Dataset(identity, fields),
            mode=write.mode,
            statistics=statistics,
            edges=tuple(sorted({edge for edge, _ in origins}, key=lambda edge: edge.order)),
            inputs=tuple(fed),
            origins=frozenset(origin for origin in origins if origin[0].source in read_apart),
            snapshots=frozenset(place for place in places if place[0] in read_apart),
            partial=is_partial,
            parts=parts,
            rewrites=write.rewrites,
            partitions=write.deciding_partitions if is_partial else (),
            partitioned_by=write.partitions,
            is_alone=bool(identity.folder) and write.source.is_alone(identity.folder),
        )
        for identity in identities
    ]
    if before in (Before.ABSENT, Before.EMPTY):
        outputs = [_created(output, was_empty=before is Before.EMPTY) for output in outputs]
    unknown = [gap for leaf in fed_by for gap in (*leaf.gaps, *leaf.column_gaps)]
    for identity in identities:
        gaps.extend(replace(gap, output=identity.id) for gap in unknown)
        gaps.extend(
            _gap(gap, identity.id) for gap in (*written.gaps, *_unknown_values(write, leaves, fields))
        )
    return outputs, gaps


def _created(output: Output, *, was_empty: bool) -> Output:
    """Return a write whose target had no data."""
    return replace(
        output, mode=Mode.CREATE, partial=False, partitions=(), was_empty=was_empty, as_added=output
    )


def _unknown_values(write: TableWrite, leaves: Leaves, fields: Sequence[Field]) -> Iterator[PlanGap]:
    """Yield the gaps about the columns and the rows that use values of unknown origin."""
    written = write.written
    for scan in written.scans:
        reason = leaves[scan].unknown_value
        if not reason:
            continue
        uses = [any(origin[0] is scan for origin, _ in value.whole) for _, value in written.columns]
        names = tuple(field_.name for field_, is_used in zip(fields, uses, strict=True) if is_used)
        if names:
            yield PlanGap(scan.label, reason, names)
        if any(origin[0] is scan for origin, _ in written.rows):
            yield PlanGap(scan.label, reason.reworded(of_plans.OF_ROWS.format(reason=reason)))


def _traced(sources: Sources, leaves: Mapping[Scan, Leaf]) -> frozenset[FieldUse]:
    """Replace fields of scans by fields of datasets."""
    return frozenset(
        # Parts of a field are known only if the field is unchanged.
        (place, name, (*outer, *inside) if origin.kind is Kind.IDENTITY else outer, path.after(origin))
        for (scan, column, inside), path in sources
        for place, name, outer, origin in leaves[scan].columns.get(column, ())
    )


def _edges(sources: Iterable[FieldUse], column: str) -> Iterable[tuple[Edge, Snapshot]]:
    """Yield the edges of a column, each with the snapshot of its source dataset."""
    return (
        (Edge(dataset, name, path.kind, path.masking, column, ".".join(inside)), snapshot)
        for (dataset, snapshot), name, inside, path in sources
    )


def _stored_results(
    evaluation: Evaluation,
    facts: FactsOfPlan,
    leaves: Mapping[Scan, Leaf],
    lineage: Lineage,
    about: ExecutionFacts,
) -> Results:
    """Return the results that later executions may read."""
    datasets = merged((dataset for leaf in leaves.values() for dataset in leaf.datasets), by_snapshot=True)
    rows_read = frozenset[FieldUse]().union(*(leaf.rows for leaf in leaves.values()))
    gaps = (*lineage.gaps, *(gap for leaf in leaves.values() for gap in leaf.column_gaps))
    gaps += tuple(Gap(scan.label, leaf.unknown_value) for scan, leaf in leaves.items() if leaf.unknown_value)
    results = facts.kept_after(evaluation.scans)
    declared = {
        name: sources for node, sources in evaluation.declared for name in variables(facts.of_target(node))
    }
    for name, sources in (evaluation.variables | declared).items():
        value = {VARIABLE: _traced(sources, leaves) | rows_read}
        results[name] = KeptFrames((StoredResult(value, frozenset(), datasets, gaps, (about.key,)),))
    if evaluation.output and (about.name in _CHECKPOINTS or about.rdd_id is not None):
        columns = {column.id: _traced(value.whole, leaves) for column, value in evaluation.output}
        result = StoredResult(columns, _traced(evaluation.rows, leaves) | rows_read, datasets, gaps)
        if about.rdd_id is not None:
            results[rdd_key(about.rdd_id)] = KeptFrames((result,))
        else:
            ids = tuple(column.id for column, _ in evaluation.output)
            frame = replace(result, kept_by=(about.key,))
            results[ids] = results.get(ids, facts.kept(ids)).with_frame(frame, about.kept_rdd)
    return results


def _streamed_results(plan: Plan, leaves: Mapping[Scan, Leaf]) -> Results:
    """Return the rows that each source of a stream gave a batch, for later batches without new data.

    Above a scan of files, a projection gives the columns the same ids in all batches.
    """
    results: Results = {}
    for position, scan in enumerate(plan.nodes):
        # A later batch finds a source by its column ids, so a source without columns is left out.
        leaf = leaves.get(scan) if isinstance(scan, Scan) and scan.output else None
        if leaf is None or not (leaf.is_stream or scan.label.startswith("Streaming")):
            continue
        above = next((node for node in plan.nodes if position in node.inputs), scan)
        source = above if leaf.is_stream and len(above.output) == len(scan.output) else scan
        columns = {
            column.id: leaf.columns.get(own.id, frozenset())
            for column, own in zip(source.output, scan.output, strict=True)
        }
        ids = tuple(column.id for column in source.output)
        results[ids] = KeptFrames((StoredResult(columns, leaf.rows, leaf.datasets, leaf.gaps),))
    return results


def _gap(gap: PlanGap, output: DatasetId | None) -> Gap:
    names = ", ".join(f"`{name}`" for name in gap.columns[:20])
    more = f" and {len(gap.columns) - 20} more" if len(gap.columns) > 20 else ""
    of_columns = of_plans.OF_COLUMNS.format(columns=f"{names}{more}", reason=gap.reason)
    reason = gap.reason.reworded(of_columns) if names else gap.reason
    column = gap.columns[0] if len(gap.columns) == 1 else ""
    return Gap(gap.label, reason, output, column)
