"""From one evaluated plan and the facts about its leaves to the lineage of one Spark execution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_provider_spark_lineage.lineage.columns import (
    Evaluation,
    Hole,
    Sources,
    Value,
    Written,
    evaluate,
    field_of,
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
    recorded_fields,
    relation_leaf,
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
from airflow_provider_spark_lineage.plan.algebra import (
    VARIABLE,
    Attribute,
    Kind,
    Plan,
    Scan,
    Transformation,
    Write,
)
from airflow_provider_spark_lineage.sources import (
    copied_from,
    identify,
    is_atomic,
    keeps_nothing,
    metastore,
    names_of_table,
    replaced_by,
    stored_name,
)
from airflow_provider_spark_lineage.sources.dataset import Catalog, DatasetId, Facts, Symlink
from airflow_provider_spark_lineage.sources.program import variables

_REWRITING = frozenset(
    {"deletecommand", "deletefromtable", "mergeintocommand", "replacedata", "updatecommand", "writedelta"}
)
"""Modes of UPDATE, DELETE and MERGE, which give a table its rows anew."""

_MODES = {
    "append": Mode.APPEND,
    "complete": Mode.OVERWRITE,
    "overwrite": Mode.OVERWRITE,
    "errorifexists": Mode.CREATE,
    "ignore": Mode.CREATE,
    # The flag of a Hive insert.
    "true": Mode.OVERWRITE,
    "false": Mode.APPEND,
    # Writes to a V2 table say it by their class.
    "appenddata": Mode.APPEND,
    "overwritebyexpression": Mode.OVERWRITE,
    "overwritepartitionsdynamic": Mode.OVERWRITE,
    "deltadynamicpartitionoverwritecommand": Mode.OVERWRITE,
    "deltainsertreplaceonorusingcommand": Mode.OVERWRITE,
    "createtableasselect": Mode.CREATE,
    "replacetableasselect": Mode.OVERWRITE,
    **dict.fromkeys(_REWRITING, Mode.OVERWRITE),
    "restoretablecommand": Mode.OVERWRITE,
    # So do views.
    "createviewcommand": Mode.CREATE,
    "alterviewascommand": Mode.ALTER,
}
"""What a probed mode means, in lower case."""

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

_PARTIAL = ("static_partitions", "dynamic_partitions", "replace_on", "replace_using", "replace_where")
"""Facts of overwrites that leave some of the rows."""

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
    leaves = {scan: facts.leaf(scan) for scan in evaluation.scans}
    for written in evaluation.writes:
        if written.write.copied:
            leaves.update(_copied(written, facts.of_target(written.write)))
        leaves.update(_replaced(written, facts.of_target(written.write)))
    inputs = _inputs(leaves, about.metrics, about.stream)
    if about.failure is not None:
        # What failed tasks read is not counted. Without a job nothing was read: a table is there already.
        inputs = [replace(one, statistics=Statistics()) for one in inputs] if about.jobs != 0 else []
    inserts = [one for one in evaluation.writes if one.write.inserted]
    for part in about.parts if len(inserts) == 1 else ():
        leaves.update(_added(inserts[0], evaluate(part), facts))
    gaps = [Gap(where="capture", reason=problem) for problem in about.problems]
    if about.failure is not None and about.jobs != 0:
        gaps.extend(gap for one in evaluation.writes for gap in _undone(one, facts.of_target(one.write)))
    outputs: list[Output] = []
    for number, written in enumerate(evaluation.writes if about.failure is None else ()):
        target = facts.of_target(written.write)
        if keeps_nothing(target):
            continue
        written.columns.extend(_told(written, target))
        # A copy reports files only; rows are unknown.
        counted = Statistics() if written.write.copied else write_statistics(about.metrics, number)
        in_tasks = task_statistics(about.written)
        # A table that is only being made counts nothing before it is there.
        uncounted = not counted or (counted.rows == 0 and in_tasks.rows)
        if uncounted and not written.write.copied and len(evaluation.writes) == 1:
            counted = in_tasks
        # A lake that is there already is not even asked to write.
        ran = bool(counted or about.parts or about.written or about.jobs is None)
        if _found_something(written.write, target, counted, ran=ran):
            # Nor was anything read for it.
            inputs = [] if len(evaluation.writes) == 1 else inputs
            continue
        made, missing = _outputs(written, target, leaves, counted)
        outputs.extend(made)
        gaps.extend(missing)
    for one in evaluation.commands if about.failure is None else ():
        done = effect(one, facts.of_target(one))
        inputs.extend(done.inputs)
        outputs.extend(done.outputs)
        gaps.extend(done.gaps)
    if not outputs:
        # What was read and has no name is told also where nothing else was read.
        gaps.extend(gap for leaf in leaves.values() for gap in leaf.gaps)
    if not outputs and (inputs or evaluation.writes or evaluation.commands):
        gaps.extend(gap for leaf in leaves.values() for gap in leaf.column_gaps if evaluation.writes)
        # Where nothing is written, nobody asks where a column came from.
        gaps.extend(_gap(hole, None) for hole in evaluation.holes if evaluation.writes or not hole.columns)
    lineage = Lineage(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        gaps=tuple(dict.fromkeys(gaps)),
        failures=(about.failure,) if about.failure else (),
    )
    wrapper = next((one.write for one in evaluation.writes if one.write.relation in _WRAPPERS), None)
    target = facts.of_target(wrapper) if wrapper else {}
    return ExecutionLineage(
        lineage,
        wraps=wrapper is not None,
        query=tuple(column.id for written in evaluation.writes for column, _ in written.columns),
        mode=_mode(target) if "mode" in target else None,
        symlinks=names_of_table(target),
        catalog=metastore(target),
        kept=_kept(evaluation, facts, leaves, lineage, about) if not about.failure else {},
    )


def _copied(written: Written, target: Facts) -> dict[Scan, Leaf]:
    """Complete a write that takes the rows of another dataset as they are; return what it reads."""
    fields = recorded_fields(target)
    columns = tuple(Attribute(index, one.name, one.type) for index, one in enumerate(fields))
    scan = Scan((), columns, written.write.label, relation=written.write.relation)
    written.columns = [(column, field_of(scan, column.name)) for column in columns]
    written.scans = [scan]
    return {scan: relation_leaf(scan, copied_from(target))}


def _added(written: Written, part: Evaluation, facts: FactsOfPlan) -> dict[Scan, Leaf]:
    """Complete a write with the columns that its table adds, generated ones for example; return what is read.

    The query does not have them, and the execution that wrote the rows has.
    """
    types = {column.name: column.type for column in written.write.table}
    known = {column.name.lower() for column, _ in written.columns}
    for column, sources in part.output:
        if column.name.lower() not in known:
            typed = replace(column, type=types.get(column.name, column.type))
            written.columns.append((typed, sources))
    return {scan: facts.leaf(scan) for scan in part.scans}


def _told(written: Written, target: Facts) -> list[tuple[Attribute, Value]]:
    """Return the columns of the partition that a statement names: each has one value in all rows."""
    known = {column.name.lower() for column, _ in written.columns}
    named = recorded_fields({"schema": target.get("partition_schema")})
    return [(Attribute(-1, one.name, one.type), Value()) for one in named if one.name.lower() not in known]


def _replaced(written: Written, target: Facts) -> dict[Scan, Leaf]:
    """Let a write's rows depend on those columns of its table by which an option replaces rows.

    Return the table as it is read for that.
    """
    names = replaced_by(target)
    if names is None:
        reason = "the columns by which it replaces rows of its table are not recorded"
        written.holes = [*written.holes, Hole(written.write.label, reason)]
    if not names:
        return {}
    known = {column.name.lower(): column for column, _ in written.columns}
    columns = tuple(
        replace(known.get(name.lower(), Attribute(0, name, "")), id=index) for index, name in enumerate(names)
    )
    scan = Scan((), columns, written.write.label, relation=written.write.relation)
    step = Transformation(Kind.FILTER)
    written.rows |= {((scan, column.name, ()), step) for column in columns}
    written.scans = [*written.scans, scan]
    leaf = relation_leaf(scan, target)
    # What Spark counted it read for the rows, and the version is the one that was written.
    return {scan: replace(leaf, counted=False, datasets=tuple(one.at("") for one in leaf.datasets))}


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


def _undone(written: Written, target: Facts) -> Iterable[Gap]:
    """Yield what nobody knows of a failed write: Spark removes what is overwritten before it writes.

    What it adds to files is there when the job has succeeded; what it gives to a server, at once.
    """
    if is_atomic(target):
        return
    for identity in identify(target):
        if _mode(target) is Mode.OVERWRITE and not target.get("dynamic_partitions"):
            reason = "the write failed; whether what was there before is still there is not recorded"
            yield Gap(written.write.label, reason, identity.id)
        elif not identity.storage_layer:
            reason = "the write failed; which of its rows are there all the same is not recorded"
            yield Gap(written.write.label, reason, identity.id)


def _found_something(write: Write, target: Facts, statistics: Statistics, *, ran: bool) -> bool:
    """Return whether IF NOT EXISTS, or the mode `ignore`, found that there was something already.

    A command that wrote something says so by the write inside.
    """
    if_not_exists = target.get("if_not_exists") or str(target.get("mode")).lower() == "ignore"
    # A view is there at once, or was.
    is_there = target.get("existed") is True
    return bool(if_not_exists) and (
        statistics.files == 0 or not ran or write.relation in _WRAPPERS or is_there
    )


def _outputs(
    written: Written, target: Facts, leaves: Mapping[Scan, Leaf], statistics: Statistics
) -> tuple[list[Output], list[Gap]]:
    """Return the output of one write, and what is not known about it."""
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
    partial = _is_partial(written.write, target)
    found = []
    for identity in identities:
        found.append(
            Output(
                dataset=Dataset(identity, fields),
                mode=_mode(target),
                statistics=statistics,
                edges=tuple(sorted(edges, key=lambda edge: edge.order)),
                inputs=tuple(fed),
                partial=partial,
                rewrites=str(target.get("mode")).lower() in _REWRITING,
                partitions=_partitions(written.write, target) if partial else (),
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


def _mode(target: Facts) -> Mode:
    mode = str(target.get("mode") or target.get("overwrite")).lower()
    if mode == "replacetableasselect" and target.get("existed") is False:
        return Mode.CREATE
    if mode == "createviewcommand" and target.get("existed") is True:
        return Mode.OVERWRITE
    return _MODES.get(mode, Mode.APPEND)


def _is_partial(write: Write, target: Facts) -> bool:
    """Say whether an overwrite leaves rows that were there before."""
    dynamic = str(target.get("partition_overwrite")).lower() == "dynamic"
    return bool(write.partial or dynamic or any(target.get(fact) for fact in _PARTIAL))


def _partitions(write: Write, target: Facts) -> tuple[str, ...]:
    """Return the columns that say which partition a row is in: bare names, or as in `bucket(4, id)`."""
    told = [str(one) for one in target.get("partition_columns") or ()]
    return (
        tuple(one.rpartition("(")[2].rstrip(")").rpartition(",")[2].strip() for one in told)
        or write.partitions
    )


def _gap(hole: Hole, output: DatasetId | None) -> Gap:
    names = ", ".join(f"`{name}`" for name in hole.columns[:20])
    more = f" and {len(hole.columns) - 20} more" if len(hole.columns) > 20 else ""
    reason = f"columns {names}{more}: {hole.reason}" if names else hole.reason
    column = hole.columns[0] if len(hole.columns) == 1 else ""
    return Gap(hole.label, reason, output, column)
