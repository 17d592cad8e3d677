"""Table of physical operators with their equivalent logical nodes, in the text that `nodes` reads.

The same code reads expressions, kinds of edges and gaps for both texts. An operator without a row, or one
that cannot be read, becomes `Unread`: the columns that it computes have no edges, and a gap says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import MARK
from airflow_provider_spark_lineage.spark.plan.spark.explain.commands import COMMANDS
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.aggregates import (
    AGGREGATES,
    aggregate,
    in_python,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.commands import (
    COMMANDS_OF_CATALOGS,
    execute,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.conditions import (
    KEYS,
    compared_by_joins,
    conjuncts,
    listed_items,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.reads import READS, SCANS
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.text import Formatted, Operator
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.translation import (
    OperatorReader,
    Translation,
    unread,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.nodes import NODES
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import (
    Drawn,
    UnreadablePlanError,
    required,
)


def row_of(operator: Operator) -> OperatorReader:
    """Return the row of an operator, or `unread`."""
    name = operator.name
    if name.startswith("Execute "):
        return execute
    for prefix, row in SCANS.items():
        if name.startswith(prefix):
            return row
    # A logical command of the same name is inside `Execute`.
    if name in COMMANDS_OF_CATALOGS and operator.above != f"Execute {name}":
        return COMMANDS_OF_CATALOGS[name]
    if set(operator.details) <= {"Arguments"} and name in (
        NODES.keys() | COMMANDS.keys() | {"LogicalRelation"}
    ):
        return _logical
    is_alone = not operator.children and re.fullmatch(r"\w+", name)
    return OPERATORS.get(name, _leaf if is_alone else unread)


def _pass(operator: Operator, plan: Translation) -> Drawn:
    return plan.input(operator)


def _same(operator: Operator, plan: Translation) -> Drawn:
    """Its arguments have the same text as the logical node's, which may have a shorter name."""
    children = [plan.of(child) for child in operator.children]
    return plan.node(f"{operator.name.removeprefix('Spark')} {plan.arguments(operator)}", *children)


def _leaf(operator: Operator, plan: Translation) -> Drawn:
    """A command, or rows of a source, with the same name in logical plans."""
    return plan.node(f"{operator.name} {operator.details.get('Arguments', '')}")


def _logical(operator: Operator, plan: Translation) -> Drawn:
    """A logical node inside a command."""
    arguments = operator.details.get("Arguments", "")
    if operator.name == "LogicalRelation":
        relation = required(
            re.fullmatch(r"(.*?), (\[.*\])(?:, (`.*`))?, (?:true|false)(?:, .*)?", arguments, re.DOTALL),
            "a relation without columns",
        )
        table = (relation[3] or "").replace("`", "")
        return plan.node(f"FileRows {relation[2]}, [] {relation[1]} {table}")
    if operator.name == "Filter":
        return plan.filtered(conjuncts(arguments), plan.input(operator))
    node = plan.node(f"{operator.name} {arguments}", *(plan.of(child) for child in operator.children))
    node.inner.extend(plan.of(child) for child in operator.inner)
    return node


