"""How each relational node of Spark's logical plans reads into the algebra: small functions and a table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import (
    Apply,
    Attribute,
    Combine,
    Constant,
    Derive,
    Kind,
    Loop,
    Node,
    Opaque,
    Reference,
    Scan,
)
from airflow_provider_spark_lineage.plan.spark.step import Columns, Step, everything, same
from airflow_provider_spark_lineage.plan.spark.tree import (
    attribute_of,
    attributes,
    children,
    simple_name,
    trees,
)

Row = Callable[[Step], Node]

Tree = list[dict[str, Any]]

RECURSION = "recursion plan"
"""Field of a recursive CTE's node for its recursive part, put there by the reader; Spark's have no spaces."""


def _scan(*fields: str) -> Row:
    """Rows from outside, whose columns stand in `fields`."""

    def row(step: Step) -> Node:
        output = tuple(column for field in fields for column in step.attributes(field))
        hidden = frozenset(column.id for column in output if _is_hidden(column))
        return Scan(step.inputs, output, step.label, relation=step.name, hidden=hidden)

    return row


def _is_hidden(column: Attribute) -> bool:
    """Say whether a column is Spark's own, about each row's file: a query may name it, no file has it."""
    return column.name == "_metadata" and column.type.startswith("struct<file_path:")


def _constant(step: Step) -> Node:
    return Constant(step.inputs, step.attributes("output"), step.label)


def _opaque(*fields: str) -> Row:
    """Code over whole rows; its output columns stand in the first of `fields` that there is."""

    def row(step: Step) -> Node:
        output = next((found for field in fields if (found := step.attributes(field))), step.all_outputs)
        keys = step.influences(Kind.GROUP_BY, "groupingAttributes")
        # The keys of cogrouped code are the first columns of each side.
        for side, field in enumerate(("leftGroupingLen", "rightGroupingLen")):
            count = int(step.fields.get(field) or 0)
            keys += tuple((Kind.GROUP_BY, same(column)) for column in step.output(side)[:count])
        return Opaque(step.inputs, output, step.label, "taken from every input column", keys)

    return row


def _numbered(step: Step) -> Node:
    """The input's rows, each with its position in a further column."""
    made = tuple(column for column in step.attributes("sequenceAttr") if column not in step.output())
    columns: Columns = {column.id: () for column in made}
    return Derive(step.inputs, (*made, *step.output()), step.label, columns)


def _deserialize(step: Step) -> Node:
    """One object for each row."""
    made = step.attributes("outputObjAttr")
    return Derive(step.inputs, made, step.label, {column.id: (everything(step.output()),) for column in made})


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
    # Spark aggregates twice for a pivot: first with the pivot column as one more key, which decides
    # no rows in the end. The second repeats the other keys.
    pivoted = any(
        simple_name(node["class"]) == "PivotFirst"
        for tree in trees(step.above.get("aggregateExpressions"))
        for node in tree
    )
    influences = () if pivoted else step.influences(Kind.GROUP_BY, "groupingExpressions")
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


def _parts(tree: Tree, width: int) -> tuple[list[list[Tree]], list[Tree]] | None:
    """Take apart a generator that unpivots what the query lists.

    Return what gives each of its `width` columns, and what decides how many rows it gives. None for
    any other: all of it does both.
    """
    match [simple_name(node["class"]) for node in tree[:2]]:
        case ["Stack", *_]:
            # After the number of rows come their values, row by row.
            values = children(tree)[1:]
            return [values[index::width] for index in range(width)], []
        case ["JsonTuple", *_]:
            return [[tree]] * width, []
        case ["Explode" | "PosExplode", "CreateArray"]:
            position: list[list[Tree]] = [[]] * (width - 1)
            return [*position, children(children(tree)[0])], []
        case ["Explode" | "PosExplode", "CreateMap"]:
            position = [[]] * (width - 2)
            keys, values = (children(children(tree)[0])[start::2] for start in (0, 1))
            # A map has as many entries as there are keys that differ.
            return [*position, keys, values], keys
        case ["Inline", "CreateArray"]:
            rows = children(children(tree)[0])
            if all(simple_name(row[0]["class"]) == "CreateNamedStruct" for row in rows):
                # A name before each value.
                fields = [children(row)[1::2] for row in rows]
                return [[row[index] for row in fields] for index in range(width)], []
    return None


def _generate(step: Step) -> Node:
    """A generator gives values and decides how many rows there are."""
    made = step.attributes("generatorOutput")
    tree = next(iter(trees(step.fields.get("generator"))), [])
    values, counted = _parts(tree, len(made)) or ([[tree]] * len(made), [tree])
    # Only optimized plans leave columns out; Spark prints the list as text.
    unrequired = {int(index) for index in re.findall(r"\d+", str(step.fields.get("unrequiredChildIndex")))}
    kept = tuple(column for index, column in enumerate(step.output()) if index not in unrequired)
    return Derive(
        step.inputs,
        (*kept, *made),
        step.label,
        columns={column.id: (step.read(one),) for column, one in zip(made, values, strict=True)},
        influences=((Kind.FILTER, step.read(counted)),),
    )


def _expand(step: Step) -> Node:
    """Each row becomes several: column i is the i-th expression of any projection."""
    output = step.attributes("output")
    projections = [trees(projection) for projection in step.fields.get("projections") or ()]
    if not projections:
        before, after = ({column.id for column in columns} for columns in (step.output(), output))
        rest = everything(tuple(column for column in step.output() if column.id not in after))
        made = {column.id: (rest,) for column in output if column.id not in before}
        reason = "its projections are not recorded: columns are taken from all that it does not keep"
        return Derive(step.inputs, output, step.label, made, reason=reason)
    columns = {
        column.id: tuple(step.read(projection[index]) for projection in projections)
        for index, column in enumerate(output)
    }
    return Derive(step.inputs, output, step.label, columns)


def _combine(*, valued: int = -1, compared: bool = False) -> Row:
    return lambda step: Combine(step.inputs, step.output(), step.label, valued=valued, compared=compared)


def _reference(field: str) -> Row:
    """Rows of the definition whose id stands in `field`."""
    return lambda step: Reference(
        step.inputs, step.attributes("output"), step.label, definition=int(step.fields.get(field, -1))
    )


def _loop(step: Step) -> Node:
    plan = step.read_plan(step.fields[RECURSION]) if RECURSION in step.fields else None
    definition = int(step.fields.get("id", -1))
    ids = step.fields.get("outputAttrIds")
    output = step.output()
    # Its columns have ids of their own, in a field since Spark 4.1.
    if isinstance(ids, list) and len(ids) == len(output):
        numbers = [int(one["id"]) if isinstance(one, dict) else None for one in ids]
        output = tuple(
            replace(column, id=column.id if number is None else number)
            for column, number in zip(output, numbers, strict=True)
        )
    return Loop(step.inputs, output, step.label, plan, definition)


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
    "LogicalRDD": _scan("output"),
    "ExternalRDD": _scan("outputObjAttr"),
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
    "AttachDistributedSequence": _numbered,
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
            "PipeOperator",
            "SQLFunctionNode",
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
    "CTERelationRef": _reference("cteId"),
    "UnionLoop": _loop,
    "UnionLoopRef": _reference("loopId"),
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
            "ScriptTransformation",
        ),
        _opaque("output", "outputAttrs"),
    ),
    "SerializeFromObject": _opaque("serializer"),
    "DeserializeToObject": _deserialize,
}
"""Simple class name -> row. A class without one goes to `unknown`."""
