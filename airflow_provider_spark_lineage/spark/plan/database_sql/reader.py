"""Reader of the SQL of one query into the algebra: a database ran it before its rows reached Spark.

Tables are known only from the text. A column that could belong to several tables, or a `*` over several
tables, has no origin; the plan notes it as a gap (`Derive.reason`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_queries
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.algebra import Attribute, Opaque, Plan, Scan
from airflow_provider_spark_lineage.spark.plan.database_sql.from_clause import is_no_table, text_of
from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import LABEL, SqlError
from airflow_provider_spark_lineage.spark.plan.database_sql.parser import parsed
from airflow_provider_spark_lineage.spark.plan.database_sql.queries import QueryReader
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import Dialect
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp

__all__ = ["SqlError", "read_query"]


def read_query(text: str, dialect: Dialect, names: Sequence[str]) -> Plan:
    """Read a query whose result has the columns `names`; the text does not have the columns of a `*`.

    Raise `SqlError` if the text cannot be read.
    """
    try:
        query = parsed(text, dialect.name or None)
        if not isinstance(query, exp.Query | exp.Values):
            raise SqlError("it is not a single query")
        try:
            reader = QueryReader(dialect, count(1))
            return reader.plan(reader.query(query, {}, names), names)
        except SqlError as error:
            return _tables_alone(query, dialect, names, of_queries.NOT_UNDERSTOOD(error=error))
    except RecursionError:
        raise SqlError("it is nested too deeply") from None


def _tables_alone(query: Any, dialect: Dialect, names: Sequence[str], reason: Reason) -> Plan:
    """Return a plan with only the tables that a query reads, and a gap for its columns."""
    defined = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    texts = dict.fromkeys(
        text_of(table, dialect)
        for table in query.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier)
        and (len(table.parts) > 1 or table.name.lower() not in defined)
        and not is_no_table(table, dialect)
    )
    scans = [Scan((), (), LABEL, relation=text) for text in texts]
    output = tuple(Attribute(index, name) for index, name in enumerate(names))
    return Plan((*scans, Opaque(tuple(range(len(scans))), output, LABEL, reason)))