def _project(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(f"Project {operator.detail('Output')}", plan.input(operator))


def _filter(operator: Operator, plan: Translation) -> Drawn:
    return plan.filtered(conjuncts(operator.detail("Condition")), plan.input(operator))


_READS_IN_ORDER = re.compile(
    r"SortMergeJoin|.*Window|.*Aggregate|FlatMap|MapGroups|.*Sessions|.*State|WriteFiles|Execute |.*Python"
)


def _sort(operator: Operator, plan: Translation) -> Drawn:
    """An ORDER BY, unless the operator above reads the rows of each task in that order."""
    arguments = operator.detail("Arguments")
    if re.search(r"\], false, \d+$", arguments) and _READS_IN_ORDER.match(operator.above):
        return plan.input(operator)
    return plan.node(f"Sort {arguments}", plan.input(operator))


def _top(operator: Operator, plan: Translation) -> Drawn:
    """`TakeOrderedAndProject 3, [a#1 DESC NULLS LAST], [a#1, b#2]`."""
    match = required(
        re.fullmatch(r"\d+, (\[.*\]), (\[.*\])(?:, \d+)?", plan.arguments(operator), re.DOTALL), "no order"
    )
    return plan.node(f"Project {match[2]}", plan.node(f"Sort {match[1]}, true", plan.input(operator)))


def _generate(operator: Operator, plan: Translation) -> Drawn:
    """`Generate explode(t#1), [id#0L], false, [tag#9]`: with the input's columns that are kept."""
    arguments = plan.arguments(operator)
    match = required(
        re.search(r"\), (?:\[([^\[\]]*)\], )?(?:true|false), \[([^\[\]]*)\]$", arguments),
        "no columns of the generator",
    )
    if arguments.startswith("replicaterows("):
        return _repeated_rows(operator, plan, match[2])
    columns = ", ".join(filter(None, (match[1], match[2])))
    return plan.node(f"Project [{columns}]", plan.node(f"Generate {arguments}", plan.input(operator)))


def _python_rows(operator: Operator, plan: Translation) -> Drawn:
    """`BatchEvalPythonUDTF words(a#1)#7, [b#2], [word#3]`: an empty list is not printed."""
    match = required(
        re.fullmatch(
            r"(.*\)#\d+)(?:, (\[[^\[\]]*\]))?, (\[[^\[\]]*\])(?:, \d+)?", plan.arguments(operator), re.DOTALL
        ),
        "no function",
    )
    return plan.node(f"PythonRows {match[1]}, {match[2] or '[]'}, {match[3]}", plan.input(operator))


def _python(operator: Operator, plan: Translation) -> Drawn:
    match = required(
        re.fullmatch(r"(\[.*\], \[[^\[\]]*\])(?:, \d+)?", plan.arguments(operator), re.DOTALL), "no functions"
    )
    return plan.node(f"PythonColumns {match[1]}", plan.input(operator))


def _join(operator: Operator, plan: Translation) -> Drawn:
    compared = [item for key in KEYS for item in listed_items(operator.details.get(key, "[]"))]
    condition = operator.details.get("Join condition", "None")
    if condition != "None":
        compared.append(condition)
    left, right = operator.children
    kind = operator.details.get("Join type", "Inner")
    exists = re.fullmatch(r"ExistenceJoin\((.*)\)", kind)
    if exists:
        # Spark creates this join for an EXISTS or IN that is used as a value.
        rows = plan.node(f"Filter and({', '.join(compared)})", plan.of(right))
        return Drawn(f"WithExists [{exists[1]}]", 0, [plan.of(left)], [rows])
    if _is_of_subquery(operator):
        plan.problem(operator, of_explained.MAY_BE_SUBQUERY())
    text = f", and({', '.join(compared)})" if compared else ""
    return plan.node(f"Join {kind}{text}", plan.of(left), plan.of(right))


def _is_of_subquery(join: Operator) -> bool:
    """Return whether a join may come from a correlated subquery: one side is grouped by its keys."""
    for key, child in zip(KEYS, join.children, strict=True):
        if "isnull(" in join.details.get(key, ""):
            # This also compares nulls: it joins the rows for which the subquery runs.
            return True
        compared = {mark[1] for mark in MARK.finditer(join.details.get(key, ""))}
        side = child
        while side.name not in AGGREGATES and len(side.children) == 1:
            side = side.children[0]
        keys = {mark[1] for mark in MARK.finditer(side.details.get("Keys", ""))}
        if side.name in AGGREGATES and keys <= compared:
            return True
    return False


def _repeated_rows(operator: Operator, plan: Translation, columns: str) -> Drawn:
    """INTERSECT ALL and EXCEPT ALL: Spark counts equal rows of both sides, and repeats each that often."""
    union = next((below for below in operator.below() if below.name == "Union"), None)
    if union is None:
        raise UnreadablePlanError("the rows that it repeats are not in the text")
    sides = []
    for child in union.children:
        if child.name != "Project":
            raise UnreadablePlanError("the rows that it repeats are not in the text")
        marks = required(
            re.match(r"\[(?:(?:true|null|-?1) AS vcol\d*#\d+L?, )+", child.detail("Output")),
            "the rows that it repeats are not in the text",
        )
        sides.append(plan.node(f"Project [{child.detail('Output')[marks.end() :]}", plan.input(child)))
    return plan.node(f"Project [{columns}]", plan.node("ExceptAll", *sides))


def _union(operator: Operator, plan: Translation) -> Drawn:
    return plan.node("Union", *(plan.of(child) for child in operator.children))


OPERATORS: dict[str, OperatorReader] = {
    **dict.fromkeys(
        """
        BroadcastHashJoin BroadcastNestedLoopJoin CartesianProduct ShuffledHashJoin SortMergeJoin
        """.split(),
        _join,
    ),
    "Union": _union,
    **READS,
    **dict.fromkeys(AGGREGATES, aggregate),
    **dict.fromkeys(("ArrowEvalPythonUDTF", "BatchEvalPythonUDTF"), _python_rows),
    **dict.fromkeys(("AggregateInPandas", "ArrowAggregatePython"), in_python),
    "ArrowEvalPython": _python,
    "BatchEvalPython": _python,
    "Expand": _same,
    "Filter": _filter,
    "Generate": _generate,
    "Project": _project,
    "Sort": _sort,
    "TakeOrderedAndProject": _top,
    "SparkScriptTransformation": _same,
    "Window": _same,
    "WriteFiles": _pass,
    **dict.fromkeys(
        """
        AQEShuffleRead AdaptiveSparkPlan BroadcastExchange BroadcastQueryStage Coalesce CollectLimit
        CollectMetrics CollectTail ColumnarToRow Exchange GlobalLimit InputAdapter LocalLimit ResultQueryStage
        RowToColumnar Sample ShuffleQueryStage Subquery TableCacheQueryStage WholeStageCodegen
        WindowGroupLimit
        """.split(),
        _pass,
    ),
    **dict.fromkeys(
        """
        AppendColumns AttachDistributedSequence DeserializeToObject EventTimeWatermark FlatMapCoGroupsInArrow
        FlatMapCoGroupsInPandas FlatMapGroupsInArrow FlatMapGroupsInPandas MapElements MapGroups MapInArrow
        MapInPandas MapPartitions PythonMapInArrow SerializeFromObject
        """.split(),
        _same,
    ),
}
"""Name that Spark prints -> row."""


def logical(formatted: Formatted, inside: Sequence[Formatted] = ()) -> tuple[Drawn, Translation]:
    """Return the plan of a text as the drawing of a logical plan, and its translation.

    `inside` are the texts of the executions that a command ran: its query may be in one of them only.
    """
    plans = [Translation(text, compared_by_joins(text), row_of) for text in (formatted, *inside)]
    plans[0].inside.extend(plans[1:])
    return plans[0].translated(formatted.root), plans[0]
