"""Facts of the tables that an SQL statement creates, changes or drops, described before and after it ran.

The text of a statement's plan names its table, but rarely has the location of the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.spark.plan.connect.tables import facts_of, is_described, name_of, parts_of
from airflow_provider_spark_lineage.spark.plan.connect.text import schema_json
from airflow_provider_spark_lineage.spark.plan.spark.explain.facts import settings_facts
from airflow_provider_spark_lineage.spark.records.plan_json import simple_name

Fact = dict[str, Any]
Described = Mapping[str, Any]

_DROPS = frozenset({"DropTable", "DropTableCommand", "DropView"})
_CREATES = frozenset(
    """
    CreateDataSourceTableCommand CreateTable CreateTableCommand CreateTableLike CreateTableLikeCommand
    ReplaceTable
    """.split()
)
_RENAMES = frozenset({"AlterTableRenameCommand", "RenameTable"})
DIRECTORIES = frozenset({"InsertIntoDataSourceDirCommand", "InsertIntoHiveDirCommand"})
_MOVES = "AlterTableSetLocationCommand"
_CHANGES = frozenset(
    {_MOVES, "AnalyzeColumnCommand", "AnalyzePartitionCommand", "AnalyzeTableCommand", "TruncateTableCommand"}
)
_VIEWS = frozenset({"AlterViewAsCommand", "CreateViewCommand"})


def with_targets(
    tree: list[dict[str, Any]], facts: list[Fact], connect: Mapping[str, Any], settings: Mapping[str, str]
) -> list[Fact]:
    """Return the facts completed for the tables that a statement names."""
    root = simple_name(str(tree[0]["class"])) if tree else ""
    targets = [fact for fact in facts if fact["expr_id"] is None]
    others = [fact for fact in facts if fact["expr_id"] is not None]
    directory = connect.get("directory")
    if directory and root in DIRECTORIES:
        place = {"location": _uri(directory["path"]), "directory": directory["path"]}
        probed = {**place, "format": directory["format"], "overwrite": True, **settings_facts(settings)}
        return [_target(root, probed), *others]
    names = [str(name) for name in connect.get("targets") or ()]
    if not root or not names or connect.get("command"):
        return facts
    after = {name: (connect.get("tables") or {}).get(name) or {} for name in names}
    before = {name: (connect.get("before") or {}).get(name) for name in names}
    if root in _DROPS:
        return [_target(root, _dropped(names[0], before[names[0]], settings)), *others]
    if root in _CREATES:
        return [_target(root, created(after[names[0]], before[names[0]], settings)), *others]
    if root in _RENAMES:
        new = next((name for name in names if is_described(after[name])), names[-1])
        return [_target(root, _renamed(after[new], before[names[0]], settings)), *others]
    if root in _VIEWS:
        return [*(_viewed(fact, after[names[0]], before[names[0]], settings) for fact in targets), *others]
    if not targets or root in _CHANGES:
        probed = _changed(after[names[0]], settings)
        if connect.get("is_of_partition"):
            probed["partitions"] = 1
        if root == _MOVES:
            probed["command"] = root
        return [_target(root, probed), *others]
    return [*(_written(fact, after, before, settings) for fact in targets), *others]


def _target(node: str, probed: Fact) -> Fact:
    return {"node": node, "expr_id": None, "relation": "", "probed": probed}


def _dropped(name: str, table: Described | None, settings: Mapping[str, str]) -> Fact:
    """Return the facts of a DROP: the table as it was."""
    if table is None:
        return {"table": parts_of(name)}
    if not is_described(table):
        return {"existed": False, "table": parts_of(name)}
    return {**_of_command(table, settings), "existed": True, "is_view": table.get("type") == "VIEW"}


def created(table: Described, before: Described | None, settings: Mapping[str, str]) -> Fact:
    """Return the facts of a CREATE without a query."""
    facts = _changed(table, settings)
    return facts if before is None else {**facts, "existed": is_described(before)}


def _changed(table: Described, settings: Mapping[str, str]) -> Fact:
    """Return the facts of ALTER, TRUNCATE and similar: the table as it is now."""
    if not is_described(table):
        return {}
    return {**_of_command(table, settings), "schema": schema_json(table.get("columns") or ())}


def _renamed(table: Described, before: Described | None, settings: Mapping[str, str]) -> Fact:
    """Return the facts of RENAME: if the catalog chose the table's location, the data move with the name."""
    facts = _changed(table, settings)
    if is_described(before) and before is not None:
        facts["previous_table"] = name_of(before)
        facts["is_view"] = before.get("type") == "VIEW"
        if before.get("location") != table.get("location"):
            facts["default_location"] = facts.get("location")
            facts["previous_location"] = _uri(before.get("location"))
    return facts


def _viewed(fact: Fact, view: Described, before: Described | None, settings: Mapping[str, str]) -> Fact:
    """Return the facts of a stored view, with its name in the catalog."""
    probed = {**fact["probed"]}
    if is_described(view):
        probed["view"] = name_of(view)
        probed |= {name: value for name, value in facts_of(view, settings).items() if name != "table_type"}
    if before is not None:
        probed["existed"] = is_described(before)
    return {**fact, "probed": probed}


def _written(
    fact: Fact,
    after: Mapping[str, Described],
    before: Mapping[str, Described | None],
    settings: Mapping[str, str],
) -> Fact:
    """Return the facts of a write: of the table that the plan names, or of the statement's only table.

    A FROM with several INSERTs may also write directories.
    """
    probed = fact["probed"]
    if fact["node"] in DIRECTORIES:
        return fact
    written = [part.lower() for part in probed.get("table") or parts_of(str(probed.get("v2_table") or ""))]
    for name, table in after.items():
        if not is_described(table):
            continue
        full = [part.lower() for part in name_of(table)]
        if written in (full, full[1:]) or (not written and len(after) == 1):
            known = facts_of(table, settings)
            if probed.get("paths"):
                known.pop("paths", None)
            facts = {**known, **probed, **({"table": name_of(table)} if "table" in known else {})}
            if before.get(name) is not None:
                facts["existed"] = is_described(before[name])
            if table.get("partition_columns"):
                facts.setdefault("partition_columns", list(table["partition_columns"]))
            elif table.get("columns"):
                facts.setdefault("schema", schema_json(table["columns"]))
            return {**fact, "probed": facts}
    return fact


def _of_command(table: Described, settings: Mapping[str, str]) -> Fact:
    """Return the facts of a command's table; its location is a URI, as in the catalog."""
    facts = facts_of(table, settings)
    if "paths" in facts:
        facts["location"] = _uri(facts.pop("paths"))
    return facts


def _uri(location: Any) -> Any:
    return location.replace("%", "%25") if isinstance(location, str) else location
