"""Readers of Spark's commands into the algebra: commands that write a query's rows, or move no rows."""

from __future__ import annotations

from dataclasses import replace

from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.algebra import (
    Assign,
    Change,
    Command,
    Constant,
    Declare,
    Derive,
    Kind,
    Node,
    Scan,
    Write,
)
from airflow_provider_spark_lineage.spark.plan.spark.expressions import variable_name
from airflow_provider_spark_lineage.spark.plan.spark.row_level import ROW_LEVEL, condition_of, table_of
from airflow_provider_spark_lineage.spark.plan.spark.step import NodeReader, Step
from airflow_provider_spark_lineage.spark.plan.spark.tree import trees
from airflow_provider_spark_lineage.spark.records.plan_json import simple_name


def _write(step: Step) -> Write:
    """Writes a query's rows."""
    # The target's facts are the `target`-th of this class.
    partitions = tuple(column.name for column in step.attributes("partitionColumns"))
    return Write(
        step.inputs,
        (),
        step.label,
        relation=step.name,
        target=step.target,
        inserted=True,
        table=table_of(step.fields),
        partitions=partitions,
    )


def _overwrite(step: Step) -> Node:
    """The input's rows replace the rows that a condition on the table's columns selects."""
    condition = condition_of(step.fields.get("deleteExpr"))
    if condition is None:
        return _write(step)
    (table,) = step.read_plan(step.fields["table"]).nodes
    inputs = (*step.inputs, step.put(table))
    influences = ((Kind.FILTER, step.read(condition)),)
    rows = step.put(Derive(inputs, step.output(), step.label, influences=influences))
    return replace(_write(step), inputs=(rows,), partial=True)


def _overwrite_partitions(step: Step) -> Node:
    """The input's rows replace related rows of the table: of the same partition, for example."""
    return replace(_write(step), partial=True)


def _view(step: Step) -> Node:
    """A persistent view is written from its query; a temporary view is read where it is used."""
    kind = step.fields.get("viewType")
    if isinstance(kind, dict) and simple_name(str(kind.get("object"))) != "PersistedView":
        return Command((), (), step.label, relation=step.name, target=step.target)
    return _write(step)


def _copy(step: Step) -> Node:
    """A table gets the rows of another table, or of an earlier version of itself."""
    if not step.is_root:
        # Delta creates a table with a command around the copy.
        return Constant((), (), step.label)
    return Write((), (), step.label, relation=step.name, target=step.target, copied=True)


def _create_delta(step: Step) -> Node:
    """Creates a table without rows, or as a copy of another."""
    query = step.fields.get("query")
    if query is None:
        return Command((), (), step.label, relation=step.name, target=step.target, change=Change.CREATED)
    return _copy(step) if simple_name(query[0]["class"]) == "CloneTableCommand" else _write(step)


def _moves_nothing(
    description: str, change: Change | None = None, reason: Reason | None = None
) -> NodeReader:
    """Return a reader of a command without a query; nodes below it are not read."""

    def row(step: Step) -> Node:
        return Command(
            (), (), step.label, relation=step.name, target=step.target, change=change, reason=reason
        )

    row.__doc__ = description
    return row


def _unrecorded(reason: Reason) -> NodeReader:
    """Return a reader of a command that may move rows that are not in the plan."""
    return _moves_nothing(f"A gap: {reason}.", reason=reason)


def _assign(step: Step) -> Node:
    """Sets session variables to a query's columns."""
    variables = tuple(variable_name(tree[0]) for tree in trees(step.fields.get("targetVariables")))
    return Assign(step.inputs, (), step.label, variables=variables)


def _declare(step: Step) -> Node:
    """Creates session variables, each with its default value."""
    value = step.expression("defaultExpr")
    return Declare((), (), step.label, value=value, relation=step.name, target=step.target)


