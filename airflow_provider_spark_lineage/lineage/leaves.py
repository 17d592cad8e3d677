"""Where the rows of each scan come from.

Named datasets, tables of a query that a database ran, the result of an earlier execution, or unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from airflow_provider_spark_lineage.lineage.columns import evaluate
from airflow_provider_spark_lineage.lineage.model import Dataset, Field, Gap
from airflow_provider_spark_lineage.lineage.values import Sources
from airflow_provider_spark_lineage.plan.algebra import (
    IDENTITY,
    NO_NEW_DATA,
    Declare,
    Kind,
    Scan,
    Transformation,
    Write,
)
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

Place = tuple[DatasetId, frozenset[str]]
"""A dataset and the folders of it that were read; empty for all of it."""

FieldUse = tuple[Place, str, tuple[str, ...], Transformation]
"""(dataset and folders of it, field, path inside a struct field, how it acts)."""

ResultKey = int | str
"""Key of a result: the id of its first column, a variable's name, or an RDD's key."""

_JOB = "RDD"
"""Class of what a job over an RDD reads; its counts are those of the job."""

_RDDS = frozenset({"LogicalRDD", "ExternalRDD", _JOB})


def rdd_key(rdd_id: int) -> str:
    """Return the key of a query whose rows were used as an RDD."""
    return f"rdd {rdd_id}"


@dataclass(frozen=True)
class StoredResult:
    """A result that later executions may read: a checkpoint, a variable, the rows of a query as an RDD."""

    columns: Mapping[int, frozenset[FieldUse]]
    rows: frozenset[FieldUse]
    datasets: tuple[Dataset, ...]
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True)
class Leaf:
    """One scan in terms of datasets."""

    datasets: tuple[Dataset, ...] = ()
    columns: Mapping[str, frozenset[FieldUse]] = field(default_factory=dict)
    rows: frozenset[FieldUse] = frozenset()
    gaps: tuple[Gap, ...] = ()
    column_gaps: tuple[Gap, ...] = ()
    """Gaps about its columns, which matter only where columns are written."""

    name: str = ""
    """Name in the physical scan, where that has no location."""

    counted: bool = True
    """Its counts are those of this execution; an RDD's counters accumulate over all jobs that use it."""

    is_stream: bool = False
    """It is read by a batch of a stream, which reads what is new since the last batch."""


class FactsOfPlan:
    """Finds the facts of a scan by its first column's id, and those of a command by its position."""

    def __init__(
        self, entries: Iterable[Mapping[str, object]], results: Mapping[ResultKey, StoredResult]
    ) -> None:
        self._scans: dict[tuple[str, int], Facts] = {}
        self._targets: dict[str, list[Facts]] = {}
        self._results = results
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
            # Without a result, no query set the variable: its value is the literal default.
            result = self._results.get(scan.output[0].name)
            return _result_leaf(scan, result) if result else Leaf()
        first = scan.output[0].id if scan.output else -1
        if scan.relation == NO_NEW_DATA:
            result = self._results.get(first)
            return _result_leaf(scan, result) if result else Leaf(column_gaps=(_rows_of_state(scan),))
        facts = self._scans.get((scan.relation, first), {})
        if scan.relation == "LocalRelation":
            return self._listed(scan, facts)
        if makes_rows(facts):
            return Leaf()
        if scan.relation not in _RDDS:
            return _source_leaf(scan, facts)
        if rdd.is_empty(facts):
            return Leaf()
        result = self._results.get(first) or self._result_of_same_rdd(facts, len(scan.output))
        if result:
            return _result_leaf(scan, result)
        results = [self._results.get(rdd_key(rdd_id)) for rdd_id in rdd.queries(facts)]
        return _rdd(scan, facts, [result for result in results if result])

    def _listed(self, scan: Scan, facts: Facts) -> Leaf:
        listed = (
            scan_facts for (relation, _), scan_facts in self._scans.items() if relation == scan.relation
        )
        return Leaf(column_gaps=(_rows_of_program(scan),)) if program.is_of_program(facts, listed) else Leaf()

    def _result_of_same_rdd(self, facts: Facts, width: int) -> StoredResult | None:
        """Return the result with the same RDD under other column ids, where the query reads both."""
        same = (
            self._results[expr_id]
            for (_, expr_id), scan_facts in self._scans.items()
            if expr_id in self._results
            and facts.get("rdd") is not None
            and scan_facts.get("rdd") == facts["rdd"]
        )
        return next((result for result in same if len(result.columns) == width), None)


