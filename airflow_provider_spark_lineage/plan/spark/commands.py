"""How each Spark command reads into the algebra: those that write a query's rows, those that move none."""

from __future__ import annotations

import re

from airflow_provider_spark_lineage.plan.algebra import Assign, Change, Command, Node, Write
from airflow_provider_spark_lineage.plan.spark.expressions import variable_name
from airflow_provider_spark_lineage.plan.spark.relational import Row
from airflow_provider_spark_lineage.plan.spark.step import Step
from airflow_provider_spark_lineage.plan.spark.tree import trees


def _write(step: Step) -> Node:
    """The input's rows go to the target that was probed as the `target`-th of this class."""
    return Write(step.inputs, (), step.label, relation=step.name, target=step.target)


def _moves_nothing(change: Change | None = None) -> Row:
    """A command that moves no rows: what stands below it is not read."""
    return lambda step: Command((), (), step.label, relation=step.name, target=step.target, change=change)


def _assign(step: Step) -> Node:
    """Each column of the input becomes the value of a variable."""
    variables = tuple(variable_name(tree[0]) for tree in trees(step.fields.get("targetVariables")))
    return Assign(step.inputs, (), step.label, variables=variables)


COMMANDS: dict[str, Row] = {
    **dict.fromkeys(
        (
            "InsertIntoHadoopFsRelationCommand",
            "InsertIntoHiveTable",
            "CreateDataSourceTableAsSelectCommand",
            "CreateHiveTableAsSelectCommand",
            "SaveAsV1TableCommand",
            "SaveIntoDataSourceCommand",
            "AppendData",
            "OverwriteByExpression",
            "OverwritePartitionsDynamic",
            "CreateTableAsSelect",
            "ReplaceTableAsSelect",
            "InsertIntoDataSourceCommand",
            "InsertIntoDataSourceDirCommand",
            "InsertIntoHiveDirCommand",
        ),
        _write,
    ),
    **dict.fromkeys(
        (
            "CacheTable",
            "CacheTableAsSelect",
            "CacheTableCommand",
            "ExplainCommand",
            "UncacheTable",
            "UncacheTableCommand",
        ),
        _moves_nothing(),
    ),
    **dict.fromkeys(
        ("CreateDataSourceTableCommand", "CreateTableCommand", "TruncateTableCommand"),
        _moves_nothing(Change.EMPTIED),
    ),
    "SetVariable": _assign,
    **dict.fromkeys(("DropTable", "DropTableCommand"), _moves_nothing(Change.DROPPED)),
}
"""Simple class name -> row. `command_row` knows those that change definitions alone by their names."""

_DEFINES = re.compile(
    r"(Add|Alter|Analyze|Comment|Create|Declare|Describe|Drop|List|Recover|Refresh|Rename|Repair|Replace|Reset|Set"
    r"|Show|Truncate|Unset|Use)[A-Z](?!.*(AsSelect|Data\b|Into))\w*"
)
"""Spark has some two hundred commands that touch definitions and no rows; their verbs tell them."""


def command_row(name: str) -> Row | None:
    """Return how a command reads that has no row of its own; None for what is no such command."""
    return _moves_nothing() if _DEFINES.fullmatch(name) else None
