"""The commands of a Spark Connect client as nodes of Spark's plan JSON, with the facts of their targets.

The table has one row for each kind. A node is put on top of the plan of the rows that it writes, as in the
plan of the same command in a classic session, so later steps read both in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.connect.statements import created
from airflow_provider_spark_lineage.spark.plan.connect.tables import (
    FILES,
    facts_of,
    is_described,
    is_v1,
    parts_of,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.facts import settings_facts

_NOOP = "org.apache.spark.sql.execution.datasources.noop.NoopTable"


@dataclass(frozen=True)
class Target:
    """The target of a command."""

    node: str
    """Simple class name of the command's node in a classic session; empty if nothing is written."""

    facts: dict[str, Any] = field(default_factory=dict)

    columns: Sequence[Sequence[str]] = ()
    """Name and type of the table's columns, if the rows' columns are matched by position."""

    problems: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class About:
    """The recorded context of a command."""

    tables: Mapping[str, Any]
    """Name as written -> the catalog's description of the table after the command."""

    before: Mapping[str, Any]
    """Table descriptions from before the command, if they were requested."""

    settings: Mapping[str, str]


TargetReader = Callable[[Mapping[str, Any], About], Target]

_NOTHING = Target("")


def target_of(connect: Mapping[str, Any], settings: Mapping[str, str]) -> Target:
    """Return the target of the recorded command."""
    command = connect.get("command") or {}
    row = COMMANDS.get(str(command.get("kind") or ""))
    about = About(connect.get("tables") or {}, connect.get("before") or {}, settings)
    # A checkpoint writes nothing.
    return row(command, about) if row else _NOTHING


def _write(command: Mapping[str, Any], about: About) -> Target:
    """Return the target of `df.write`: a table, a path, or the dataset that the options name."""
    if command.get("table"):
        return _to_table(command, about)
    source = _format(command, about)
    options = command.get("options") or {}
    mode = str(command.get("mode") or "ErrorIfExists")
    path = str(command.get("path") or options.get("path") or "")
    if mode == "Ignore" and command.get("existed"):
        return _NOTHING
    partitions = list(command.get("partition_by") or ())
    facts: dict[str, Any] = {"mode": mode, "partition_columns": partitions}
    if mode == "Append" and command.get("existed") is False:
        facts["existed"] = False
    if source in FILES and path:
        facts |= {"paths": path, "format": source, **settings_facts(about.settings)}
        facts["dynamic_partitions"] = bool(partitions) and _is_dynamic(command, mode, about)
        return Target("InsertIntoHadoopFsRelationCommand", facts)
    if source == "delta" and path:
        facts |= {"delta_path": path, **_replaced(command, mode, about)}
        if not partitions:
            # An existing table has its own partition columns, which are not known from the path.
            del facts["partition_columns"]
        return Target("SaveIntoDataSourceCommand", facts)
    if source == "noop":
        return Target("AppendData", {"provider": _NOOP})
    if path:
        options = {**options, "path": path}
    facts |= {"options": options}
    if source == "kafka":
        facts["writes"] = "SaveIntoDataSourceCommand"
    elif source != "jdbc":
        facts["relation_class"] = source
    return Target("SaveIntoDataSourceCommand", facts)


def _replaced(command: Mapping[str, Any], mode: str, about: About) -> dict[str, Any]:
    """Return the recorded facts of the rows that an overwrite of a Delta table replaces."""
    facts = dict(command.get("replaces") or {})
    if _is_dynamic(command, mode, about):
        facts["partition_overwrite"] = "dynamic"
    return facts


def _is_dynamic(command: Mapping[str, Any], mode: str, about: About) -> bool:
    """Return whether an overwrite keeps the partitions that get no rows: its option decides, or a setting."""
    option = (command.get("replaces") or {}).get("partition_overwrite")
    setting = about.settings.get("spark.sql.sources.partitionOverwriteMode")
    return mode == "Overwrite" and str(option or setting or "").lower() == "dynamic"


def _format(command: Mapping[str, Any], about: About) -> str:
    given = command.get("format") or about.settings.get("spark.sql.sources.default") or "parquet"
    return str(given).lower()


def _to_table(command: Mapping[str, Any], about: About) -> Target:
    """Return the target of `saveAsTable`, `insertInto`, and `save` of a table by its name."""
    name = str(command["table"])
    table = about.tables.get(name) or {}
    mode = str(command.get("mode") or "ErrorIfExists")
    if mode == "Ignore" and is_described(about.before.get(name)):
        return _NOTHING
    is_insert = bool(command.get("insert"))
    if is_insert:
        mode = "Overwrite" if mode == "Overwrite" else "Append"
    if not is_described(table):
        return _unnamed(name)
    facts = {**facts_of(table, about.settings), "mode": mode}
    if mode == "Append" and not is_insert and name in about.before:
        facts["existed"] = is_described(about.before[name])
    columns = table.get("columns") or ()
    partitions = list(table.get("partition_columns") or ())
    if partitions:
        facts["partition_columns"] = partitions
    if "delta_path" in facts:
        facts |= {"partition_columns": partitions, **_replaced(command, mode, about)}
    if is_v1(table):
        if is_insert and partitions and _is_dynamic(command, mode, about):
            facts["dynamic_partitions"] = True
        return Target("InsertIntoHadoopFsRelationCommand", facts, columns if is_insert else ())
    node = _V2_NODES[mode]
    if is_insert and partitions and _is_dynamic(command, mode, about):
        node = "OverwritePartitionsDynamic"
    return Target(node, {**facts, "mode": node}, columns if is_insert else ())


