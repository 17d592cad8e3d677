"""What each physical operator means: the logical node that does the same, in the text that `nodes` reads.

So expressions, kinds of edges and gaps are the same code for both texts. An operator without a row, or one
that cannot be read, is `Unread`: what it computes has no edge, and a gap says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from airflow_provider_spark_lineage.plan.spark.explain.aggregates import (
    AGGREGATES,
    aggregate,
    in_python,
    is_of_subquery,
)
from airflow_provider_spark_lineage.plan.spark.explain.commands import COMMANDS
from airflow_provider_spark_lineage.plan.spark.explain.conditions import (
    compared_by_joins,
    conjunction,
    conjuncts,
    listed_items,
)
from airflow_provider_spark_lineage.plan.spark.explain.formatted import Formatted, Operator
from airflow_provider_spark_lineage.plan.spark.explain.nodes import NODES
from airflow_provider_spark_lineage.plan.spark.explain.physical_commands import COMMANDS_OF_CATALOGS, execute
from airflow_provider_spark_lineage.plan.spark.explain.sections import Drawn, UnreadableError
from airflow_provider_spark_lineage.plan.spark.explain.translation import NO_COLUMN, Row, Translation, unread


def row_of(operator: Operator) -> Row:
    name = operator.name
    if name.startswith("Execute "):
        return execute
    for prefix, row in _BY_PREFIX.items():
        if name.startswith(prefix):
            return row
    # A logical command of the same name stands inside `Execute`.
    if name in COMMANDS_OF_CATALOGS and operator.above != f"Execute {name}":
        return COMMANDS_OF_CATALOGS[name]
    if set(operator.details) <= {"Arguments"} and name in (NODES.keys() | COMMANDS.keys() | {"LogicalRelation"}):
        return _logical
    is_alone = not operator.children and re.fullmatch(r"\w+", name)
    return OPERATORS.get(name, _leaf if is_alone else unread)


def _pass(operator: Operator, plan: Translation) -> Drawn:
    return plan.input(operator)


def _same(operator: Operator, plan: Translation) -> Drawn:
    """The text of its arguments is that of the logical node."""
    children = [plan.of(child) for child in operator.children]
    return plan.node(f"{operator.name} {operator.detail('Arguments')}", *children)


def _leaf(operator: Operator, plan: Translation) -> Drawn:
    """A command, or rows of a source, that logical plans know by the same name."""
    return plan.node(f"{operator.name} {operator.details.get('Arguments', '')}")


def _logical(operator: Operator, plan: Translation) -> Drawn:
    """A logical node inside a command."""
    arguments = operator.details.get("Arguments", "")
    if operator.name == "LogicalRelation":
        relation = re.fullmatch(r"(.*?), (\[.*\])(?:, (`.*`))?, (?:true|false)(?:, .*)?", arguments, re.DOTALL)
        if not relation:
            raise UnreadableError("a relation without columns")
        table = (relation[3] or "").replace("`", "")
        return plan.node(f"FileRows {relation[2]}, [] {relation[1]} {table}")
    if operator.name == "Filter":
        return _filtered(conjuncts(arguments), plan.input(operator), plan)
    node = plan.node(f"{operator.name} {arguments}", *(plan.of(child) for child in operator.children))
    node.inner.extend(plan.of(child) for child in operator.inner)
    return node


def _project(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(f"Project {operator.detail('Output')}", plan.input(operator))


def _filter(operator: Operator, plan: Translation) -> Drawn:
    return _filtered(conjuncts(operator.detail("Condition")), plan.input(operator), plan)


def _filtered(conditions: list[str], rows: Drawn, plan: Translation) -> Drawn:
    condition = conjunction(conditions, plan.compared)
    return plan.node(f"Filter {condition}", rows) if condition else rows


def _file_scan(operator: Operator, plan: Translation) -> Drawn:
    rows = plan.node(f"FileRows {_columns(operator)} {operator.name.partition(' ')[2]}")
    partitions = listed_items(operator.details.get("PartitionFilters", "[]"))
    conditions = [item for item in partitions if not item.startswith("dynamicpruning")]
    return _filtered(conditions, rows, plan)


_ABOUT_FILE = re.compile(
    r"(?:file_path|file_name|file_size|file_block_start|file_block_length|file_modification_time"
    r"|_tmp_metadata_row_index|row_index)#\d+L?"
)


def _columns(operator: Operator) -> str:
    """Return the columns of a scan, and those that no dataset has: the name of its file, for example."""
    columns = listed_items(operator.detail("Output").partition("\n")[0])
    if not columns:
        return f"[rows#{NO_COLUMN + int(operator.number)}], [rows#{NO_COLUMN + int(operator.number)}]"
    schema = operator.details.get("ReadSchema", "struct<")
    hidden = [
        column
        for column in columns
        if _ABOUT_FILE.fullmatch(column) and not re.search(rf"[<,]{column.partition('#')[0]}:", schema)
    ]
    return f"[{', '.join(columns)}], [{', '.join(hidden)}]"


_FROM_DATABASE = "Scan JDBC v1 Relation from v2 scan "
_PLAIN_QUERY = re.compile(r"SELECT [^()]* FROM \S+ *")


def _source_scan(operator: Operator, plan: Translation) -> Drawn:
    """A table of a catalog; what the source computes by itself is not traced."""
    query = operator.details.get("External engine query", "").strip()
    if query and not _PLAIN_QUERY.fullmatch(query):
        raise UnreadableError("a database computes a part of the query")
    relation = operator.name.removeprefix(_FROM_DATABASE).removeprefix("BatchScan ")
    return plan.node(f"SourceRows {_columns(operator)} {relation}")


def _made(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(f"MadeRows {operator.detail('Output')}")


def _local(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(f"LocalRelation {operator.detail('Output')}")


def _rdd(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(f"LogicalRDD {operator.detail('Output')}, false")


def _cached(operator: Operator, plan: Translation) -> Drawn:
    """`InMemoryRelation [id#1L], StorageLevel(...)`: other queries may use its rows under other ids."""
    (plans,) = (operator.inner or operator.children,)
    columns = operator.detail("Arguments").partition("], ")[0] + "]"
    return plan.node(f"Renamed {columns}", plan.of(plans[0]))


def _cached_scan(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(f"Project {operator.detail('Output')}", plan.of((operator.inner or operator.children)[0]))


def _reused(operator: Operator, plan: Translation) -> Drawn:
    repeated = plan.formatted.numbered.get(operator.reuses)
    if repeated is None:
        raise UnreadableError("what it repeats is not in the text")
    return plan.node(f"Renamed {operator.detail('Output')}", plan.translated(repeated))


_KEYS = ("Left keys", "Right keys")


def _join(operator: Operator, plan: Translation) -> Drawn:
    compared = [item for key in _KEYS for item in listed_items(operator.details.get(key, "[]"))]
    condition = operator.details.get("Join condition", "None")
    if condition != "None":
        compared.append(condition)
    left, right = operator.children
    kind = operator.details.get("Join type", "Inner")
    exists = re.fullmatch(r"ExistenceJoin\((.*)\)", kind)
    if exists:
        # Spark makes this join of an EXISTS or IN that is a value.
        rows = plan.node(f"Filter and({', '.join(compared)})", plan.of(right))
        return Drawn(f"WithExists [{exists[1]}]", 0, [plan.of(left)], [rows])
    if is_of_subquery(operator):
        plan.problem(operator, "a subquery of the query may stand behind it")
    text = f", and({', '.join(compared)})" if compared else ""
    return plan.node(f"Join {kind}{text}", plan.of(left), plan.of(right))


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
    match = re.fullmatch(r"\d+, (\[.*\]), (\[.*\])(?:, \d+)?", operator.detail("Arguments"), re.DOTALL)
    if not match:
        raise UnreadableError("no order")
    return plan.node(f"Project {match[2]}", plan.node(f"Sort {match[1]}, true", plan.input(operator)))


def _generate(operator: Operator, plan: Translation) -> Drawn:
    """`Generate explode(t#1), [id#0L], false, [tag#9]`: with the columns of the input that stay."""
    arguments = operator.detail("Arguments")
    match = re.search(r"\), (?:\[([^\[\]]*)\], )?(?:true|false), \[([^\[\]]*)\]$", arguments)
    if not match:
        raise UnreadableError("no columns of the generator")
    if arguments.startswith("replicaterows("):
        return _of_all(operator, plan, match[2])
    columns = ", ".join(filter(None, (match[1], match[2])))
    return plan.node(f"Project [{columns}]", plan.node(f"Generate {arguments}", plan.input(operator)))


def _of_all(operator: Operator, plan: Translation, columns: str) -> Drawn:
    """INTERSECT ALL and EXCEPT ALL: rows of both sides are counted, and repeated as often as they count."""
    union = next((below for below in operator.below() if below.name == "Union"), None)
    if union is None:
        raise UnreadableError("what it repeats is not in the text")
    sides = []
    for child in union.children:
        if child.name != "Project":
            raise UnreadableError("what it repeats is not in the text")
        marks = re.match(r"\[(?:(?:true|null|-?1) AS vcol\d*#\d+L?, )+", child.detail("Output"))
        if not marks:
            raise UnreadableError("what it repeats is not in the text")
        sides.append(plan.node(f"Project [{child.detail('Output')[marks.end() :]}", plan.input(child)))
    return plan.node(f"Project [{columns}]", plan.node("ExceptAll", *sides))


def _union(operator: Operator, plan: Translation) -> Drawn:
    return plan.node("Union", *(plan.of(child) for child in operator.children))


def _python_rows(operator: Operator, plan: Translation) -> Drawn:
    """`BatchEvalPythonUDTF words(a#1)#7, [b#2], [word#3]`: an empty list is not printed."""
    match = re.fullmatch(
        r"(.*\)#\d+)(?:, (\[[^\[\]]*\]))?, (\[[^\[\]]*\])(?:, \d+)?", operator.detail("Arguments"), re.DOTALL
    )
    if not match:
        raise UnreadableError("no function")
    return plan.node(f"PythonRows {match[1]}, {match[2] or '[]'}, {match[3]}", plan.input(operator))


def _script(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(f"ScriptTransformation {operator.detail('Arguments')}", plan.input(operator))


def _loop(operator: Operator, plan: Translation) -> Drawn:
    """A recursive CTE, whose plans are logical ones."""
    plans = [plan.of(below) for below in (*operator.children, *operator.inner)]
    return plan.node(f"UnionLoop {operator.detail('Loop id')}", *plans)


def _loop_reference(operator: Operator, plan: Translation) -> Drawn:
    return plan.node(f"UnionLoopRef {operator.detail('Loop id')}, {operator.detail('Output')}, false")


def _python(operator: Operator, plan: Translation) -> Drawn:
    match = re.fullmatch(r"(\[.*\], \[[^\[\]]*\])(?:, \d+)?", operator.detail("Arguments"), re.DOTALL)
    if not match:
        raise UnreadableError("no functions")
    return plan.node(f"PythonColumns {match[1]}", plan.input(operator))


_BY_PREFIX: dict[str, Row] = {
    "Scan ExistingRDD": _rdd,
    "Scan In-memory table": _cached_scan,
    "Scan OneRowRelation": _made,
    _FROM_DATABASE: _source_scan,
    "Scan ": _file_scan,
    "BatchScan ": _source_scan,
}

OPERATORS: dict[str, Row] = {
    **dict.fromkeys(AGGREGATES, aggregate),
    **dict.fromkeys(("ArrowEvalPythonUDTF", "BatchEvalPythonUDTF"), _python_rows),
    **dict.fromkeys(("AggregateInPandas", "ArrowAggregatePython"), in_python),
    "ArrowEvalPython": _python,
    "BatchEvalPython": _python,
    "BroadcastHashJoin": _join,
    "BroadcastNestedLoopJoin": _join,
    "CartesianProduct": _join,
    "CommandResult": _made,
    "Expand": _same,
    "Filter": _filter,
    "Generate": _generate,
    "InMemoryRelation": _cached,
    "InMemoryTableScan": _cached_scan,
    "LocalTableScan": _local,
    "Project": _project,
    "Range": _made,
    "ReusedExchange": _reused,
    "ShuffledHashJoin": _join,
    "Sort": _sort,
    "SortMergeJoin": _join,
    "TakeOrderedAndProject": _top,
    "SparkScriptTransformation": _script,
    "Union": _union,
    "UnionLoop": _loop,
    "UnionLoopRef": _loop_reference,
    "Window": _same,
    "WriteFiles": _pass,
    **dict.fromkeys(
        (
            "AQEShuffleRead",
            "AdaptiveSparkPlan",
            "BroadcastExchange",
            "BroadcastQueryStage",
            "Coalesce",
            "CollectLimit",
            "CollectMetrics",
            "CollectTail",
            "ColumnarToRow",
            "Exchange",
            "GlobalLimit",
            "InputAdapter",
            "LocalLimit",
            "ResultQueryStage",
            "RowToColumnar",
            "Sample",
            "ShuffleQueryStage",
            "Subquery",
            "TableCacheQueryStage",
            "WholeStageCodegen",
            "WindowGroupLimit",
        ),
        _pass,
    ),
    **dict.fromkeys(
        (
            "AppendColumns",
            "AttachDistributedSequence",
            "DeserializeToObject",
            "EventTimeWatermark",
            "FlatMapCoGroupsInArrow",
            "FlatMapCoGroupsInPandas",
            "FlatMapGroupsInArrow",
            "FlatMapGroupsInPandas",
            "MapElements",
            "MapGroups",
            "MapInArrow",
            "MapInPandas",
            "MapPartitions",
            "PythonMapInArrow",
            "SerializeFromObject",
        ),
        _same,
    ),
}
"""Name that Spark prints -> row."""


def logical(formatted: Formatted, inside: Sequence[Formatted] = ()) -> tuple[Drawn, Translation]:
    """Return a text's plan as the drawing of a logical one, and how it was made.

    `inside` are the texts of executions that a command ran: its query may stand there alone.
    """
    plans = [Translation(one, compared_by_joins(one), row_of) for one in (formatted, *inside)]
    plans[0].inside.extend(plans[1:])
    return plans[0].translated(formatted.root), plans[0]
