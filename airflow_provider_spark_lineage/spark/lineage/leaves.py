"""Leaves of a plan: the origin of the rows of each scan.

The origin is named datasets, tables of a query that a database ran, the result of an earlier execution, or
unknown.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from airflow_provider_spark_lineage.spark.gaps import of_datasets, of_plans, of_queries
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason, Sentence
from airflow_provider_spark_lineage.spark.lineage.columns import evaluate
from airflow_provider_spark_lineage.spark.lineage.kept_results import (
    DatasetSnapshot,
    FieldUse,
    KeptFrames,
    ResultKey,
    Results,
    StoredResult,
    is_variable,
    rdd_key,
)
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Field, Gap, Snapshot
from airflow_provider_spark_lineage.spark.lineage.values import Sources
from airflow_provider_spark_lineage.spark.plan.algebra import (
    IDENTITY,
    IMMEDIATE,
    NO_NEW_DATA,
    PARAMETER,
    Attribute,
    Declare,
    Kind,
    Scan,
    Transformation,
    Write,
)
from airflow_provider_spark_lineage.spark.plan.algebra import Command as CommandNode
from airflow_provider_spark_lineage.spark.plan.database_sql.reader import SqlError, read_query
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import Dialect
from airflow_provider_spark_lineage.spark.plan.spark.tree import type_name
from airflow_provider_spark_lineage.spark.sources import identify, program, rdd, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Facts, Identity, Query
from airflow_provider_spark_lineage.spark.sources.source import Source

_JOB = "RDD"
"""Relation of the scan in a job over an RDD; its counts are the job's counts."""

_RDDS = frozenset({"LogicalRDD", "ExternalRDD", _JOB})


@dataclass(frozen=True)
class Leaf:
    """One scan in terms of datasets."""

    datasets: tuple[Dataset, ...] = ()
    columns: Mapping[int, frozenset[FieldUse]] = field(default_factory=dict)
    """Id of a column of the scan -> its sources."""

    rows: frozenset[FieldUse] = frozenset()
    gaps: tuple[Gap, ...] = ()
    column_gaps: tuple[Gap, ...] = ()
    """Gaps about its columns, which matter only if columns are written."""

    unknown_value: Reason | None = None
    """Why its values are unknown: a gap about the columns and rows that use them, and only about those."""

    name: str = ""
    """Name in the physical scan, if that has no location."""

    is_counted: bool = True
    """Its counts belong to this execution; an RDD's counters accumulate over all jobs that use it."""

    is_stream: bool = False
    """A batch of a stream reads it: only rows that are new since the last batch."""

    def of_now(self) -> Leaf:
        """Return the leaf without versions: of its datasets as they are now."""
        columns = {
            key: frozenset(
                ((dataset, snapshot._replace(version="")), name, part, step)
                for (dataset, snapshot), name, part, step in uses
            )
            for key, uses in self.columns.items()
        }
        return replace(self, datasets=tuple(dataset.at("") for dataset in self.datasets), columns=columns)


