"""What the rows of each scan come from.

Named datasets, tables inside a query that a database ran, what an earlier execution kept, or nothing known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from airflow_provider_spark_lineage.lineage.columns import Sources, evaluate
from airflow_provider_spark_lineage.lineage.model import Dataset, Field, Gap
from airflow_provider_spark_lineage.plan.algebra import IDENTITY, Declare, Kind, Scan, Transformation, Write
from airflow_provider_spark_lineage.plan.algebra import Command as CommandNode
from airflow_provider_spark_lineage.plan.spark.tree import type_name
from airflow_provider_spark_lineage.plan.sql.reader import SqlError, read_query
from airflow_provider_spark_lineage.plan.sql.scope import Dialect
from airflow_provider_spark_lineage.sources import (
    about_rows,
    identify,
    makes_rows,
    program,
    query_behind,
    rdd,
)
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Query

Source = tuple[DatasetId, str, tuple[str, ...], Transformation]
"""A field of a dataset, which part of it where it is a struct, and how it acts."""

Key = int | str
"""What finds a result that is kept: its first column's id, or a variable's name."""

_JOB = "RDD"
"""What a job over an RDD reads; its counts are of this job."""

_RDDS = frozenset({"LogicalRDD", "ExternalRDD", _JOB})


def key_of_rdd(rdd_id: int) -> str:
    """Return the key of a query's rows that were handed on as an RDD."""
    return f"rdd {rdd_id}"


@dataclass(frozen=True)
class Kept:
    """What later executions may read: a checkpoint under its columns' ids, a variable, a query as an RDD."""

    columns: Mapping[int, frozenset[Source]]
    rows: frozenset[Source]
    datasets: tuple[Dataset, ...]
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True)
class Leaf:
    """One scan in terms of datasets."""

    datasets: tuple[Dataset, ...] = ()
    columns: Mapping[str, frozenset[Source]] = field(default_factory=dict)
    rows: frozenset[Source] = frozenset()
    gaps: tuple[Gap, ...] = ()
    column_gaps: tuple[Gap, ...] = ()
    """What is not known of its columns, which matters only where they are written."""

    name: str = ""
    """What a physical scan of it is called, where that says no location."""

    counted: bool = True
    """What Spark counted is of this execution: an RDD's counters go on over all that use it."""

    is_stream: bool = False
    """A batch read of it what is new since the last one."""


class FactsOfPlan:
    """Finds the facts of a scan by its first column's id, and those of a command by its position."""

    def __init__(self, entries: Iterable[Mapping[str, object]], kept: Mapping[Key, Kept]) -> None:
        self._scans: dict[tuple[str, int], Facts] = {}
        self._targets: dict[str, list[Facts]] = {}
        self._kept = kept
        for entry in entries:
            node, expr_id, probed = str(entry.get("node")), entry.get("expr_id"), entry.get("probed")
            facts = cast(Facts, probed if isinstance(probed, dict) else {})
            if isinstance(expr_id, int):
                self._scans[node, expr_id] = facts
            else:
                self._targets.setdefault(node, []).append(facts)

    def of_target(self, node: Write | CommandNode | Declare) -> Facts:
        """Return the facts of what a command writes or changes, empty when it could not be probed."""
        targets = self._targets.get(node.relation, [])
        return targets[node.target] if node.target < len(targets) else {}

    def leaf(self, scan: Scan) -> Leaf:
        """Return what a scan's rows come from."""
        if scan.relation == "VariableReference":
            # What was never set by a query has the value that its declaration says, a literal.
            kept = self._kept.get(scan.output[0].name)
            return _kept(scan, kept) if kept else Leaf()
        first = scan.output[0].id if scan.output else -1
        facts = self._scans.get((scan.relation, first), {})
        if scan.relation == "LocalRelation":
            return self._listed(scan, facts)
        if makes_rows(facts):
            return Leaf()
        if scan.relation not in _RDDS:
            return _stored(scan, facts)
        if rdd.is_empty(facts):
            return Leaf()
        kept = self._kept.get(first) or self._kept_twin(facts, len(scan.output))
        if kept:
            return _kept(scan, kept)
        handed_on = [self._kept.get(key_of_rdd(rdd_id)) for rdd_id in rdd.queries(facts)]
        return _rdd(scan, facts, [one for one in handed_on if one])

    def _listed(self, scan: Scan, facts: Facts) -> Leaf:
        listed = (other for (relation, _), other in self._scans.items() if relation == scan.relation)
        return Leaf(column_gaps=(_made_by_program(scan),)) if program.is_of_program(facts, listed) else Leaf()

    def _kept_twin(self, facts: Facts, width: int) -> Kept | None:
        """Return what is kept of the same RDD, where the query also reads it under its first ids."""
        same = (
            self._kept[expr_id]
            for (_, expr_id), other in self._scans.items()
            if expr_id in self._kept and facts.get("rdd") is not None and other.get("rdd") == facts["rdd"]
        )
        return next((kept for kept in same if len(kept.columns) == width), None)


