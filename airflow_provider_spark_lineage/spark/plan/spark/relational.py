"""Readers of the relational nodes of Spark's logical plans into the algebra: small functions and a table."""

from __future__ import annotations

from dataclasses import replace

from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.algebra import (
    NO_NEW_DATA,
    Apply,
    Attribute,
    Combine,
    Command,
    Constant,
    Derive,
    Expression,
    Kind,
    Loop,
    Node,
    Opaque,
    Reference,
    Scan,
    same,
)
from airflow_provider_spark_lineage.spark.plan.spark.expressions import immediate
from airflow_provider_spark_lineage.spark.plan.spark.programs import (
    append_columns,
    deserialize,
    generate,
    opaque,
    python_udfs,
    python_udtf,
    typed_filter,
)
from airflow_provider_spark_lineage.spark.plan.spark.step import Columns, NodeReader, Step, everything
from airflow_provider_spark_lineage.spark.plan.spark.tree import attribute_of, attributes, trees
from airflow_provider_spark_lineage.spark.records.plan_json import simple_name

RECURSION = "recursion plan"
"""Field of a recursive CTE's node for its recursive part, put there by the reader; Spark's have no spaces."""

UNTRACED = "untraced columns"
"""Field of a node whose text could not be read, for its computed columns with unknown sources."""

HIDDEN = "hidden columns"
"""Field of a relation for its columns that are in no dataset, if a text shows that."""


def _scan(*fields: str) -> NodeReader:
    """Return a reader of rows from outside, whose columns are in `fields`."""

    def row(step: Step) -> Node:
        output = tuple(column for field in fields for column in step.attributes(field))
        hidden = frozenset(column.id for column in output if _is_hidden(column))
        hidden |= {column.id for column in step.attributes(HIDDEN)}
        # A relation inside a field of this node has the same rows, so it is not read.
        return Scan((), output, step.label, relation=step.name, hidden=hidden)

    row.__doc__ = "Rows from outside."
    return row


def _is_hidden(column: Attribute) -> bool:
    """Return whether a column is Spark's own description of each row's file, which is not in the file."""
    return column.name == "_metadata" and column.type.startswith("struct<file_path:")


def _constant(field: str = "output") -> NodeReader:
    """Return a reader of rows that depend on no dataset, with the columns in `field`."""

    def row(step: Step) -> Node:
        return Constant((), step.attributes(field), step.label)

    row.__doc__ = "Rows that depend on no dataset."
    return row


def _listed(step: Step) -> Node:
    """Rows that a query lists, which depend on no dataset, or that a program lists: a gap."""
    # In a batch of a stream, a source without new data is replaced by empty rows.
    relation = NO_NEW_DATA if step.fields.get("isStreaming") is True else step.name
    rows = Scan((), step.attributes("output"), step.label, relation=relation)
    values = Expression(subqueries=immediate(step.fields))
    if not values.subqueries:
        return rows
    columns = {column.id: (values,) for column in rows.output}
    return Derive((step.put(rows),), rows.output, step.label, columns=columns)


def _argument(step: Step) -> Node:
    """The target of a command: no rows."""
    return Constant((), (), step.label)


def _unrecorded(reason: Reason) -> NodeReader:
    """Return a reader of rows whose origin is not in Spark's plan."""

    def row(step: Step) -> Node:
        return Opaque((), step.attributes("output"), step.label, reason)

    row.__doc__ = f"A gap: {reason}."
    return row


def _numbered(step: Step) -> Node:
    """The input's rows, each with its position in a further column."""
    numbers = tuple(column for column in step.attributes("sequenceAttr") if column not in step.output())
    columns: Columns = {column.id: () for column in numbers}
    return Derive(step.inputs, (*numbers, *step.output()), step.label, columns)


def _pass(kind: Kind | None = None, *fields: str) -> NodeReader:
    """Return a reader of nodes that pass columns through; `fields` decide the rows, or their order."""

    def row(step: Step) -> Node:
        influences = step.influences(kind, *fields) if kind else ()
        return Derive(step.inputs, step.output(), step.label, influences=influences)

    acts = f"; {kind.subtype} by its {' and '.join(fields)}" if kind else ""
    row.__doc__ = f"Columns pass through{acts}."
    return row