class FactsOfPlan:
    """Finds the facts of a scan by its first column's id, and the facts of a command by its position."""

    def __init__(
        self, entries: Iterable[Mapping[str, object]], results: Results, statement: str = ""
    ) -> None:
        self._statement = statement.lower()
        self._scans: dict[tuple[str, int], Facts] = {}
        self._targets: dict[str, list[Facts]] = {}
        self._results = results
        self._listed: dict[str, Facts] = {}
        """Schema -> the facts of rows with it that the query's text lists."""

        self._firsts: defaultdict[str, set[int]] = defaultdict(set)
        """RDD -> the first columns' ids of its scans."""

        for entry in entries:
            node, expr_id, probed = str(entry.get("node")), entry.get("expr_id"), entry.get("probed")
            facts = cast(Facts, probed if isinstance(probed, dict) else {})
            if isinstance(expr_id, int):
                self._scans[node, expr_id] = facts
                if node == "LocalRelation" and facts.get("in_sql"):
                    self._listed[str(facts.get("schema"))] = facts
                self._firsts[str(facts.get("rdd"))].add(expr_id)
            else:
                self._targets.setdefault(node, []).append(facts)

    def of_target(self, node: Write | CommandNode | Declare) -> Facts:
        """Return the facts of a command's target; empty if it could not be probed."""
        targets = self._targets.get(node.relation, [])
        return targets[node.target] if node.target < len(targets) else {}

    def kept(self, key: ResultKey) -> KeptFrames:
        """Return what earlier executions kept under a key: the frames with these columns, for example."""
        return self._results.get(key, KeptFrames())

    def kept_after(self, scans: Iterable[Scan]) -> Results:
        """Return the kept frames whose RDD these scans revealed."""
        revealed: Results = {}
        for scan in scans:
            before = self.kept(_ids(scan))
            after = before.with_scan(self._of(scan).get("rdd"))
            if after is not before:
                revealed[_ids(scan)] = after
        return revealed

    def _of(self, scan: Scan) -> Facts:
        return self._scans.get((scan.relation, _first(scan)), {})

    def leaf(self, scan: Scan) -> Leaf:
        """Return the leaf of a scan: the origin of its rows."""
        if scan.relation == "VariableReference":
            # Without a result, no query set the variable: its value is the literal default.
            variable = self.kept(scan.output[0].name).of(None)
            return _result_leaf(scan, variable) if variable else Leaf()
        if scan.relation == IMMEDIATE:
            return _immediate(scan, self._variables())
        if scan.relation == NO_NEW_DATA:
            batch = self.kept(_ids(scan)).of(None)
            return _result_leaf(scan, batch) if batch else _unnamed(scan, of_plans.ROWS_OF_STATE)
        facts = self._of(scan)
        if scan.relation == "LocalRelation":
            same_schema = (listed,) if (listed := self._listed.get(str(facts.get("schema")))) else ()
            if program.is_of_program(facts, same_schema):
                return _unnamed(scan, of_plans.ROWS_OF_PROGRAM)
            # Spark evaluates the expressions of VALUES, so the plan has only their values.
            return _listed(self._variables_in_statement() if facts.get("in_sql") is True else [])
        source = source_of(facts)
        if source.makes_rows():
            return Leaf()
        if scan.relation not in _RDDS:
            return _source_leaf(scan, source)
        if rdd.is_empty(facts):
            return Leaf()
        result = self.kept(_ids(scan)).of(facts.get("rdd")) or self._result_of_same_rdd(scan, facts)
        if result:
            return _result_leaf(scan, result)
        results = [self.kept(rdd_key(rdd_id)).of(None) for rdd_id in rdd.queries(facts)]
        return _rdd(scan, facts, [result for result in results if result])

    def _variables(self) -> list[str]:
        """Return the names of the variables whose values come from data, or may do."""
        values = {str(key): self.kept(key).of(None) for key in self._results if is_variable(key)}
        return [
            name for name, value in values.items() if value and (any(value.columns.values()) or value.gaps)
        ]

    def _variables_in_statement(self) -> list[str]:
        """Return such variables that the statement names; all of them if its text is unknown."""
        names = self._variables()
        words = set(re.findall(r"\w+", self._statement)) if names else set()
        return [name for name in names if not words or name in words]

    def _result_of_same_rdd(self, scan: Scan, facts: Facts) -> StoredResult | None:
        """Return the result with the same RDD but other column ids.

        Spark renews the ids of a frame beside another one with the same ids. If the RDD of a result is
        unknown, the query must read that result under the first ids, too.
        """
        rdd = facts.get("rdd")
        if not isinstance(rdd, int):
            return None
        firsts = self._firsts[str(rdd)]
        alike = (
            frames.of(rdd)
            for key, frames in self._results.items()
            if isinstance(key, tuple) and (rdd in frames.by_rdd or key[0] in firsts)
        )
        width = len(set(_ids(scan)))
        matches = [frame for frame in alike if frame is not None and len(frame.columns) == width]
        return matches[0] if len(matches) == 1 else None


def _source_leaf(scan: Scan, source: Source[Any]) -> Leaf:
    """Return the leaf of a relation, or of the query that a database ran for it."""
    query = source.query()
    return relation_leaf(scan, source) if query is None else _queried(scan, query, source.facts)


