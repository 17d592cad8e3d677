"""Completion of the leaves of an explained plan: locations of tables, paths of files, types of columns.

The text of a plan has paths only for scans that Spark planned as file scans, and it lacks most types. The
client therefore requested the schema of the files that its plan reads, and descriptions of the tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from airflow_provider_spark_lineage.spark.plan.connect.tables import facts_of, is_described, name_of, parts_of
from airflow_provider_spark_lineage.spark.plan.spark.explain.built import Relation
from airflow_provider_spark_lineage.spark.plan.spark.explain.facts import before_wildcard, given_fact
from airflow_provider_spark_lineage.spark.plan.spark.tree import type_name
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, simple_name

Fact = dict[str, Any]
Connect = Mapping[str, Any]


def completed(
    tree: Tree,
    facts: Sequence[Fact],
    relations: Sequence[Relation],
    connect: Connect,
    settings: Mapping[str, str],
) -> tuple[Tree, list[Fact]]:
    """Return the tree with the types of its leaves, and the facts completed for tables and files."""
    entries = [{**fact, "probed": dict(fact["probed"])} for fact in facts]
    by_leaf = {(fact["node"], fact["expr_id"]): fact for fact in entries if fact["expr_id"] is not None}
    types: dict[int, Any] = {}
    for relation in relations:
        if not relation.output:
            continue
        key = (relation.node, relation.output[0][0])
        known = by_leaf[key]["probed"] if key in by_leaf else {}
        more, columns = _about(relation, known, connect, settings)
        if more and key not in by_leaf:
            by_leaf[key] = {"node": key[0], "expr_id": key[1], "probed": {}}
            entries.append(by_leaf[key])
        if more:
            by_leaf[key]["probed"].update(more)
        types.update((expr_id, columns[name]) for expr_id, name in relation.output if name in columns)
    if connect.get("has_rows"):
        entries.extend(_rows_of_program(tree))
    return _typed(tree, types), entries


def _rows_of_program(tree: Tree) -> Iterator[Fact]:
    """Yield the facts of listed rows: the program may have sent them, which the text does not show."""
    for node in tree:
        if simple_name(str(node.get("class"))) == "LocalRelation" and node.get("output"):
            (first, *_) = node["output"]
            expr_id = first[0]["exprId"]["id"]
            yield {"node": "LocalRelation", "expr_id": expr_id, "relation": "", "probed": {"in_sql": False}}


def _about(
    relation: Relation, known: Fact, connect: Connect, settings: Mapping[str, str]
) -> tuple[Fact, Mapping[str, Any]]:
    """Return the facts of a relation that are not in its text, and the types of its columns by name."""
    table = _table_of(relation, connect)
    if table is not None:
        more = facts_of(table, settings)
        if known.get("paths"):
            more.pop("paths", None)
        return more, dict(table.get("columns") or ())
    reads = [*(connect.get("reads") or ()), *(connect.get("views") or ())]
    for read in reads:
        if known.get("paths") and _is_read_of(known["paths"], read.get("paths") or ()):
            patterns = {"patterns": read["paths"]} if any(map(before_wildcard, read["paths"])) else {}
            return patterns, _schema(read)
    if known.get("paths") or relation.table:
        return {}, {}
    candidates = [read for read in reads if _may_be(relation, read)]
    places = {json.dumps([read.get("paths"), read.get("options")], sort_keys=True) for read in candidates}
    if len(places) != 1:
        return {}, {}
    return _facts_of_read(candidates[0], relation), _schema(candidates[0])


def _table_of(relation: Relation, connect: Connect) -> Mapping[str, Any] | None:
    """Return the description of a relation's table; None if there is none."""
    name = relation.table or (
        relation.text.rsplit(" ", 1)[-1] if relation.node.startswith("DataSourceV2") else ""
    )
    parts = [part.lower() for part in parts_of(name)]
    if not parts:
        return None
    for table in (connect.get("tables") or {}).values():
        if is_described(table):
            full = [part.lower() for part in name_of(table)]
            if parts in (full, full[1:]):
                return dict(table)
    return None


def _is_read_of(paths: Any, read: Sequence[str]) -> bool:
    """Return whether all paths of a scan are paths of a read, below them, or matched by them."""
    listed = [paths] if isinstance(paths, str) else paths
    beginnings = [before_wildcard(root) or root.rstrip("/") + "/" for root in read]
    return bool(read) and all((path + "/").startswith(tuple(beginnings)) for path in listed)


def _schema(read: Mapping[str, Any]) -> dict[str, Any]:
    fields = json.loads(read.get("schema") or "{}").get("fields") or ()
    return {field["name"]: field["type"] for field in fields}


_RELATIONS = {"jdbc": "JDBCRelation(", "kafka": "KafkaRelation("}
"""Format -> the beginning of the text of its relation."""


def _may_be(relation: Relation, read: Mapping[str, Any]) -> bool:
    """Return whether a relation has the format and the columns of a read."""
    source = str(read.get("format") or "")
    printed = _RELATIONS.get(source)
    if relation.view.replace("`", "").lower() != str(read.get("view") or ""):
        return False
    is_format = relation.text.startswith(printed) if printed else relation.text.lower() == source
    return is_format and list(_schema(read)) == [name for _, name in relation.output]


def _facts_of_read(read: Mapping[str, Any], relation: Relation) -> Fact:
    """Return the facts of the relation of a read."""
    source = str(read.get("format") or "")
    options = dict(read.get("options") or {})
    if source == "jdbc":
        names = ("url", "dbtable", "query")
        facts = {name: options[name] for name in ("url", "dbtable") if options.get(name)}
        return {**facts, "options": options, "scan": relation.text} if any(map(options.get, names)) else {}
    if source == "kafka":
        return {"options": options}
    paths = list(read.get("paths") or ())
    if source == "delta":
        return {"delta_path": paths[0]} if len(paths) == 1 else {}
    return {given_fact(paths): paths, "format": source} if paths else {}


def _typed(tree: Any, types: Mapping[int, Any]) -> Any:
    """Return the tree with the known types in its references to columns."""
    if isinstance(tree, list):
        return [_typed(item, types) for item in tree]
    if not isinstance(tree, dict):
        return tree
    typed = {
        name: _typed(item, types) if isinstance(item, list | dict) and name != "dataType" else item
        for name, item in tree.items()
    }
    expr_id = tree.get("exprId")
    if isinstance(expr_id, dict) and simple_name(str(tree.get("class"))) == "AttributeReference":
        kind = types.get(int(expr_id["id"]))
        if kind is not None and (not typed.get("dataType") or "partial" in str(typed["dataType"])):
            typed["dataType"] = type_name(kind)
    return typed
