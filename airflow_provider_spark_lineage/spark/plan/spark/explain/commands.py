"""Readers of the texts of commands without rows: tables, views and variables that they create or drop."""

from __future__ import annotations

import json
import re
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.built import Built, NodeContext, NodeReader
from airflow_provider_spark_lineage.spark.plan.spark.explain.facts import (
    add,
    command,
    over_query,
    resolved_facts,
    session_table,
    settings_facts,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import UnreadablePlanError, required
from airflow_provider_spark_lineage.spark.plan.spark.explain.writes import WRITES


def _on_table(place: NodeContext) -> Built:
    """`CreateDataSourceTableCommand `db`.`t`, false`: the text has the table's name, but not its location."""
    add(place, session_table(place))
    place.problem(of_explained.NO_LOCATION())
    return command(place)


def _on_resolved(place: NodeContext) -> Built:
    """A V2 command over the name of its table."""
    return _on_named(place, resolved_facts(place), {})


def _on_named(place: NodeContext, facts: dict[str, Any], more: dict[str, Any]) -> Built:
    """Return a command on the table with these facts, which are empty if the text does not have its name."""
    add(place, {**facts, **more})
    if not facts:
        place.problem(of_explained.NO_LOCATION())
    return command(place)


_NEW_NAME = re.compile(r"\[([^\[\]]+)\]|((?:`[^`]*`|[^,\s`])+)")


def _rename(place: NodeContext) -> Built:
    """`RenameTable [db, newer], false`; in a physical plan `RenameTable db.newer, ...`."""
    match = required(_NEW_NAME.match(place.text), "no new name")
    parts = match[1].split(", ") if match[1] else re.findall(r"`[^`]*`|[^.`]+", match[2])
    facts = resolved_facts(place)
    new_name = [part.strip("`") for part in parts]
    return _on_named(place, facts, {"new_name": new_name} if facts else {})


def _drop(place: NodeContext) -> Built:
    """`DropTable true, false` over the table's name; the table may not have existed."""
    return _on_named(place, resolved_facts(place), {"if_exists": place.text.startswith("true")})


def _drop_of_session(place: NodeContext) -> Built:
    """`DropTableCommand `db`.`t`, if exists, is view, purge`."""
    match = re.search(r"`, (true|false), (true|false), (true|false)$", place.text)
    facts = session_table(place)
    if match:
        facts.update(if_exists=match[1] == "true", is_view=match[2] == "true")
    add(place, facts)
    return command(place)


def _drop_database(place: NodeContext) -> Built:
    cascade = re.search(r", (true|false)$", place.text)
    facts = {"cascade": True} if cascade and cascade[1] == "true" else {}
    add(place, {**facts, **settings_facts(place.state.settings)})
    return command(place)


def _view(place: NodeContext) -> Built:
    kind = re.search(r", (PersistedView|LocalTempView|GlobalTempView)\b", place.text)
    if place.name == "CreateViewCommand" and not kind:
        raise UnreadablePlanError("no kind of view")
    if kind and kind[1] != "PersistedView":
        return command(place, viewType={"object": f"org.apache.spark.sql.catalyst.analysis.{kind[1]}$"})
    facts = session_table(place)
    if facts:
        facts["view"] = facts.pop("table")
    add(place, {**facts, **_view_columns(place), "mode": place.name})
    return over_query(place)


_OWN_COLUMNS = re.compile(r"`, \[(\(.+?,(?:None|Some\(.*?\))\))\], ")
_OWN_COLUMN = re.compile(r"\((.+?),(?:None|Some\(.*?\))\)(?:, |$)")


def _view_columns(place: NodeContext) -> dict[str, Any]:
    """Return the columns of `create view v (number, total)`; the text is `[(number,None), (total,None)]`."""
    match = _OWN_COLUMNS.search(place.text)
    if not match:
        return {}
    names = _OWN_COLUMN.findall(match[1])
    below = (place.children or place.inner)[-1:]
    output = below[0].output if below else []
    if len(names) != len(output):
        place.problem(of_explained.UNREAD_NAMES())
        return {}
    kinds = (place.columns.kinds.get(column, types.unknown()) for column in output)
    fields = [{"name": name, "type": kind} for name, kind in zip(names, kinds, strict=True)]
    return {"schema": json.dumps({"type": "struct", "fields": fields})}


def _variable(place: NodeContext) -> Built:
    names = [drawn.text for drawn in (*place.drawn.children, *place.drawn.inner)]
    add(place, {"name": names[0] if names else "", "names": names})
    match = re.match(r"defaultvalueexpression\(", place.text)
    value = place.reader.whole(match.end(), (", ",)) if match else None
    return command(place, **({"defaultExpr": value.tree} if value else {}))


def _set_variable(place: NodeContext) -> Built:
    values, _ = place.reader.several(1, ", ", "]")
    return place.built([], targetVariables=[value.tree for value in values])


COMMANDS: dict[str, NodeReader] = {
    **WRITES,
    "AlterViewAsCommand": _view,
    "CreateVariable": _variable,
    "CreateViewCommand": _view,
    "DropDatabaseCommand": _drop_database,
    "DropNamespace": _drop_database,
    "DropTable": _drop,
    "DropTableCommand": _drop_of_session,
    "RenameTable": _rename,
    "SetVariable": _set_variable,
    **dict.fromkeys(
        """
        AlterTableAddColumnsCommand AlterTableAddPartitionCommand AlterTableChangeColumnCommand
        AlterTableDropPartitionCommand AlterTableRenameCommand AlterTableRenamePartitionCommand
        AlterTableSetLocationCommand AnalyzeColumnCommand AnalyzePartitionCommand CreateDataSourceTableCommand
        CreateTableCommand CreateTableLikeCommand LoadDataCommand RepairTableCommand TruncateTableCommand
        """.split(),
        _on_table,
    ),
    **dict.fromkeys(
        """
        AddColumns AlterColumn AlterColumns CreateTable DropColumns RenameColumn ReplaceColumns ReplaceTable
        TruncateTable
        """.split(),
        _on_resolved,
    ),
}
"""Name that Spark prints -> row."""
