"""Spark's plan JSON by hand, and a record around it."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.spark.records.record import Record

PLANS = "org.apache.spark.sql.catalyst.plans.logical."
EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
WRITE = "InsertIntoHadoopFsRelationCommand"

Tree = list[dict[str, Any]]


def column(name: str, expr_id: int) -> Tree:
    attribute = {"class": EXPRESSIONS + "AttributeReference", "num-children": 0, "dataType": "long"}
    return [{**attribute, "name": name, "exprId": {"id": expr_id}}]


def alias(name: str, expr_id: int, child: Tree) -> Tree:
    top = {"class": EXPRESSIONS + "Alias", "num-children": 1, "name": name, "exprId": {"id": expr_id}}
    return [top, *child]


def call(name: str, *children: Tree, **fields: Any) -> Tree:
    top = {"class": EXPRESSIONS + name, "num-children": len(children), **fields}
    return [top, *(each for child in children for each in child)]


def subquery(plan: Tree) -> Tree:
    return call("ScalarSubquery", plan=plan)


def node(name: str, *children: Tree, **fields: Any) -> Tree:
    top = {"class": PLANS + name, "num-children": len(children), **fields}
    return [top, *(each for child in children for each in child)]


def scan(*columns: Tree) -> Tree:
    return node("LogicalRelation", output=list(columns))


def project(child: Tree, *expressions: Tree) -> Tree:
    return node("Project", child, projectList=list(expressions))


def equal(left: int, right: int) -> Tree:
    return call("EqualTo", column("left", left), column("right", right))


def record(query: Tree, *places: tuple[int, str], **more: Any) -> Record:
    """An execution that writes the rows of a query.

    `places` are the first column's id and the folder of each scan; if there are none, a scan that begins
    with column 1 reads `/in`.
    """
    given = places or ((1, "file:/in"),)
    scans = [
        {"node": "LogicalRelation", "expr_id": key, "probed": {"paths": [path], "format": "Parquet"}}
        for key, path in given
    ]
    target = {"paths": "file:/out", "format": "Parquet", "mode": "Overwrite"}
    values = {
        "application_id": "local-1",
        "application_name": "by hand",
        "spark_version": "4.1.4",
        "number": 1,
        "name": "command",
        "started_at": "2026-01-01T00:00:00+00:00",
        "ended_at": "2026-01-01T00:00:01+00:00",
        "outcome": "success",
        "plan": node(WRITE, query),
        "facts": [*scans, {"node": WRITE, "expr_id": None, "probed": target}],
    }
    return Record(**{**values, **more})