def _stored(scan: Scan, facts: Facts) -> Leaf:
    """Return a scan of what a source keeps, or of what a database makes of it for this scan."""
    query = query_behind(facts)
    return relation_leaf(scan, facts) if query is None else _queried(scan, query, facts)


def relation_leaf(scan: Scan, facts: Facts) -> Leaf:
    """Return a scan of what the facts of its relation name."""
    hidden = about_rows(facts)
    fields = tuple(
        Field(c.name, c.type) for c in scan.output if c.id not in scan.hidden and c.name not in hidden
    )
    identities = identify(facts)
    columns = {one.name: frozenset((i.id, one.name, (), IDENTITY) for i in identities) for one in fields}
    datasets = tuple(Dataset(identity, fields) for identity in identities)
    name = str(facts.get("scan") or facts.get("v2_table") or "")
    is_stream = facts.get("is_stream") is True
    return Leaf(datasets, columns, gaps=gaps_of(scan.label, identities), name=name, is_stream=is_stream)


def _queried(scan: Scan, query: Query, facts: Facts) -> Leaf:
    """Trace columns through a query to its tables; where it cannot be read there is the database alone."""
    names = [column.name for column in scan.output]
    name = str(facts.get("scan") or "")
    of_all_rows: Facts = {**facts, "predicates": []}
    try:
        evaluation = evaluate(read_query(query.text, Dialect(query.dialect, query.fold), names))
    except SqlError as error:
        if query.predicates:
            # What it reads may be known, though not which rows of it.
            all_rows = _stored(scan, of_all_rows)
            gap = Gap(scan.label, f"the predicates that choose its rows could not be read: {error}")
            return replace(all_rows, gaps=(*all_rows.gaps, gap))
        reason = f"its query could not be read, it is named by the database alone: {error}"
        return Leaf((Dataset(query.database),), gaps=(Gap(scan.label, reason),), name=name, counted=False)
    identities = {table: query.identify(table.relation) for table in evaluation.scans}

    def traced(sources: Sources) -> frozenset[Source]:
        return frozenset((identities[table].id, name, (), step) for (table, name, _), step in sources)

    columns = {
        column.name: traced(value.whole)
        for column, (_, value) in zip(scan.output, evaluation.output, strict=True)
    }
    types = {
        origin: column.type
        for column, (_, value) in zip(scan.output, evaluation.output, strict=True)
        for origin, step in value.whole
        if step == IDENTITY
    }
    datasets = tuple(
        Dataset(
            identity, tuple(Field(one.name, types.get((table, one.name, ()), "")) for one in table.output)
        )
        for table, identity in identities.items()
    )
    gaps = (Gap(scan.label, f"in its query: {hole.reason}") for hole in evaluation.holes)
    known = tuple(dict.fromkeys(gaps))
    # What Spark counted are the rows of the query, not those of its tables.
    counted = query.predicates and query_behind(of_all_rows) is None
    return Leaf(datasets, columns, traced(evaluation.rows), known, name=name, counted=counted)