_V2_NODES = {
    "Append": "AppendData",
    "ErrorIfExists": "CreateTableAsSelect",
    "Ignore": "CreateTableAsSelect",
    "Overwrite": "ReplaceTableAsSelect",
}


def _unnamed(name: str) -> Target:
    """Return the target for a table that the catalog did not describe."""
    problem = of_explained.NOT_DESCRIBED(table=".".join(parts_of(name)))
    return Target("AppendData", {"mode": "AppendData"}, problems=(problem,))


_MODES_V2 = {
    "append": "AppendData",
    "create": "CreateTableAsSelect",
    "create_or_replace": "ReplaceTableAsSelect",
    "overwrite": "OverwritePartitionsDynamic",
    "overwrite_partitions": "OverwritePartitionsDynamic",
    "replace": "ReplaceTableAsSelect",
}


def _write_v2(command: Mapping[str, Any], about: About) -> Target:
    """Return the target of `df.writeTo`."""
    name, mode = str(command["table"]), str(command.get("mode"))
    table = about.tables.get(name) or {}
    if not is_described(table):
        return _unnamed(name)
    node = _MODES_V2.get(mode, "AppendData")
    facts = {**facts_of(table, about.settings), "mode": node}
    if node == "ReplaceTableAsSelect" and name in about.before:
        facts["existed"] = is_described(about.before[name])
    if is_v1(table):
        facts["mode"] = "ErrorIfExists"
        return Target("InsertIntoHadoopFsRelationCommand", facts)
    is_partial = mode == "overwrite"
    problem = of_explained.REPLACED_ROWS()
    return Target(node, facts, problems=(problem,) if is_partial else ())


def _merge(command: Mapping[str, Any], about: About) -> Target:
    """Return the target of `df.mergeInto`; the server does not explain the expressions of its columns."""
    name = str(command["table"])
    table = about.tables.get(name) or {}
    if not is_described(table):
        return _unnamed(name)
    facts = {**facts_of(table, about.settings), "mode": "MergeIntoCommand"}
    problem = of_explained.MERGED_COLUMNS()
    return Target("SaveIntoDataSourceCommand", facts, problems=(problem,))


def _create_table(command: Mapping[str, Any], about: About) -> Target:
    """Return the target of `spark.catalog.createTable`."""
    name = str(command["table"])
    facts = created(about.tables.get(name) or {}, about.before.get(name), about.settings)
    return Target("CreateDataSourceTableCommand", facts)


_NOWHERE = frozenset({"console", "memory", "noop"})
"""Formats of streams that store no rows."""


def _stream(command: Mapping[str, Any], about: About) -> Target:
    """Return the target of `df.writeStream`: a table, a path, or the dataset that the options name.

    Its batches run on the server.
    """
    options = command.get("options") or {}
    path = str(command.get("path") or options.get("path") or "")
    source = _format(command, about)
    facts: dict[str, Any] = {"mode": str(command.get("mode") or "append")}
    if command.get("foreach"):
        problem = of_explained.FUNCTION_FOR_BATCHES()
        return Target("", problems=(problem,))
    if command.get("table"):
        name = str(command["table"])
        table = about.tables.get(name) or {}
        if not is_described(table):
            return _unnamed(name)
        if name in about.before and not is_described(about.before[name]):
            facts["mode"] = "ErrorIfExists"
        node = "WriteToMicroBatchDataSourceV1" if is_v1(table) else "WriteToMicroBatchDataSource"
        return Target(node, {**facts_of(table, about.settings), **facts})
    if source in _NOWHERE:
        return _NOTHING
    if source == "delta":
        return Target("WriteToMicroBatchDataSourceV1", {**facts, "delta_path": path})
    if source in FILES:
        facts |= {"paths": path, "format": source, **settings_facts(about.settings)}
        return Target("WriteToMicroBatchDataSourceV1", facts)
    facts |= {
        "options": {**options, "path": path} if path else options,
        "writes": "WriteToMicroBatchDataSource",
    }
    if source != "kafka":
        facts["provider"] = source
    return Target("WriteToMicroBatchDataSource", facts)


COMMANDS: dict[str, TargetReader] = {
    "create_table": _create_table,
    "stream": _stream,
    "write": _write,
    "write_v2": _write_v2,
    "merge": _merge,
}