def relation_leaf(scan: Scan, source: Source[Any]) -> Leaf:
    """Return the leaf of a relation: the datasets that its facts name."""
    facts = source.facts
    hidden = source.about_rows()
    shown = [c for c in scan.output if c.id not in scan.hidden and c.name not in hidden]
    fields = tuple(Field(column.name, column.type) for column in shown)
    identities = source.identities
    places = [_place(identity) for identity in identities]
    columns = {
        column.id: frozenset((place, column.name, (), IDENTITY) for place in places) for column in shown
    }
    datasets = tuple(Dataset(identity, fields) for identity in identities)
    name = str(facts.get("scan") or facts.get("v2_table") or "")
    is_stream = facts.get("is_stream") is True
    return Leaf(datasets, columns, gaps=gaps_of(scan.label, identities), name=name, is_stream=is_stream)


def _queried(scan: Scan, query: Query, facts: Facts) -> Leaf:
    """Trace columns through a query to its tables; if it cannot be read, to the database as a whole."""
    names_in_scan = [column.name for column in scan.output]
    name = str(facts.get("scan") or "")
    of_all_rows: Facts = {**facts, "predicates": []}
    try:
        evaluation = evaluate(read_query(query.text, Dialect(query.dialect, query.fold), names_in_scan))
    except SqlError as error:
        if query.predicates:
            # Without the predicates the table may still be known, but not the rows that were read.
            all_rows = _source_leaf(scan, source_of(of_all_rows))
            gap = Gap(scan.label, of_queries.UNREAD_PREDICATES(error=error))
            return replace(all_rows, gaps=(*all_rows.gaps, gap))
        reason = of_queries.UNREAD_QUERY(error=error)
        return Leaf((Dataset(query.database),), gaps=(Gap(scan.label, reason),), name=name, is_counted=False)
    identities = {table: query.identify(table.relation) for table in evaluation.scans}
    names = {(table, column.id): column.name for table in evaluation.scans for column in table.output}

    def traced(sources: Sources) -> frozenset[FieldUse]:
        return frozenset(
            (_place(identities[table]), names[table, column], (), step)
            for (table, column, _), step in sources
        )

    sources = {column: value.whole for column, (_, value) in zip(scan.output, evaluation.output, strict=True)}
    columns = {column.id: traced(whole) for column, whole in sources.items()}
    types = {
        origin: column.type for column, whole in sources.items() for origin, step in whole if step == IDENTITY
    }

    def field_of(table: Scan, column: Attribute) -> Field:
        return Field(column.name, types.get((table, column.id, ()), ""))

    datasets = tuple(
        Dataset(identity, tuple(field_of(table, column) for column in table.output))
        for table, identity in identities.items()
    )
    reasons = (gap.reason.reworded(of_queries.INSIDE.format(reason=gap.reason)) for gap in evaluation.gaps)
    gaps = dict.fromkeys(Gap(scan.label, reason) for reason in reasons)
    # Spark counts the rows of the query; without predicates these are the rows of the table.
    is_counted = query.predicates and source_of(of_all_rows).query() is None
    return Leaf(datasets, columns, traced(evaluation.rows), tuple(gaps), name=name, is_counted=is_counted)


def _result_leaf(scan: Scan, result: StoredResult) -> Leaf:
    ids = dict.fromkeys(_ids(scan))
    # The same RDD with other ids has its columns in the same order.
    known = ids if ids.keys() <= result.columns.keys() else result.columns
    columns = {column: result.as_kept(result.columns[key]) for column, key in zip(ids, known, strict=True)}
    rows = result.as_kept(result.rows)
    return Leaf(result.datasets_as_kept(), columns, rows, result.gaps, is_counted=False)