def _beside(step: Step) -> Node:
    """The columns of all inputs, side by side."""
    return Derive(step.inputs, step.all_outputs, step.label)


def _last(step: Step) -> Node:
    """The rows of the last input; the other inputs were run before."""
    last = step.inputs[-1:]
    return Derive(last, step.input_outputs[-1] if last else (), step.label)


def _bin_by(step: Step) -> Node:
    """Each row becomes one row for each time bin that it overlaps; some values are divided among them."""
    span = step.attributes("rangeStart") + step.attributes("rangeEnd")
    shared = dict(
        zip(
            (column.id for column in step.attributes("distributeColumns")),
            step.attributes("scaledDistributeColumns"),
            strict=False,
        )
    )
    passed = step.output()
    added = step.attributes("appendedAttributes")
    columns: Columns = {column.id: (everything(span),) for column in added}
    for column in passed:
        if column.id in shared:
            columns[shared[column.id].id] = (everything((column, *span)),)
    output = (*(shared.get(column.id, column) for column in passed), *added)
    return Derive(step.inputs, output, step.label, columns, ((Kind.FILTER, everything(span)),))


def _project(step: Step) -> Node:
    """Columns are computed by the query."""
    output, columns = step.named("projectList")
    return Derive(step.inputs, output, step.label, columns=columns)


def _aggregate(step: Step) -> Node:
    """Columns are computed by the query; GROUP_BY the keys."""
    output, columns = step.named("aggregateExpressions")
    # Spark aggregates twice for a pivot: first with the pivot column as an additional key, which does not
    # decide the final rows. The second aggregate repeats the other keys.
    pivoted = any(
        simple_name(node["class"]) == "PivotFirst"
        for tree in trees(step.above.get("aggregateExpressions"))
        for node in tree
    )
    influences = () if pivoted else step.influences(Kind.GROUP_BY, "groupingExpressions")
    return Derive(step.inputs, output, step.label, columns=columns, influences=influences)


def _distinct(step: Step) -> Node:
    """Columns pass through; GROUP_BY all of them."""
    influences = tuple((Kind.GROUP_BY, same(column)) for column in step.output())
    return Derive(step.inputs, step.output(), step.label, influences=influences)


def _window(step: Step) -> Node:
    """Columns pass through; each further one is a function over a window."""
    added, columns = step.named("windowExpressions")
    return Derive(step.inputs, (*step.output(), *added), step.label, columns=columns)


def _join(step: Step) -> Node:
    """The columns of both sides, or of the left side; JOIN by the compared columns."""
    join_type = step.fields.get("joinType")
    name = simple_name(str(join_type.get("object") or join_type.get("product-class"))) if join_type else ""
    output = step.output() if name in ("LeftSemi", "LeftAnti") else step.all_outputs
    influences = step.influences(
        Kind.JOIN, "condition", "asOfCondition", "orderExpression", "rankingExpression"
    )
    columns: Columns = {}
    if join_type and name == "ExistenceJoin":
        # It adds one column, which is true if the other side had a match.
        added = attributes(join_type.get("exists"))
        columns = {column.id: (step.expression("condition"),) for column in added}
        output = (*step.output(), *added)
    return Derive(step.inputs, output, step.label, columns, influences)


def _lateral_join(step: Step) -> Node:
    """The right side is a plan in a field; it refers to the left side by outer references."""
    plan = next(subquery.plan for subquery in step.expression("right").subqueries)
    influences = step.influences(Kind.JOIN, "condition")
    output = (*step.output(), *plan.root.output)
    return Apply(step.inputs, output, step.label, plan=plan, influences=influences)


def _expand(step: Step) -> Node:
    """Each row becomes several: column i is the i-th expression of any projection."""
    output = step.attributes("output")
    projections = [trees(projection) for projection in step.fields.get("projections") or ()]
    if not projections:
        before, after = ({column.id for column in columns} for columns in (step.output(), output))
        dropped = everything(tuple(column for column in step.output() if column.id not in after))
        added: Columns = {column.id: (dropped,) for column in output if column.id not in before}
        return Derive(step.inputs, output, step.label, added, reason=of_plans.NO_PROJECTIONS())
    columns = {
        column.id: tuple(step.read(projection[index]) for projection in projections)
        for index, column in enumerate(output)
    }
    return Derive(step.inputs, output, step.label, columns)


