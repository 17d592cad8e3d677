"""Interface of the reader of whole queries, for the readers of clauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from airflow_provider_spark_lineage.spark.plan.algebra import Plan
from airflow_provider_spark_lineage.spark.plan.database_sql.expressions import SqlExpressionReader
from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import Definitions, Nodes, QueryRows
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import Dialect, QueryScope


class Subqueries(Protocol):
    """Reads the queries inside a query, and the expressions of a clause."""

    dialect: Dialect
    nodes: Nodes

    def inside(self, scope: QueryScope) -> Subqueries:
        """Return a reader for a query in an expression, or after LATERAL."""

    def beside(self) -> Subqueries:
        """Return a reader with the same outer scopes and a plan of its own."""

    def plan(self, result: QueryRows, names: Sequence[str] = ()) -> Plan:
        """Return the plan that ends with a result, with its columns renamed to `names`."""

    def query(self, query: Any, definitions: Definitions, names: Sequence[str] = ()) -> QueryRows:
        """Read a query; `names` are its columns if they are known."""

    def expressions(self, scope: QueryScope, definitions: Definitions) -> SqlExpressionReader:
        """Return a reader for the expressions of a scope."""
