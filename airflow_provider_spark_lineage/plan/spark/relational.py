"""How each relational node of Spark's logical plans reads into the algebra: small functions and a table."""

from __future__ import annotations

import re
from collections.abc import Callable

from airflow_provider_spark_lineage.plan.algebra import (
    Apply,
    Combine,
    Constant,
    Derive,
    Kind,
    Node,
    Opaque,
    Reference,
    Scan,
)
from airflow_provider_spark_lineage.plan.spark.step import Columns, Step, everything, same
from airflow_provider_spark_lineage.plan.spark.tree import attribute_of, attributes, simple_name, trees

Row = Callable[[Step], Node]


def _scan(*fields: str) -> Row:
    """Rows from outside, whose columns stand in `fields`."""

    def row(step: Step) -> Node:
        output = tuple(column for field in fields for column in step.attributes(field))
        return Scan(step.inputs, output, step.label, relation=step.name)

    return row


def _constant(step: Step) -> Node:
    return Constant(step.inputs, step.attributes("output"), step.label)


def _opaque_leaf(reason: str) -> Row:
    return lambda step: Opaque(step.inputs, step.attributes("output"), step.label, reason=reason)


def _opaque(*fields: str) -> Row:
    """Code over whole rows; its output columns stand in the first of `fields` that there is."""

    def row(step: Step) -> Node:
        output = next((found for field in fields if (found := step.attributes(field))), step.all_outputs)
        return Opaque(step.inputs, output, step.label, reason="taken from every input column")

    return row


def _pass(kind: Kind | None = None, *fields: str) -> Row:
    """The first input's columns as they are; `fields` influence which rows there are, or their order."""

    def row(step: Step) -> Node:
        influences = step.influences(kind, *fields) if kind else ()
        return Derive(step.inputs, step.output(), step.label, influences=influences)

    return row


def _project(step: Step) -> Node:
    output, columns = step.named("projectList")
    return Derive(step.inputs, output, step.label, columns=columns)


def _aggregate(step: Step) -> Node:
    output, columns = step.named("aggregateExpressions")
    influences = step.influences(Kind.GROUP_BY, "groupingExpressions")
    return Derive(step.inputs, output, step.label, columns=columns, influences=influences)


def _distinct(step: Step) -> Node:
    influences = tuple((Kind.GROUP_BY, same(column)) for column in step.output())
    return Derive(step.inputs, step.output(), step.label, influences=influences)


def _window(step: Step) -> Node:
    made, columns = step.named("windowExpressions")
    return Derive(step.inputs, (*step.output(), *made), step.label, columns=columns)


def _join(step: Step) -> Node:
    join_type = step.fields.get("joinType")
    name = simple_name(str(join_type.get("object") or join_type.get("product-class"))) if join_type else ""
    output = step.output() if name in ("LeftSemi", "LeftAnti") else step.all_outputs
    influences = step.influences(Kind.JOIN, "condition", "asOfCondition", "orderExpression")
    columns: Columns = {}
    if join_type and name == "ExistenceJoin":
        # Its one further column says whether the other side had a match.
        made = attributes(join_type.get("exists"))
        columns = {column.id: (step.expression("condition"),) for column in made}
        output = (*step.output(), *made)
    return Derive(step.inputs, output, step.label, columns, influences)


def _lateral_join(step: Step) -> Node:
    """The right side is a plan in a field; what it reads of the left side are outer references."""
    plan = next(subquery.plan for subquery in step.expression("right").subqueries)
    influences = step.influences(Kind.JOIN, "condition")
    output = (*step.output(), *plan.root.output)
    return Apply(step.inputs, output, step.label, plan=plan, influences=influences)


def _generate(step: Step) -> Node:
    """A generator gives values and decides how many rows there are."""
    made = step.attributes("generatorOutput")
    generator = step.expression("generator")
    # Only optimized plans leave columns out; Spark prints the list as text.
    unrequired = {int(index) for index in re.findall(r"\d+", str(step.fields.get("unrequiredChildIndex")))}
    kept = tuple(column for index, column in enumerate(step.output()) if index not in unrequired)
    return Derive(
        step.inputs,
        (*kept, *made),
        step.label,
        columns={column.id: (generator,) for column in made},
        influences=((Kind.FILTER, generator),),
    )