def _combine(*, compared: bool = False) -> NodeReader:
    def row(step: Step) -> Node:
        return Combine(step.inputs, step.output(), step.label, compared=compared)

    row.__doc__ = (
        "Values of the first input; JOIN by every column of all inputs."
        if compared
        else "Rows of all inputs, column by column."
    )
    return row


def _reference(field: str) -> NodeReader:
    """Return a reader of the rows of the definition whose id is in `field`."""

    def row(step: Step) -> Node:
        definition = int(step.fields.get(field, -1))
        return Reference(step.inputs, step.attributes("output"), step.label, definition=definition)

    row.__doc__ = "The rows of a CTE's definition."
    return row


def _loop(step: Step) -> Node:
    """A recursive CTE: its recursion is applied to its own rows until nothing changes."""
    plan = step.read_plan(step.fields[RECURSION]) if RECURSION in step.fields else None
    definition = int(step.fields.get("id", -1))
    ids = step.fields.get("outputAttrIds")
    output = step.output()
    # Its columns have their own ids, in a field since Spark 4.1.
    if isinstance(ids, list) and len(ids) == len(output):
        numbers = [int(expr_id["id"]) if isinstance(expr_id, dict) else None for expr_id in ids]
        output = tuple(
            replace(column, id=column.id if number is None else number)
            for column, number in zip(output, numbers, strict=True)
        )
    return Loop(step.inputs, output, step.label, plan, definition)


def unknown_node(step: Step) -> Node:
    """Pass columns through a class without a row, and compute the columns that it names; add a gap.

    At the root of a plan, without rows below, it is taken as a command.
    """
    name = step.name.removeprefix("unread ")
    is_known = name != step.name
    ids = {column.id for column in step.all_outputs}
    every_input = (everything(step.all_outputs),)
    added = []
    columns: Columns = {}
    for field in step.fields:
        for tree in trees(step.fields[field]):
            column = attribute_of(tree)
            if column is None or column.id in ids:
                continue
            ids.add(column.id)
            added.append(column)
            if field == UNTRACED:
                columns[column.id] = ()
                continue
            columns[column.id] = (
                (step.read(tree),) if simple_name(tree[0]["class"]) == "Alias" else every_input
            )
    if step.is_root and not step.all_outputs:
        reason = (of_plans.UNREAD_COMMAND if is_known else of_plans.UNKNOWN_COMMAND)(name=name)
        return Command((), tuple(added), step.label, relation=step.name, target=step.target, reason=reason)
    if not step.inputs:
        reason = (of_plans.UNREAD_LEAF if is_known else of_plans.UNKNOWN_LEAF)(name=name)
        return Opaque((), tuple(added), step.label, reason=reason)
    untraced = [f"`{column.name}`" for column in step.attributes(UNTRACED)]
    rest = f", and the sources of {', '.join(untraced[:20])} are not recorded" if untraced else ""
    reason = (of_plans.UNREAD_NODE if is_known else of_plans.UNKNOWN_NODE)(name=name, rest=rest)
    return Derive(step.inputs, (*step.all_outputs, *added), step.label, columns, reason=reason)


def unwritten(step: Step) -> Node:
    """Take a node that Spark cannot write as JSON as code over whole rows; capture noted its columns."""
    reason = of_plans.UNWRITTEN(name=step.name)
    return Opaque(step.inputs, step.attributes("unwritten"), step.label, reason)