def _rdd(scan: Scan, facts: Facts, queries: list[StoredResult]) -> Leaf:
    """Return the leaf of an RDD: each column depends on every field that it reads, also through queries."""
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
    if not datasets:
        return replace(_unnamed(scan, of_plans.ROWS_OF_PROGRAM), gaps=tuple(gaps))
    fields: set[FieldUse] = {
        ((dataset.id, dataset.snapshot), column.name, (), IDENTITY)
        for dataset in read
        for column in dataset.fields
    }.union(*(uses for query in queries for uses in query.columns.values()))
    everything, tested = (
        frozenset((place, name, path, step.after(origin)) for place, name, path, origin in fields)
        for step in (Transformation(Kind.TRANSFORMATION), Transformation(Kind.FILTER))
    )
    sentence = of_plans.RDD_WITH_COLUMNS if fields else of_plans.RDD_WITHOUT_COLUMNS
    return Leaf(
        datasets,
        {column.id: everything for column in scan.output},
        tested.union(*(query.rows for query in queries)),
        tuple(gaps),
        (Gap(scan.label, sentence(rows=_rows(scan))),),
        is_counted=scan.relation == _JOB,
    )


def _immediate(scan: Scan, variables: list[str]) -> Leaf:
    """Return the leaf of a value in the text of EXECUTE IMMEDIATE, where Spark has replaced variables.

    A value in the place of a parameter is certainly not written in the text itself.
    """
    if not variables:
        return Leaf()
    names = _any_of(variables)
    if scan.output[0].name == PARAMETER:
        return Leaf(unknown_value=of_plans.PARAMETER(names=names))
    return Leaf(column_gaps=(Gap(scan.label, of_plans.TEXT_OF_VARIABLES(names=names)),))


def _listed(variables: list[str]) -> Leaf:
    """Return the leaf of rows that a query lists, perhaps with values of variables."""
    reason = of_plans.LISTED_ROWS(names=_any_of(variables))
    return Leaf(unknown_value=reason) if variables else Leaf()


def _any_of(variables: list[str]) -> str:
    return " or ".join(f"`{name}`" for name in variables)


def _place(identity: Identity) -> DatasetSnapshot:
    return identity.id, Snapshot(identity.folders, identity.version, is_chosen=identity.is_chosen)


def _ids(scan: Scan) -> tuple[int, ...]:
    return tuple(column.id for column in scan.output)


def _first(scan: Scan) -> int:
    return scan.output[0].id if scan.output else -1


def merged(datasets: Iterable[Dataset], *, by_snapshot: bool = False) -> tuple[Dataset, ...]:
    """Return each dataset once, or each snapshot of a dataset, with all its columns that were read."""
    views: defaultdict[DatasetId | DatasetSnapshot, list[Dataset]] = defaultdict(list)
    for dataset in datasets:
        views[(dataset.id, dataset.snapshot) if by_snapshot else dataset.id].append(dataset)
    return tuple(first.merged(*others) for first, *others in views.values())


def _unnamed(scan: Scan, sentence: Sentence) -> Leaf:
    """Return the leaf of rows without a dataset."""
    return Leaf(column_gaps=(Gap(scan.label, sentence(rows=_rows(scan))),))


def _rows(scan: Scan) -> str:
    names = ", ".join(f"`{column.name}`" for column in scan.output[:20])
    return f"columns {names}: rows" if names else "rows"


def recorded_fields(facts: Facts) -> tuple[Field, ...]:
    """Return the columns of the recorded schema; empty if none was recorded."""
    try:
        fields = json.loads(facts.get("schema") or "{}").get("fields", [])
        return tuple(Field(str(field["name"]), type_name(field["type"])) for field in fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return ()


def fields_of(target: Facts, columns: tuple[Field, ...]) -> tuple[Field, ...]:
    """Return the written columns, with the recorded types of the live query if there are any.

    Columns that the table adds come after the columns of the query.
    """
    recorded = recorded_fields(target)
    added = columns[len(recorded) :]
    return (*recorded, *added) if recorded and len(recorded) <= len(columns) else columns


def gaps_of(label: str, identities: tuple[Identity, ...]) -> tuple[Gap, ...]:
    """Return the gaps about the names of datasets."""
    if not identities:
        return (Gap(label, of_datasets.UNNAMED()),)
    return tuple(
        Gap(label, identity.note or of_datasets.UNKNOWN_SOURCE(name=identity.id.name))
        for identity in identities
        if identity.note or not identity.known
    )