def _kept(scan: Scan, kept: Kept) -> Leaf:
    nothing: frozenset[Source] = frozenset()
    ids = [column.id for column in scan.output]
    if ids and ids[0] not in kept.columns:
        # A twin has its columns in the same order.
        ids = list(kept.columns)
    columns = {
        column.name: kept.columns.get(one, nothing) for column, one in zip(scan.output, ids, strict=False)
    }
    return Leaf(kept.datasets, columns, kept.rows, kept.gaps, counted=False)


def _rdd(scan: Scan, facts: Facts, queries: list[Kept]) -> Leaf:
    """Take every column from everything that the RDD reads, itself and by the queries that became RDDs."""
    if len(queries) == 1 and scan.output and all(one.id in queries[0].columns for one in scan.output):
        # The rows are the query's own, as `foreachBatch` gets them.
        return _kept(scan, queries[0])
    read = [
        Dataset(identity, recorded_fields(origin))
        for origin in rdd.origins(facts)
        for identity in identify(origin)
    ]
    datasets = merged([*read, *(dataset for query in queries for dataset in query.datasets)])
    gaps = [gap for query in queries for gap in query.gaps]
    gaps.extend(Gap(scan.label, reason) for reason in rdd.unknown(facts))
    about = _rows(scan)
    if not datasets:
        return Leaf(gaps=tuple(gaps), column_gaps=(_made_by_program(scan),))
    fields: set[Source] = {(one.id, column.name, (), IDENTITY) for one in read for column in one.fields}
    fields |= {source for query in queries for sources in query.columns.values() for source in sources}
    value, test = Transformation(Kind.TRANSFORMATION), Transformation(Kind.FILTER)
    taken = frozenset((dataset, name, part, value.after(path)) for dataset, name, part, path in fields)
    rows = {(dataset, name, part, test.after(path)) for dataset, name, part, path in fields}
    rows |= {source for query in queries for source in query.rows}
    reason = f"{about} came through an RDD; taken from every column that it read"
    if not fields:
        reason = f"{about} came through an RDD; which columns it read is not recorded"
    return Leaf(
        datasets,
        {column.name: taken for column in scan.output},
        frozenset(rows),
        tuple(gaps),
        (Gap(scan.label, reason),),
        counted=scan.relation == _JOB,
    )


def merged(datasets: Iterable[Dataset]) -> tuple[Dataset, ...]:
    """Return each dataset once, with all columns that were seen of it."""
    shown: dict[DatasetId, Dataset] = {}
    for dataset in datasets:
        before = shown.get(dataset.id)
        shown[dataset.id] = before.merged(dataset) if before else dataset
    return tuple(shown.values())


def _made_by_program(scan: Scan) -> Gap:
    reason = "came from an RDD or from Python memory; what made them is not recorded"
    return Gap(scan.label, f"{_rows(scan)} {reason}")


def _rows(scan: Scan) -> str:
    names = ", ".join(f"`{column.name}`" for column in scan.output[:20])
    return f"columns {names}: rows" if names else "rows"


def recorded_fields(facts: Facts) -> tuple[Field, ...]:
    """Return the columns of the schema that capture wrote down; none where it did not."""
    try:
        fields = json.loads(facts.get("schema") or "{}").get("fields", [])
        return tuple(Field(str(one["name"]), type_name(one["type"])) for one in fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return ()


def fields_of(target: Facts, columns: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the written columns with the types that the live query had, where they were recorded.

    What the table adds to the query's columns comes after them.
    """
    recorded = recorded_fields(target)
    added = columns[len(recorded) :]
    return (*recorded, *added) if recorded and len(recorded) <= len(columns) else columns


def gaps_of(label: str, identities: tuple[Identity, ...]) -> tuple[Gap, ...]:
    """Return what is not known about the names of datasets."""
    if not identities:
        return (Gap(label, "where its data lies was not recorded, so the dataset has no name"),)
    unknown = "its source is not a known one; it is named {} by what Spark says of it"
    return tuple(
        Gap(label, identity.note or unknown.format(identity.id.name))
        for identity in identities
        if identity.note or not identity.known
    )