def _source_leaf(scan: Scan, facts: Facts) -> Leaf:
    """Return the leaf of a relation, or of the query that a database ran for it."""
    query = query_behind(facts)
    return relation_leaf(scan, facts) if query is None else _queried(scan, query, facts)


def relation_leaf(scan: Scan, facts: Facts) -> Leaf:
    """Return the leaf of a relation: the datasets that its facts name."""
    hidden = about_rows(facts)
    fields = tuple(
        Field(c.name, c.type) for c in scan.output if c.id not in scan.hidden and c.name not in hidden
    )
    identities = identify(facts)
    places = [place_of(identity) for identity in identities]
    columns = {
        field.name: frozenset((place, field.name, (), IDENTITY) for place in places) for field in fields
    }
    datasets = tuple(Dataset(identity, fields) for identity in identities)
    name = str(facts.get("scan") or facts.get("v2_table") or "")
    is_stream = facts.get("is_stream") is True
    return Leaf(datasets, columns, gaps=gaps_of(scan.label, identities), name=name, is_stream=is_stream)


def _queried(scan: Scan, query: Query, facts: Facts) -> Leaf:
    """Trace columns through a query to its tables; where it cannot be read, to the database as a whole."""
    names = [column.name for column in scan.output]
    name = str(facts.get("scan") or "")
    of_all_rows: Facts = {**facts, "predicates": []}
    try:
        evaluation = evaluate(read_query(query.text, Dialect(query.dialect, query.fold), names))
    except SqlError as error:
        if query.predicates:
            # Without the predicates the table may still be known, though not which rows were read.
            all_rows = _source_leaf(scan, of_all_rows)
            gap = Gap(scan.label, f"the predicates that choose its rows could not be read: {error}")
            return replace(all_rows, gaps=(*all_rows.gaps, gap))
        reason = f"its query could not be read, it is named by the database alone: {error}"
        return Leaf((Dataset(query.database),), gaps=(Gap(scan.label, reason),), name=name, counted=False)
    identities = {table: query.identify(table.relation) for table in evaluation.scans}

    def traced(sources: Sources) -> frozenset[FieldUse]:
        return frozenset((place_of(identities[table]), name, (), step) for (table, name, _), step in sources)

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
            identity,
            tuple(Field(column.name, types.get((table, column.name, ()), "")) for column in table.output),
        )
        for table, identity in identities.items()
    )
    gaps = (Gap(scan.label, f"in its query: {gap.reason}") for gap in evaluation.gaps)
    known_gaps = tuple(dict.fromkeys(gaps))
    # Spark counts the rows of the query, which are those of the table only without predicates.
    counted = query.predicates and query_behind(of_all_rows) is None
    return Leaf(datasets, columns, traced(evaluation.rows), known_gaps, name=name, counted=counted)


def _result_leaf(scan: Scan, result: StoredResult) -> Leaf:
    nothing: frozenset[FieldUse] = frozenset()
    ids = [column.id for column in scan.output]
    if ids and ids[0] not in result.columns:
        # The same RDD under other ids has its columns in the same order.
        ids = list(result.columns)
    columns = {
        column.name: result.columns.get(expr_id, nothing)
        for column, expr_id in zip(scan.output, ids, strict=False)
    }
    return Leaf(result.datasets, columns, result.rows, result.gaps, counted=False)