COMMANDS: dict[str, NodeReader] = {
    **dict.fromkeys(
        """
        InsertIntoHadoopFsRelationCommand InsertIntoHiveTable CreateDataSourceTableAsSelectCommand
        CreateHiveTableAsSelectCommand SaveAsV1TableCommand SaveIntoDataSourceCommand AppendData
        CreateTableAsSelect ReplaceTableAsSelect InsertIntoDataSourceCommand InsertIntoDataSourceDirCommand
        InsertIntoHiveDirCommand InsertOnlyMerge WriteToMicroBatchDataSource WriteToMicroBatchDataSourceV1
        """.split(),
        _write,
    ),
    "OverwriteByExpression": _overwrite,
    **dict.fromkeys(
        (
            "OverwritePartitionsDynamic",
            "DeltaDynamicPartitionOverwriteCommand",
            "DeltaInsertReplaceOnOrUsingCommand",
        ),
        _overwrite_partitions,
    ),
    "CreateVariable": _declare,
    "SetVariable": _assign,
    **dict.fromkeys(
        """
        CreateDataSourceTableCommand CreateTable CreateTableCommand CreateTableLike CreateTableLikeCommand
        """.split(),
        _moves_nothing("Creates a table without rows.", Change.CREATED),
    ),
    "ReplaceTable": _moves_nothing("Creates or replaces a table, without rows.", Change.REPLACED),
    **dict.fromkeys(
        ("TruncateDeltaTableCommand", "TruncateTable", "TruncateTableCommand"),
        _moves_nothing("Removes all rows of a table, or of a partition.", Change.EMPTIED),
    ),
    **dict.fromkeys(
        ("DropDatabaseCommand", "DropNamespace", "DropTable", "DropTableCommand"),
        _moves_nothing("Drops a table, or a database with its tables.", Change.DROPPED),
    ),
    **dict.fromkeys(
        """
        AddPartitions AlterTableAddPartitionCommand AlterTableDropPartitionCommand
        AlterTableRenamePartitionCommand AlterTableSetLocationCommand AlterTableSetLocationDeltaCommand
        DropPartitions RecoverPartitions RenamePartitions RepairTable RepairTableCommand SetTableLocation
        """.split(),
        _moves_nothing("Changes the files of a table or a partition.", Change.ALTERED),
    ),
    **dict.fromkeys(
        ("AlterTableRenameCommand", "RenameTable"),
        _moves_nothing("Renames a table; its rows are unchanged.", Change.RENAMED),
    ),
    **dict.fromkeys(
        """
        AddColumns AlterColumn AlterColumns AlterTableAddColumnsCommand AlterTableChangeColumnCommand
        DropColumns RenameColumn ReplaceColumns
        """.split(),
        _moves_nothing("Changes a table's columns.", Change.ALTERED),
    ),
    **dict.fromkeys(
        """
        AddCheckConstraint AddConstraint AlterTableChangeColumnCommentsCommand AlterTableClusterBy
        AlterTableCollation AlterTableSerDePropertiesCommand AlterTableSetPropertiesCommand
        AlterTableUnsetPropertiesCommand CommentOnTable CreateIndex DropConstraint DropIndex
        SetTableProperties SetTableSerDeProperties UnsetTableProperties
        """.split(),
        _moves_nothing("Changes a table's constraints or properties, and no rows."),
    ),
    **dict.fromkeys(
        """
        AlterViewAs AlterViewSchemaBinding AlterViewSchemaBindingCommand CreateIcebergView CreateMetricView
        CreateMetricViewCommand CreateTempViewUsing CreateView DropIcebergView DropTempViewCommand DropView
        SetViewProperties UnsetViewProperties
        """.split(),
        _moves_nothing("Defines or drops a view; its query is read where the view is used."),
    ),
    **dict.fromkeys(("AlterViewAsCommand", "CreateViewCommand"), _view),
    **dict.fromkeys(
        """
        CloseCursor CreateFunction CreateFunctionCommand CreateSQLFunctionCommand CreateUserDefinedFunction
        DeclareCursor DropFunction DropFunctionCommand DropVariable OpenCursor RefreshFunction
        RefreshFunctionCommand
        """.split(),
        _moves_nothing(
            "Defines or drops a function or a cursor, or drops a variable; it is read where it is used."
        ),
    ),
    **dict.fromkeys(
        """
        AlterDatabasePropertiesCommand AlterDatabaseSetLocationCommand CommentOnNamespace
        CreateDatabaseCommand CreateNamespace SetNamespaceCollationCommand SetNamespaceLocation
        SetNamespaceProperties UnsetNamespacePropertiesCommand
        """.split(),
        _moves_nothing("Defines or changes a database."),
    ),
    **dict.fromkeys(
        """
        CacheTable CacheTableAsSelect ClearCacheCommand RefreshResource RefreshTable RefreshTableCommand
        UncacheTable
        """.split(),
        _moves_nothing("Changes Spark's cache; cached rows are read where they are used."),
    ),
    **dict.fromkeys(
        ("AnalyzeColumn", "AnalyzeTable", "AnalyzeTableCommand", "AnalyzeTables", "AnalyzeTablesCommand"),
        _moves_nothing("Statistics for the optimizer; Spark counts rows in separate executions."),
    ),
    **dict.fromkeys(
        ("AnalyzeColumnCommand", "AnalyzePartitionCommand"),
        _moves_nothing("Reads a table for statistics for the optimizer.", Change.READ),
    ),
    "LoadDataCommand": _moves_nothing("Moves files into a table.", Change.LOADED),
    **dict.fromkeys(
        """
        DescribeColumn DescribeColumnCommand DescribeDatabaseCommand DescribeFunction DescribeFunctionCommand
        DescribeNamespace DescribeProcedureCommand DescribeQueryCommand DescribeRelation
        DescribeRelationJsonCommand DescribeTableCommand DescribeTablePartition ExplainCommand
        ListArchivesCommand ListFilesCommand ListJarsCommand ShowCatalogsCommand ShowCollationsCommand
        ShowColumns ShowColumnsCommand ShowCreateTable ShowCreateTableAsSerdeCommand ShowCreateTableCommand
        ShowCurrentNamespaceCommand ShowFunctions ShowFunctionsCommand ShowNamespaces ShowNamespacesCommand
        ShowPartitions ShowPartitionsCommand ShowPartitionsJsonCommand ShowProceduresCommand ShowTableExtended
        ShowTablePartition ShowTableProperties ShowTablePropertiesCommand ShowTables ShowTablesCommand
        ShowTablesExtended ShowTablesJsonCommand ShowViews ShowViewsCommand StreamingExplainCommand
        """.split(),
        _moves_nothing("Shows the content of the catalog or the session, or how a query would run."),
    ),
    **dict.fromkeys(
        """
        AddArchivesCommand AddFilesCommand AddJarsCommand NoopCommand ResetCommand SetCatalogAndNamespace
        SetCatalogCommand SetCommand SetNamespaceCommand SetPathCommand
        """.split(),
        _moves_nothing("Changes the session, or nothing."),
    ),
    **dict.fromkeys(
        ("DeleteFromTableWithFilters", "LoadData", "MergeIntoTable", "UpdateTable"),
        _unrecorded(of_plans.CHANGED_ROWS()),
    ),
    "TruncatePartition": _unrecorded(of_plans.EMPTIED_PARTITION()),
    **dict.fromkeys(("CloneTableCommand", "RestoreTableCommand"), _copy),
    "CreateDeltaTableCommand": _create_delta,
    **dict.fromkeys(
        """
        AddPartitionField AlterColumnSyncIdentity AlterTableAddColumnsDeltaCommand AlterTableAddConstraint
        AlterTableAddConstraintDeltaCommand AlterTableChangeColumnDeltaCommand AlterTableClusterByDeltaCommand
        AlterTableDropColumnsDeltaCommand AlterTableDropConstraint AlterTableDropConstraintDeltaCommand
        AlterTableDropFeature AlterTableDropFeatureDeltaCommand AlterTableReplaceColumnsDeltaCommand
        AlterTableSetPropertiesDeltaCommand AlterTableUnsetPropertiesDeltaCommand CreateOrReplaceBranch
        CreateOrReplaceTag DropBranch DropIdentifierFields DropPartitionField DropTag ReplacePartitionField
        SetIdentifierFields SetWriteDistributionAndOrdering
        """.split(),
        _moves_nothing("Changes a table's metadata, its branches and tags for example, and no rows."),
    ),
    **dict.fromkeys(
        """
        ConvertToDeltaCommand DeltaGenerateCommand DeltaReorgTable DeltaReorgTableCommand OptimizeTableCommand
        RowTrackingBackfillCommand RowTrackingUnBackfillCommand VacuumTableCommand
        """.split(),
        _moves_nothing("Writes the same rows to other files, or drops files of old versions."),
    ),
    **dict.fromkeys(
        """
        DescribeDeltaDetailCommand DescribeDeltaHistory DescribeDeltaHistoryCommand ShowDeltaPartitionsCommand
        ShowDeltaTableColumnsCommand ShowIcebergViews
        """.split(),
        _moves_nothing("Shows a table's metadata."),
    ),
    "Call": _unrecorded(of_plans.PROCEDURE()),
    "ExternalCommandExecutor": _unrecorded(of_plans.OTHER_SYSTEM()),
    "FetchCursor": _unrecorded(of_plans.CURSOR()),
    **ROW_LEVEL,
}
"""Simple class name -> row. A command without a row goes to `relational.unknown_node`: a gap names it."""


def _rdd(step: Step) -> Node:
    """Rows of an RDD, which Spark does not describe by a plan."""
    return Scan((), step.attributes("output"), step.label, relation=step.name)


JOBS: dict[str, NodeReader] = {"RDD": _rdd, "SavedRDD": _write}
"""Nodes that capture writes as the plan of a job over RDDs, which has no Spark plan."""
