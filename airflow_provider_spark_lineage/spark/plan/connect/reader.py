"""Reader of a Spark Connect record: the explained plan, completed with the client's requests about it.

It is a pure function of the record's fields. Its tree and facts have the form of a classic session's record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.plan.algebra import Attribute
from airflow_provider_spark_lineage.spark.plan.connect.commands import Target, target_of
from airflow_provider_spark_lineage.spark.plan.connect.leaves import completed
from airflow_provider_spark_lineage.spark.plan.connect.statements import DIRECTORIES, with_targets
from airflow_provider_spark_lineage.spark.plan.connect.tables import is_described
from airflow_provider_spark_lineage.spark.plan.connect.text import schema_json, schema_of
from airflow_provider_spark_lineage.spark.plan.database_sql.functions import Body, read_body
from airflow_provider_spark_lineage.spark.plan.spark.explain import Explained, read_explain
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import reference
from airflow_provider_spark_lineage.spark.plan.spark.explain.functions import call
from airflow_provider_spark_lineage.spark.plan.spark.explain.items import alias
from airflow_provider_spark_lineage.spark.plan.spark.reader import read_plan
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, simple_name

_COMMAND = "org.apache.spark.sql.execution.command."
_PROJECT = "org.apache.spark.sql.catalyst.plans.logical.Project"

_NEW_IDS = 1_000_000_000
"""First id of columns that are not in the explained plan."""


def read_connect(
    explained: Explained, text: str, connect: Mapping[str, Any], settings: Mapping[str, str]
) -> Explained:
    """Complete an explained plan, read from `text`, and its facts, and put the client's command on top."""
    tree, facts = completed(explained.plan, explained.facts, explained.relations, connect, settings)
    tree = _into_directory(_with_ids(tree), connect)
    facts = with_targets(tree, facts, connect, settings)
    tree = _named_by_view(tree, connect)
    target = target_of(connect, settings)
    own = explained.doubts if target.node else explained.problems
    problems = [*_remaining(own or explained.problems, explained.nodes, connect), *target.problems]
    if connect.get("result"):
        tree = _stored(tree, read_explain(str(connect["result"]), settings).plan)
    if not target.node:
        return Explained(tree, facts, problems)
    rows = _rows(tree, target)
    node = {"class": _COMMAND + target.node, "num-children": 1 if rows else 0}
    # A table's columns have the types of its description; the rows are cast to these.
    schema = schema_json(target.columns) if target.columns else schema_of(text)
    names = [field["name"] for field in json.loads(schema)["fields"]] if schema else []
    is_whole = names == [column.name for column in _output(rows)] if rows and names else False
    known = {"schema": schema} if is_whole else {}
    fact = {"node": target.node, "expr_id": None, "relation": "", "probed": {**known, **target.facts}}
    return Explained([node, *rows], [fact, *facts], problems)


def bodies_of(connect: Mapping[str, Any]) -> dict[str, Body]:
    """Return the bodies of recorded SQL functions, by their names in the plan."""
    read = {
        str(name): read_body(str(function["body"]), str(function.get("parameters") or ""))
        for name, function in (connect.get("functions") or {}).items()
    }
    return {name: body for name, body in read.items() if body is not None}


def _rows(tree: Tree, target: Target) -> Tree:
    """Return the plan of the written rows, with the table's names and types of columns."""
    output = _output(tree) if target.columns else ()
    if not output or len(output) != len(target.columns):
        return tree
    columns = [
        _as(column, name, kind, _NEW_IDS + position)
        for position, (column, (name, kind)) in enumerate(zip(output, target.columns, strict=True))
    ]
    return [{"class": _PROJECT, "num-children": 1, "projectList": columns}, *tree]


def _as(column: Attribute, name: str, kind: str, expr_id: int) -> Tree:
    """Return a column under a table's name, cast to the table's type if that differs."""
    value = reference(column.id, column.name, column.type or kind)
    if column.type and column.type != kind:
        value = call("Cast", [value])
        value[0]["dataType"] = kind
    return alias(value, expr_id, name).tree


def _with_ids(tree: Tree) -> Tree:
    """Return the plan with the column of each Range: the text has it only if another node uses it."""
    return [
        {**node, "output": [reference(_NEW_IDS - 1 - position, "id", "bigint")]}
        if simple_name(str(node["class"])) == "Range" and not node.get("output")
        else node
        for position, node in enumerate(tree)
    ]


def _into_directory(tree: Tree, connect: Mapping[str, Any]) -> Tree:
    """Return the plan with INSERT OVERWRITE DIRECTORY as a command: the reader of texts does not know it."""
    name = simple_name(str(tree[0]["class"])).rpartition(" ")[2] if tree else ""
    if not connect.get("directory") or name not in DIRECTORIES:
        return tree
    return [{**tree[0], "class": _COMMAND + name}, *tree[1:]]


def _remaining(
    problems: list[Reason], nodes: Mapping[Reason, str], connect: Mapping[str, Any]
) -> list[Reason]:
    """Return the problems of the text that the descriptions of its tables do not solve."""
    if connect.get("directory"):
        return [problem for problem in problems if nodes.get(problem) not in DIRECTORIES]
    known = [*(connect.get("tables") or {}).values(), *(connect.get("before") or {}).values()]
    if not any(map(is_described, known)):
        return problems
    return [problem for problem in problems if problem.kind is not GapKind.UNKNOWN_LOCATION]


def _named_by_view(tree: Tree, connect: Mapping[str, Any]) -> Tree:
    """Return the plan of a view's creation with the view's names of columns."""
    names = connect.get("targets") or ()
    if not tree or simple_name(str(tree[0]["class"])) not in ("CreateViewCommand", "AlterViewAsCommand"):
        return tree
    view = (connect.get("tables") or {}).get(names[0]) if names else None
    query = tree[0].get("query")
    if not query or not view:
        return tree
    rows = _rows(query, Target("", columns=view.get("columns") or ()))
    return [{**tree[0], "query": rows}, *tree[1:]]


def _stored(tree: Tree, result: Tree) -> Tree:
    """Return a plan with the column ids of its stored result: later plans refer to these ids."""
    columns, stored = _output(tree), _output(result)
    if not columns or len(columns) != len(stored):
        return tree
    renamed = [
        _as(column, column.name, column.type, to.id) for column, to in zip(columns, stored, strict=True)
    ]
    return [{"class": _PROJECT, "num-children": 1, "projectList": renamed}, *tree]


def _output(tree: Tree) -> tuple[Attribute, ...]:
    """Return the columns of a plan."""
    return read_plan(tree).root.output if tree else ()