NODES: dict[str, NodeReader] = {
    # Leaves.
    "LogicalRelation": _scan("output"),
    "HiveTableRelation": _scan("dataCols", "partitionCols"),
    "DataSourceV2Relation": _scan("output"),
    "DataSourceV2ScanRelation": _scan("output"),
    "StreamingDataSourceV2Relation": _scan("output"),
    "StreamingDataSourceV2ScanRelation": _scan("output"),
    "LocalRelation": _listed,
    "OneRowRelation": _constant(),
    "Range": _constant(),
    "CommandResult": _constant(),
    "ResolvedInlineTable": _constant(),
    "PythonWorkerLogs": _constant("jsonAttr"),
    "Transpose": _unrecorded(of_plans.TRANSPOSED()),
    "InMemoryRelation": _unrecorded(of_plans.CACHED()),
    "MemoryPlan": _unrecorded(of_plans.IN_MEMORY()),
    "LogicalRDD": _scan("output"),
    "ExternalRDD": _scan("outputObjAttr"),
    **dict.fromkeys(
        """
        ResolvedIdentifier ResolvedNamespace ResolvedNonPersistentFunc ResolvedPathBasedNonDeltaTable
        ResolvedPersistentFunc ResolvedPersistentView ResolvedProcedure ResolvedTable ResolvedTempView
        ResolvedV2View
        """.split(),
        _argument,
    ),
    # One input.
    "Project": _project,
    "Filter": _pass(Kind.FILTER, "condition"),
    "Sort": _pass(Kind.SORT, "order"),
    "Aggregate": _aggregate,
    "Distinct": _distinct,
    "Deduplicate": _pass(Kind.GROUP_BY, "keys"),
    "DeduplicateWithinWatermark": _pass(Kind.GROUP_BY, "keys"),
    # The number of rows may be the value of a variable.
    **dict.fromkeys(("GlobalLimit", "LocalLimit", "Tail"), _pass(Kind.FILTER, "limitExpr")),
    "Offset": _pass(Kind.FILTER, "offsetExpr"),
    # Only streams have these: late rows are dropped.
    "EventTimeWatermark": _pass(Kind.FILTER, "eventTime"),
    "UpdateEventTimeWatermarkColumn": _pass(Kind.FILTER, "eventTime"),
    "Window": _window,
    "Generate": generate,
    "Expand": _expand,
    "AttachDistributedSequence": _numbered,
    "TypedFilter": typed_filter,
    "AppendColumns": append_columns,
    "BinBy": _bin_by,
    # Only optimized plans have these.
    "ArrowEvalPython": python_udfs,
    "BatchEvalPython": python_udfs,
    "ArrowEvalPythonUDTF": python_udtf,
    "BatchEvalPythonUDTF": python_udtf,
    **dict.fromkeys(
        """
        SubqueryAlias View WithCTE CTERelationDef Subquery LimitAll Sample Repartition RepartitionByExpression
        RebalancePartitions ResolvedHint CollectMetrics WriteFiles WindowGroupLimit ResolvedMetricView
        DataFrameDropColumns ReturnAnswer PipeOperator SQLFunctionNode DeltaInvariantChecker
        OrderAwareCoalesce
        """.split(),
        _pass(),
    ),
    # Several inputs.
    "Join": _join,
    "AsOfJoin": _join,
    "NearestByJoin": _join,
    "LateralJoin": _lateral_join,
    "Zip": _beside,
    "MultiResult": _last,
    "Union": _combine(),
    "SequentialStreamingUnion": _combine(),
    "Intersect": _combine(compared=True),
    "Except": _combine(compared=True),
    "CTERelationRef": _reference("cteId"),
    "UnionLoop": _loop,
    "UnionLoopRef": _reference("loopId"),
    # Code over whole rows; the last line has functions over objects, the typed API of Scala and Java.
    **dict.fromkeys(
        """
        MapInPandas MapInArrow PythonMapInArrow FlatMapGroupsInPandas FlatMapGroupsInArrow
        FlatMapCoGroupsInPandas FlatMapCoGroupsInArrow FlatMapGroupsInPandasWithState FlatMapGroupsInR
        FlatMapGroupsInRWithArrow MapPartitionsInR MapPartitionsInRWithArrow TransformWithStateInPandas
        TransformWithStateInPySpark ScriptTransformation
        CoGroup FlatMapGroupsWithState MapElements MapGroups MapPartitions TransformWithState
        """.split(),
        opaque("output", "outputAttrs", "outputObjAttr"),
    ),
    "SerializeFromObject": opaque("serializer"),
    "DeserializeToObject": deserialize,
}
"""Simple class name -> row. A class without a row goes to `unknown_node`."""
