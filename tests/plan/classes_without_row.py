"""Classes of Spark without a row in `NODES`, `COMMANDS` or `EXPRESSIONS`, each with the reason.

Only data, by class name; `*` matches any letters. If such a class is in a plan nevertheless, it is a gap that
names it, like any class without a row. `docs/coverage.md` is generated from this and the tables of rows.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

Reasons = dict[str, tuple[str, ...]]

OPAQUE_PLANS: Reasons = {
    "Code of another process over whole rows; the plan's JSON does not have its columns.": (
        "MapPartitionsExternalUDF",
    ),
    "A stream, or its sink; the plan of a batch has other nodes in their place.": (
        "StreamingExecutionRelation",
        "StreamingRelation",
        "StreamingRelationV2",
        "WriteToContinuousDataSource",
        "WriteToDataSourceV2",
        "WriteToStream",
        "WriteToStreamStatement",
    ),
}
"""Plan classes that are read as gaps."""

ABSENT_PLANS: Reasons = {
    "What the parser makes of names and clauses; analysis resolves it, or the query fails.": (
        "CDCNameBased",
        "CDCPathBased",
        "CloneTableStatement",
        "ClusterByPlan",
        "CurrentNamespace",
        "DeltaDelete",
        "DeltaMergeInto",
        "DeltaUpdateTable",
        "ExecuteImmediateQuery",
        "GeneralParameterizedQuery",
        "InsertIntoDir",
        "InsertIntoStatement",
        "NameParameterizedQuery",
        "NamedStreamingRelation",
        "Pivot",
        "PlanWithUnresolvedIdentifier",
        "PosParameterizedQuery",
        "RelationChanges",
        "RelationTimeTravel",
        "RestoreTableStatement",
        "TableChanges",
        "TimeTravel",
        "Unpivot",
        "Unresolved*",
        "WithWindowDefinition",
    ),
    "Placeholder of a table, view or function during analysis.": (
        "MetricViewPlaceholder",
        "SQLTableFunction",
        "TemporaryViewRelation",
        "V2ChangelogReference",
        "V2TableReference",
    ),
    "Statements of SQL scripts: Spark interprets them, and runs each query and command on its own.": (
        "CompoundBody",
        "ErrorCondition",
        "ExceptionHandler",
        "ForStatement",
        "IfElseStatement",
        "IterateStatement",
        "LeaveStatement",
        "LoopStatement",
        "RepeatStatement",
        "SearchedCaseStatement",
        "SimpleCaseStatement",
        "SingleStatement",
        "WhileStatement",
    ),
    "Statements of declarative pipelines: the pipeline runs queries of its own.": (
        "AutoCdcInto",
        "CreateFlowCommand",
        "CreateMaterializedViewAsSelect",
        "CreateStreamingTable",
        "CreateStreamingTableAsSelect",
        "CreateStreamingTableAutoCdc",
    ),
    "Created and removed by the optimizer.": (
        "AppendColumnsWithObject",
        "DomainJoin",
        "NonGroupingAggregateReference",
        "OrderedJoin",
        "ScanBuilderHolder",
    ),
    "Created while a query runs.": ("EmptyRelation", "LogicalQueryStage", "OffsetHolder"),
    "Holds expressions for a converter or a resolver; not part of a query.": (
        "AnalysisHelper$FakeLogicalPlan",
        "DummyExpressionHolder",
        "ExpressionLogicalPlanWrapper",
        "SparkExpressionConverter$DummyRelation",
    ),
    "Run by another command, which is recorded.": ("WriteIntoDelta",),
}
"""Plan classes that are never in the plan of a query that ran."""

ABSENT_EXPRESSIONS: Reasons = {
    "What the parser makes of names and clauses; analysis resolves it, or the query fails.": (
        "Cube",
        "ExpressionWithUnresolvedIdentifier",
        "GetColumnByOrdinal",
        "GetViewColumnByNameAndOrdinal",
        "GroupingSets",
        "LateralColumnAliasReference",
        "LazyExpression",
        "MultiAlias",
        "NamePlaceholder",
        "NamedParameter",
        "PosParameter",
        "ResolvedStar",
        "Rollup",
        "SQLFunctionExpression",
        "SemiStructuredExtract",
        "TempResolvedColumn",
        "Unresolved*",
    ),
    "Replaced by other expressions when the query is analyzed.": (
        "CursorReference",
        "GeneratorOuter",
        "GroupingID",
        "Grouping",
        "OuterScopeReference",
        "RegrReplacement",
        "SessionWindow",
        "TimeWindow",
        "TranspiledUDFParameter",
        "WindowTime",
    ),
    "Arguments of commands.": (
        "AlterColumnSpec",
        "CheckConstraint",
        "ColumnDefinition",
        "DefaultValueExpression",
        "ForeignKeyConstraint",
        "GeneratedColumnExpression",
        "InsertReplaceOn",
        "InsertReplaceUsing",
        "InsertReplaceWhere",
        "InsertStarAction",
        "OptionList",
        "PrimaryKeyConstraint",
        "QualifiedColType",
        "ResolvedFieldName",
        "ResolvedFieldPosition",
        "ResolvedPartitionSpec",
        "UniqueConstraint",
        "UpdateStarAction",
    ),
    "Created by the optimizer, or while a query runs.": (
        "ApproxCountDistinctForIntervals",
        "BloomFilterAggregate",
        "BloomFilterMightContain",
        "DecimalAddNoOverflowCheck",
        "DecimalDivideWithOverflowCheck",
        "DecimalSubtractNoOverflowCheck",
        "DirectShufflePartitionID",
        "DynamicPruningExpression",
        "DynamicPruningSubquery",
        "Empty2Null",
        "ExpressionProxy",
        "InSet",
        "InSubqueryExec",
        "MultiCommutativeOp",
        "MultiGetJsonObject",
        "ReplicateRows",
        "ScalarCastHelper",
        "ScalarSubqueryReference",
        "SortPrefix",
        "UnscaledValue",
        "V2Aggregator",
    ),
    "Partitioning of rows, which changes no value.": (
        "Coalesced*HashPartitioning",
        "HashPartitioning",
        "KeyGroupedPartitioning",
        "KeyedPartitioning",
        "NullAwareHashPartitioning",
        "PartitioningCollection",
        "RangePartitioning",
        "ShufflePartitionIdPassThrough",
    ),
    "Only for display.": ("PrettyAttribute", "PrettyPythonUDF"),
}
"""Expression classes that are never in the plan of a query that ran."""


def reason_of(name: str, reasons: Reasons) -> str:
    """Return why a class has no row; empty if the table does not have it."""
    for reason, patterns in reasons.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return reason
    return ""
