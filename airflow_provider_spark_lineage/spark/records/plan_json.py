"""The structure of a plan's JSON, for writers and readers: class names, trees, plans.

A tree is the list of its nodes, each before its children, as in Spark's `TreeNode.toJSON`. This module is
independent of particular nodes. It also runs on the cluster's driver: standard library only, Python 3.9
syntax.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Dict, List

Tree = List[Dict[str, Any]]
"""The nodes of a tree, each before its children."""

_EXPRESSION_PACKAGES = (".expressions.", ".plans.physical.")
"""Partitionings (`plans.physical`) are treated as expressions: they hold columns but no plan."""

_EXPRESSIONS_ELSEWHERE = frozenset(
    {
        # org.apache.spark.sql.catalyst.analysis, except names that begin with Unresolved
        *"""
        CdcAssertCommitTimestampNotNull ExpressionWithUnresolvedIdentifier GetColumnByOrdinal
        GetViewColumnByNameAndOrdinal LazyExpression MultiAlias NamedParameter PosParameter ResolvedFieldName
        ResolvedFieldPosition ResolvedPartitionSpec ResolvedStar SQLFunctionExpression SQLScalarFunction
        TempResolvedColumn
        """.split(),
        # org.apache.spark.sql.catalyst.plans.logical
        *"""
        AlterColumnSpec Assignment ColumnDefinition DefaultValueExpression DeleteAction
        GeneratedColumnExpression InsertAction InsertReplaceOn InsertReplaceUsing InsertReplaceWhere
        InsertStarAction MergeRows$Discard MergeRows$Keep MergeRows$Split OptionList QualifiedColType
        UpdateAction UpdateStarAction
        """.split(),
        # optimizer, execution, ml, hive
        *"""
        CollectFrequentItems ColumnNodeExpression ComplexTypedAggregateExpression HiveGenericUDF
        HiveGenericUDTF HiveSimpleUDF HiveUDAFFunction InSubqueryExec NormalizeNaNAndZero ScalaAggregator
        ScalaUDAF ScalarCastHelper ScalarSubquery ScalarSubqueryReference SimpleTypedAggregateExpression
        SummaryBuilderImpl$MetricsAggregate
        """.split(),
        # Delta Lake, Iceberg
        *"""
        CheckDeltaInvariant CheckOverflowInTableWrite ConditionalIncrementMetric
        DeletedRecordCountsHistogramUtils$DeletedRecordCountsHistogramAgg DeltaMergeAction
        DeltaMergeIntoMatchedDeleteClause DeltaMergeIntoMatchedUpdateClause
        DeltaMergeIntoNotMatchedBySourceDeleteClause DeltaMergeIntoNotMatchedBySourceUpdateClause
        DeltaMergeIntoNotMatchedInsertClause FileSizeHistogramUtils$FileSizeHistogramAgg
        GenerateIdentityValues IncrementMetric MaxVariantStats MinVariantStats ThetaSketchAgg
        """.split(),
    }
)
"""Simple names of expressions in packages of plans."""

_PLANS_ELSEWHERE = frozenset({"PipeOperator"})
"""Simple names of plan nodes in packages of expressions."""


@lru_cache(maxsize=4096)
def simple_name(class_name: str) -> str:
    """Return a JVM class name without its package and without the `$` of a Scala object."""
    return class_name.rsplit(".", 1)[-1].rstrip("$")


def is_tree(value: Any) -> bool:
    """Return whether a JSON value is a tree: a pre-order list of nodes."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "class" in value[0]


def is_expression(value: Any) -> bool:
    """Return whether a JSON value is the tree of an expression, not of a plan."""
    return is_tree(value) and names_expression(value[0]["class"])


def is_plan(value: Any) -> bool:
    """Return whether a JSON value is the tree of a whole plan."""
    return is_tree(value) and not names_expression(value[0]["class"])


@cache
def names_expression(class_name: str) -> bool:
    """Return whether a class is an expression, by its package or its name."""
    name = simple_name(class_name)
    if any(package in class_name for package in _EXPRESSION_PACKAGES):
        return name not in _PLANS_ELSEWHERE
    return name in _EXPRESSIONS_ELSEWHERE
