"""Readers of the texts of relational nodes: small functions and a table, as in `plan.spark.relational`."""

from __future__ import annotations

import re
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.built import Built, NodeContext, NodeReader
from airflow_provider_spark_lineage.spark.plan.spark.explain.calls import ReadExpression
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import EXPRESSION
from airflow_provider_spark_lineage.spark.plan.spark.explain.expressions import END
from airflow_provider_spark_lineage.spark.plan.spark.explain.items import (
    condition,
    everything_named,
    listed_values,
    named_list,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.leaves import LEAVES
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError, required
from airflow_provider_spark_lineage.spark.plan.spark.relational import UNTRACED
from airflow_provider_spark_lineage.spark.plan.spark.tree import element, end_of
from airflow_provider_spark_lineage.spark.records.observed import OF_CHECKS
from airflow_provider_spark_lineage.spark.records.plan_json import Tree

_PLANS = "org.apache.spark.sql.catalyst.plans."


def _pass(place: NodeContext) -> Built:
    return place.built(place.first)


def _project(place: NodeContext) -> Built:
    items, _ = named_list(place.reader, 0)
    return place.built([item.expr_id for item in items], projectList=[item.tree for item in items])


def _aggregate(place: NodeContext) -> Built:
    grouping, position = _grouping(place)
    items, _ = named_list(place.reader, position)
    keys = {str(tree) for tree in grouping}
    for item in items:
        _mark_aggregates(item.tree, keys)
    return place.built(
        [item.expr_id for item in items],
        groupingExpressions=grouping,
        aggregateExpressions=[item.tree for item in items],
    )


def _grouping(place: NodeContext) -> tuple[list[Tree], int]:
    """Return the keys, and the start of the list of results; without keys there is only one list."""
    reader = place.reader
    split = re.compile(r"\], (?=\[)")
    if not split.search(place.text):
        return [], 0
    try:
        values, end = reader.several(1, ", ", "]")
        if reader.text.startswith(", [", end):
            return [value.tree for value in values], end + 2
    except UnreadablePlanError:
        pass
    for match in split.finditer(place.text):
        try:
            named_list(reader, match.end())
        except UnreadablePlanError:
            continue
        reader.problems.append(of_explained.UNREAD_KEYS())
        return [everything_named(reader, 0, match.start())], match.end()
    return [], 0


def _mark_aggregates(tree: Tree, keys: set[str]) -> None:
    """Turn calls of functions that are not Spark's into aggregates, where only aggregates can be.

    A column that is neither below an aggregate nor among the keys is an argument of an aggregate.
    """
    if tree[0]["class"] == EXPRESSION + "Alias" and len(tree) > 1:
        rest = tree[1:]
        if rest[0]["num-children"] and str(rest) not in keys:
            inside = {node["class"].rpartition(".")[2] for node in rest}
            uses_keys = any(str(rest[start : end_of(rest, start)]) in keys for start in range(len(rest)))
            if "AggregateExpression" not in inside and not uses_keys and "AttributeReference" in inside:
                tree.insert(1, {"class": EXPRESSION + "AggregateExpression", "num-children": 1})


def _filter(place: NodeContext) -> Built:
    return place.built(place.first, condition=condition(place.reader, 0)[0])


def _sort(place: NodeContext) -> Built:
    return place.built(place.first, order=listed_values(place.reader, "its order"))


def _limit(field: str) -> NodeReader:
    def row(place: NodeContext) -> Built:
        # Mostly a literal; only the value of a variable may come from data.
        is_variable = "variablereference(" in place.text
        return place.built(place.first, **({field: condition(place.reader, 0)[0]} if is_variable else {}))

    return row


def _keys(place: NodeContext) -> Built:
    ids, _ = place.defined(0)
    return place.built(place.first, keys=place.trees(ids))


def _event_time(place: NodeContext) -> Built:
    match = required(re.search(r"(?:^|, )([^,]+?#\d+)", place.text), "no column of the event time")
    mark = place.reader.marks.column_at(match.start(1), place.columns)
    ids = [int(mark[1])] if mark else []
    return place.built(place.first, eventTime=place.trees(ids))


def _window(place: NodeContext) -> Built:
    items, _ = named_list(place.reader, 0)
    output = [*place.first, *(item.expr_id for item in items)]
    return place.built(output, windowExpressions=[item.tree for item in items])


_OBSERVATION = re.compile(rf"({OF_CHECKS}\w+), (?=\[)")


def _collect_metrics(place: NodeContext) -> Built:
    """A check of ours has its numbers, and only their columns matter; no other observation has."""
    match = _OBSERVATION.match(place.text)
    if not match:
        return place.built(place.first)
    known = len(place.reader.problems)
    try:
        items, _ = named_list(place.reader, match.end())
    except UnreadablePlanError:
        return place.built(place.first, name=match[1])
    finally:
        # Lineage does not need them.
        del place.reader.problems[known:]
    return place.built(place.first, name=match[1], metrics=[item.tree for item in items])


def _sample(place: NodeContext) -> Built:
    match = required(re.search(r", (true|false), ", place.text), "no kind of sample")
    return place.built(place.first, withReplacement=match[1] == "true")


_JOIN = re.compile(r"(?:Using|Natural)?(\w+)(?:\((.*?)#(\d+)L?\))?(?:, |$)")


def _join(place: NodeContext) -> Built:
    match = required(_JOIN.match(place.text), "no kind of join")
    kind, exists = match[1], match[3]
    join_type: dict[str, Any] = {"object": f"{_PLANS}{kind}$"}
    output = place.first if kind in ("LeftSemi", "LeftAnti") else place.below
    if kind == "ExistenceJoin" and exists:
        place.columns.define(int(exists), match[2], "boolean")
        join_type = {"product-class": _PLANS + kind, "exists": place.columns.tree(int(exists))}
        output = [*place.first, int(exists)]
    fields = {}
    rest = match.end()
    if rest < len(place.text) and not place.text.startswith(("leftHint=", "rightHint="), rest):
        fields["condition"] = condition(place.reader, rest, ", leftHint=", ", rightHint=", END)[0]
    return place.built(output, joinType=join_type, **fields)


def _as_of_join(place: NodeContext) -> Built:
    kinds = list(re.finditer(r", (Inner|LeftOuter)(?=, |$)", place.text))
    if len(kinds) != 1:
        raise UnreadablePlanError("no kind of join")
    fields: dict[str, Any] = {"joinType": {"object": f"{_PLANS}{kinds[0][1]}$"}}
    fields["asOfCondition"], end = condition(place.reader, 0, kinds[0][0])
    # All other columns that it compares.
    fields["condition"] = everything_named(place.reader, end, len(place.text))
    return place.built(place.below, **fields)


def _lateral_join(place: NodeContext) -> Built:
    value = place.reader.whole(0, (", ",))
    kind = re.compile(r", (\w+)(?:, |$)").match(place.text, value.end)
    if not kind or "plan" not in value.tree[0]:
        raise UnreadablePlanError("no lateral subquery")
    fields = {}
    if kind.end() < len(place.text):
        fields["condition"] = condition(place.reader, kind.end())[0]
    output = [*place.first, *place.inner[0].output]
    return place.built(output, right=value.tree, joinType={"object": f"{_PLANS}{kind[1]}$"}, **fields)


_BEHIND_GENERATOR = re.compile(r", (?:\[[^\[\]]*\], )?(?:true|false), (?:\w+, )?\[[^\[\]]*\]$")


def _generator(place: NodeContext) -> ReadExpression:
    """Return the generator; if it cannot be read, a function of the columns that it names."""
    try:
        value = place.reader.whole(0, (", ",))
    except UnreadablePlanError:
        behind = _BEHIND_GENERATOR.search(place.text)
        if not behind:
            raise
        place.reader.problems.append(of_explained.UNREAD_EXPRESSION(what="its generator"))
        return ReadExpression(
            everything_named(place.reader, 0, behind.start()), types.closed(), behind.start()
        )
    if value.is_literal:
        raise UnreadablePlanError("no generator")
    return value


def _generate(place: NodeContext) -> Built:
    value = _generator(place)
    # The qualifier may be between the flag and the columns.
    for match in re.finditer(r", (?=\[)", place.text[value.end :]):
        try:
            ids, end = place.defined(value.end + match.end())
        except UnreadablePlanError:
            continue
        if end == len(place.text):
            of_elements = element(value.kind)
            if ids and len(value.tree) > 1:
                last = place.columns
                last.kinds[ids[-1]] = (
                    value.kind if len(ids) == 1 or of_elements is value.kind else of_elements
                )
                _spread(place, value.tree, value.kind, ids)
            output = [*place.first, *ids]
            return place.built(output, generator=value.tree, generatorOutput=place.trees(ids))
    raise UnreadablePlanError("no columns of the generator")


def _spread(place: NodeContext, generator: Tree, kind: types.Type, ids: list[int]) -> None:
    """Set the types of a generator's columns, if its argument's type has them."""
    kinds = place.columns.kinds
    name = generator[0]["class"].rpartition(".")[2]
    if name == "Explode" and len(ids) == 1:
        kinds[ids[0]] = kind
    elif name == "PosExplode" and len(ids) == 2:
        kinds[ids[0]] = "int"
        kinds[ids[1]] = element(kind)
    elif name == "Inline" and isinstance(kind := element(kind), dict) and types.is_known(kind):
        for expr_id, member in zip(ids, kind.get("fields", ()), strict=False):
            kinds[expr_id] = member["type"]
    else:
        for expr_id in ids:
            kinds[expr_id] = types.unknown()


def _expand(place: NodeContext) -> Built:
    reader, position = place.reader, 1
    projections: list[list[Tree]] = []
    while reader.text.startswith("[", position):
        values, position = reader.several(position + 1, ", ", "]")
        projections.append([value.tree for value in values])
        if reader.text.startswith("], ", position):
            break
        position = reader.expect(position, ", ")
    ids, _ = place.defined(reader.expect(position, "], "))
    if any(len(projection) != len(ids) for projection in projections):
        raise UnreadablePlanError("projections of other widths")
    return place.built(ids, projections=projections, output=place.trees(ids))


def _union(place: NodeContext) -> Built:
    kinds = place.columns.kinds
    sides = [child.output for child in place.children]
    if len({len(side) for side in sides}) != 1:
        raise UnreadablePlanError("inputs of other widths")
    for column in zip(*sides, strict=True):
        kinds[column[0]] = types.common([kinds[expr_id] for expr_id in column])
    return place.built(place.first)


def _with_cte(place: NodeContext) -> Built:
    return Built(
        place.built([], plan=len(place.children) - 1).tree,
        place.children[-1].output if place.children else [],
    )


def _definition(place: NodeContext) -> Built:
    number = int(required(re.match(r"\d+", place.text), "no id of a definition")[0])
    place.state.definitions[number] = place.first
    return place.built(place.first, id=number)


def _reference(field: str) -> NodeReader:
    def row(place: NodeContext) -> Built:
        match = required(re.match(r"\d+", place.text), "no id of a definition")
        bracket = place.text.find("[")
        ids = place.defined(bracket)[0] if bracket >= 0 else []
        of_definition = place.state.definitions.get(int(match[0]), [])
        kinds = place.columns.kinds
        for expr_id, origin in zip(ids, of_definition, strict=False):
            kinds[expr_id] = kinds.get(origin, types.unknown())
        return place.built(ids, output=place.trees(ids), **{field: int(match[0])})

    return row


def _loop(place: NodeContext) -> Built:
    """A recursive CTE. Only the other plans of the text name its columns, which are in `loops`."""
    match = required(re.match(r"\d+", place.text), "no id of a definition")
    columns = place.columns
    names = [columns.names[expr_id] for expr_id in place.first]
    for loop in place.state.loops:
        if len(loop) == len(names) and all(
            name in known for (_, name), known in zip(loop, names, strict=True)
        ):
            break
    else:
        raise UnreadablePlanError("its columns are not named")
    place.state.loops.remove(loop)
    for expr_id, name in loop:
        columns.define(expr_id, name, types.closed())
    output = [expr_id for expr_id, _ in loop]
    return place.built(output, id=int(match[0]), outputAttrIds=[{"id": expr_id} for expr_id in output])


def _numbered(place: NodeContext) -> Built:
    """`AttachDistributedSequence[number#1L, a#2] Index: number#1L`."""
    ids, _ = place.defined(0)
    return place.built(ids, sequenceAttr=place.trees(ids[:1]))


_HOLDS_OTHERS = re.compile(r"#\d+L?,")
"""If a list was read with the wrong separator, its names contain other columns."""


def unknown(place: NodeContext) -> Built:
    """Keep the columns of all inputs; new columns in lists of the arguments have unknown sources."""
    known = set(place.columns.names)
    names = place.columns.names
    lists = [
        ids
        for ids in place.lists()
        if not any(_HOLDS_OTHERS.search(name) for expr_id in ids for name in names[expr_id])
    ]
    added = dict.fromkeys(expr_id for ids in lists for expr_id in ids if expr_id not in known)
    fields: dict[str, Any] = {UNTRACED: place.trees([*added])} if added else {}
    for number, plan in enumerate(place.inner):
        fields[f"plan {number}"] = plan.tree
    return place.built([*place.below, *added], **fields)


NODES: dict[str, NodeReader] = {
    **LEAVES,
    "Aggregate": _aggregate,
    "AttachDistributedSequence": _numbered,
    "AsOfJoin": _as_of_join,
    "CTERelationDef": _definition,
    "CTERelationRef": _reference("cteId"),
    "CollectMetrics": _collect_metrics,
    "Deduplicate": _keys,
    "DeduplicateWithinWatermark": _keys,
    "EventTimeWatermark": _event_time,
    "Expand": _expand,
    "Filter": _filter,
    "Generate": _generate,
    "GlobalLimit": _limit("limitExpr"),
    "Join": _join,
    "LateralJoin": _lateral_join,
    "LocalLimit": _limit("limitExpr"),
    "Offset": _limit("offsetExpr"),
    "Project": _project,
    "Sample": _sample,
    "Sort": _sort,
    "Tail": _limit("limitExpr"),
    "Union": _union,
    "UnionLoop": _loop,
    "UnionLoopRef": _reference("loopId"),
    "Window": _window,
    "WithCTE": _with_cte,
    **dict.fromkeys(
        """
        DataFrameDropColumns Distinct Except ExceptAll Intersect IntersectAll LimitAll PipeOperator
        RebalancePartitions Repartition RepartitionByExpression ResolvedHint ReturnAnswer SQLFunctionNode
        Subquery SubqueryAlias TypedFilter View WindowGroupLimit
        """.split(),
        _pass,
    ),
}
"""Name that Spark prints -> row. A node without a row goes to `unknown`."""

CLASSES = {"ExceptAll": "Except", "IntersectAll": "Intersect"}
"""Name that Spark prints -> class, if they differ."""
