"""Reader of a Spark Connect record: the explained plan, completed with the client's requests about it.

It is a pure function of the record's fields. Its tree and facts have the form of a classic session's record.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.plan.algebra import Attribute
from airflow_provider_spark_lineage.plan.connect.commands import Target, target_of
from airflow_provider_spark_lineage.plan.connect.header import schema_json, schema_of
from airflow_provider_spark_lineage.plan.connect.leaves import completed
from airflow_provider_spark_lineage.plan.connect.statements import DIRECTORIES, with_targets
from airflow_provider_spark_lineage.plan.connect.tables import is_described
from airflow_provider_spark_lineage.plan.database_sql.functions import Body, read_body
from airflow_provider_spark_lineage.plan.spark.explain import Explained, read_explain
from airflow_provider_spark_lineage.plan.spark.reader import read_plan
from airflow_provider_spark_lineage.records.plan_json import Tree, simple_name

_COMMAND = "org.apache.spark.sql.execution.command."
_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_EXPRESSION = "org.apache.spark.sql.catalyst.expressions."

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
    problems = [*_remaining(own or explained.problems, connect), *target.problems]
    if connect.get("result"):
        tree = _stored(tree, read_explain(str(connect["result"]), settings).plan)
    if not target.node:
        return Explained(tree, facts, problems)
    rows = list(_rows(tree, target))
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


def _rows(tree: Tree, target: Target) -> Iterator[dict[str, Any]]:
    """Yield the plan of the written rows, with the table's names and types of columns."""
    output = _output(tree) if tree and target.columns else ()
    if output and len(output) == len(target.columns):
        columns = [
            _as(column, name, kind, _NEW_IDS + position)
            for position, (column, (name, kind)) in enumerate(zip(output, target.columns, strict=True))
        ]
        yield {"class": _LOGICAL + "Project", "num-children": 1, "projectList": columns, "child": 0}
    yield from tree


def _as(column: Attribute, name: str, kind: str, expr_id: int) -> Tree:
    """Return a column under a table's name, cast to the table's type if that differs."""
    alias = {
        "class": _EXPRESSION + "Alias",
        "num-children": 1,
        "child": 0,
        "name": name,
        "exprId": {"id": expr_id},
    }
    cast = {"class": _EXPRESSION + "Cast", "num-children": 1, "child": 0, "dataType": kind}
    reference = {
        "class": _EXPRESSION + "AttributeReference",
        "num-children": 0,
        "name": column.name,
        "dataType": column.type or kind,
        "nullable": True,
        "exprId": {"id": column.id},
    }
    changes = bool(column.type) and column.type != kind
    return [alias, *([cast] if changes else []), reference]


def _with_ids(tree: Tree) -> Tree:
    """Return the plan with the column of each Range: the text has it only if another node uses it."""
    column = {
        "class": _EXPRESSION + "AttributeReference",
        "num-children": 0,
        "name": "id",
        "dataType": "bigint",
        "nullable": False,
    }
    return [
        {**node, "output": [[{**column, "exprId": {"id": _NEW_IDS - 1 - position}}]]}
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


_NO_PLACE = "the location of its table is not in the text"


def _remaining(problems: list[str], connect: Mapping[str, Any]) -> list[str]:
    """Return the problems of the text that the descriptions of its tables do not solve."""
    if connect.get("directory"):
        return [problem for problem in problems if not any(f"{name}: " in problem for name in DIRECTORIES)]
    known = [*(connect.get("tables") or {}).values(), *(connect.get("before") or {}).values()]
    if not any(map(is_described, known)):
        return problems
    return [problem for problem in problems if not problem.endswith(_NO_PLACE)]


def _named_by_view(tree: Tree, connect: Mapping[str, Any]) -> Tree:
    """Return the plan of a view's creation with the view's names of columns."""
    names = connect.get("targets") or ()
    if not tree or simple_name(str(tree[0]["class"])) not in ("CreateViewCommand", "AlterViewAsCommand"):
        return tree
    view = (connect.get("tables") or {}).get(names[0]) if names else None
    query = tree[0].get("query")
    if not query or not view:
        return tree
    rows = list(_rows(query, Target("", columns=view.get("columns") or ())))
    return [{**tree[0], "query": rows}, *tree[1:]]


def _stored(tree: Tree, result: Tree) -> Tree:
    """Return a plan with the column ids of its stored result: later plans refer to these ids."""
    columns, stored = _output(tree) if tree else (), _output(result) if result else ()
    if not columns or len(columns) != len(stored):
        return tree
    renamed = [
        _as(column, column.name, column.type, to.id) for column, to in zip(columns, stored, strict=True)
    ]
    return [{"class": _LOGICAL + "Project", "num-children": 1, "projectList": renamed, "child": 0}, *tree]


def _output(tree: Tree) -> tuple[Attribute, ...]:
    """Return the columns of a plan."""
    return read_plan(tree).nodes[-1].output