def _rdd(scan: Scan, facts: Facts, queries: list[StoredResult]) -> Leaf:
    """Return the leaf of an RDD: every column depends on all that it reads, directly or through queries."""
    if len(queries) == 1 and scan.output and all(column.id in queries[0].columns for column in scan.output):
        # The RDD has the columns of the query: the DataFrame that `foreachBatch` receives, for example.
        return _result_leaf(scan, queries[0])
    read = [
        Dataset(identity, recorded_fields(origin))
        for origin in rdd.origins(facts)
        for identity in identify(origin)
    ]
    datasets = merged([*read, *(dataset for query in queries for dataset in query.datasets)])
    gaps = [gap for query in queries for gap in query.gaps]
    gaps.extend(Gap(scan.label, reason) for reason in rdd.gap_reasons(facts))
    about = _rows(scan)
    if not datasets:
        return Leaf(gaps=tuple(gaps), column_gaps=(_rows_of_program(scan),))
    fields: set[FieldUse] = {
        (place_of(dataset.identity), column.name, (), IDENTITY)
        for dataset in read
        for column in dataset.fields
    }
    fields |= {source for query in queries for sources in query.columns.values() for source in sources}
    value, test = Transformation(Kind.TRANSFORMATION), Transformation(Kind.FILTER)
    everything = frozenset((place, name, part, value.after(path)) for place, name, part, path in fields)
    rows = {(place, name, part, test.after(path)) for place, name, part, path in fields}
    rows |= {source for query in queries for source in query.rows}
    reason = f"{about} came through an RDD; taken from every column that it read"
    if not fields:
        reason = f"{about} came through an RDD; which columns it read is not recorded"
    return Leaf(
        datasets,
        {column.name: everything for column in scan.output},
        frozenset(rows),
        tuple(gaps),
        (Gap(scan.label, reason),),
        counted=scan.relation == _JOB,
    )


def place_of(identity: Identity) -> Place:
    """Return which dataset was read, and which folders of it."""
    return identity.id, identity.folders


def merged(datasets: Iterable[Dataset]) -> tuple[Dataset, ...]:
    """Return each dataset once, with all columns that were seen of it."""
    shown: dict[DatasetId, Dataset] = {}
    for dataset in datasets:
        before = shown.get(dataset.id)
        shown[dataset.id] = before.merged(dataset) if before else dataset
    return tuple(shown.values())


def _rows_of_program(scan: Scan) -> Gap:
    reason = "came from an RDD or from Python memory; what made them is not recorded"
    return Gap(scan.label, f"{_rows(scan)} {reason}")


def _rows_of_state(scan: Scan) -> Gap:
    reason = "are those of earlier batches of the stream; what these read is not recorded"
    return Gap(scan.label, f"{_rows(scan)} {reason}")


def _rows(scan: Scan) -> str:
    names = ", ".join(f"`{column.name}`" for column in scan.output[:20])
    return f"columns {names}: rows" if names else "rows"


def recorded_fields(facts: Facts) -> tuple[Field, ...]:
    """Return the columns of the recorded schema; none where none was recorded."""
    try:
        fields = json.loads(facts.get("schema") or "{}").get("fields", [])
        return tuple(Field(str(field["name"]), type_name(field["type"])) for field in fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return ()


def fields_of(target: Facts, columns: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the written columns with the types that the live query had, where they were recorded.

    Columns that the table adds follow those of the query.
    """
    recorded = recorded_fields(target)
    added = columns[len(recorded) :]
    return (*recorded, *added) if recorded and len(recorded) <= len(columns) else columns


def gaps_of(label: str, identities: tuple[Identity, ...]) -> tuple[Gap, ...]:
    """Return the gaps about the names of datasets."""
    if not identities:
        return (Gap(label, "its location was not recorded, so the dataset has no name"),)
    unknown = "no known source reads it; it is named {} after what Spark reports"
    return tuple(
        Gap(label, identity.note or unknown.format(identity.id.name))
        for identity in identities
        if identity.note or not identity.known
    )
