"""How each Spark command reads into the algebra: those that write a query's rows, and those that touch no rows."""

from __future__ import annotations

from airflow_provider_spark_lineage.plan.algebra import Constant, Node, Write
from airflow_provider_spark_lineage.plan.spark.relational import Row
from airflow_provider_spark_lineage.plan.spark.step import Step


def _write(step: Step) -> Node:
    """The input's rows go to the target that was probed as the `target`-th of this class."""
    return Write(step.inputs, (), step.label, relation=step.name, target=step.target)


def _nothing(step: Step) -> Node:
    """A command that moves no rows: what stands below it is not read."""
    return Constant((), (), step.label)


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
        ),
        _write,
    ),
    **dict.fromkeys(
        (
            "CreateViewCommand",
            "CreateTempViewUsing",
            "CreateDataSourceTableCommand",
            "CreateTableCommand",
            "CreateTable",
            "CreateNamespace",
            "DropTable",
            "DropTableCommand",
            "DropView",
            "DropTempView",
            "DropTempViewCommand",
            "SetCommand",
            "ResetCommand",
            "SetCatalogAndNamespace",
            "SetNamespaceCommand",
            "ShowTables",
            "ShowTablesCommand",
            "ShowNamespaces",
            "ShowColumnsCommand",
            "ShowCreateTableCommand",
            "ShowPartitionsCommand",
            "DescribeRelation",
            "DescribeTableCommand",
            "DescribeQueryCommand",
            "ExplainCommand",
            "RefreshTable",
            "RefreshTableCommand",
            "CreateFunctionCommand",
            "DropFunctionCommand",
            "AddJarsCommand",
            "AddFilesCommand",
            "CacheTable",
            "CacheTableAsSelect",
            "UncacheTable",
            "UncacheTableCommand",
            "CacheTableCommand",
        ),
        _nothing,
    ),
}
"""Simple class name -> row. A command without one goes to `relational.unknown`, which says so in a gap."""