def _expand(step: Step) -> Node:
    """Each row becomes several: column i is the i-th expression of any projection."""
    output = step.attributes("output")
    projections = [trees(projection) for projection in step.fields.get("projections") or ()]
    columns = {
        column.id: tuple(step.read(projection[index]) for projection in projections)
        for index, column in enumerate(output)
    }
    return Derive(step.inputs, output, step.label, columns)


def _combine(*, valued: int = -1, compared: bool = False) -> Row:
    return lambda step: Combine(step.inputs, step.output(), step.label, valued=valued, compared=compared)


def _reference(step: Step) -> Node:
    definition = int(step.fields.get("cteId", -1))
    return Reference(step.inputs, step.attributes("output"), step.label, definition=definition)


def unknown(step: Step) -> Node:
    """Carry columns through a class that has no row, and compute what it names; the gap says so."""
    known = {column.id for column in step.all_outputs}
    made = []
    columns: Columns = {}
    for field in step.fields:
        for tree in trees(step.fields[field]):
            column = attribute_of(tree)
            if column is None or column.id in known:
                continue
            known.add(column.id)
            made.append(column)
            columns[column.id] = (
                (step.expression(field),)
                if simple_name(tree[0]["class"]) == "Alias"
                else (everything(step.all_outputs),)
            )
    if not step.inputs:
        reason = f"{step.name} is not known: where its rows come from is not recorded"
        return Opaque((), tuple(made), step.label, reason=reason)
    reason = f"{step.name} is not known: the columns of its input are passed through"
    return Derive(step.inputs, (*step.all_outputs, *made), step.label, columns, reason=reason)


NODES: dict[str, Row] = {
    # Rows from outside, and rows from nowhere.
    "LogicalRelation": _scan("output"),
    "HiveTableRelation": _scan("dataCols", "partitionCols"),
    "DataSourceV2Relation": _scan("output"),
    "DataSourceV2ScanRelation": _scan("output"),
    "LocalRelation": _constant,
    "OneRowRelation": _constant,
    "Range": _constant,
    "CommandResult": _constant,
    "LogicalRDD": _opaque_leaf(
        "rows came from an RDD or from Python memory; what they were made of is not recorded"
    ),
    "ExternalRDD": _opaque_leaf("rows came from an RDD; what they were made of is not recorded"),
    # One input.
    "Project": _project,
    "Filter": _pass(Kind.FILTER, "condition"),
    "Sort": _pass(Kind.SORT, "order"),
    "Aggregate": _aggregate,
    "Distinct": _distinct,
    "Deduplicate": _pass(Kind.GROUP_BY, "keys"),
    "DeduplicateWithinWatermark": _pass(Kind.GROUP_BY, "keys"),
    "Window": _window,
    "Generate": _generate,
    "Expand": _expand,
    **dict.fromkeys(
        (
            "SubqueryAlias",
            "View",
            "WithCTE",
            "CTERelationDef",
            "Subquery",
            "GlobalLimit",
            "LocalLimit",
            "Limit",
            "Tail",
            "Offset",
            "LimitAndOffset",
            "Sample",
            "Repartition",
            "RepartitionByExpression",
            "RebalancePartitions",
            "ResolvedHint",
            "UnresolvedHint",
            "CollectMetrics",
            "WriteFiles",
            "EventTimeWatermark",
            "DataFrameDropColumns",
            "ReturnAnswer",
        ),
        _pass(),
    ),
    # Several inputs.
    "Join": _join,
    "AsOfJoin": _join,
    "LateralJoin": _lateral_join,
    "Union": _combine(),
    "Intersect": _combine(valued=1, compared=True),
    "Except": _combine(valued=1, compared=True),
    "CTERelationRef": _reference,
    # Code over whole rows.
    **dict.fromkeys(
        (
            "MapInPandas",
            "MapInArrow",
            "PythonMapInArrow",
            "FlatMapGroupsInPandas",
            "FlatMapGroupsInArrow",
            "FlatMapCoGroupsInPandas",
            "FlatMapCoGroupsInArrow",
            "MapPartitionsInR",
            "FlatMapGroupsInR",
            "TransformWithStateInPySpark",
        ),
        _opaque("output", "outputAttrs"),
    ),
    "SerializeFromObject": _opaque("serializer"),
}
"""Simple class name -> row. A class without one goes to `unknown`."""
