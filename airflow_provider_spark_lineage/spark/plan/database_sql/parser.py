"""Parses SQL with sqlglot; its errors end here."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from airflow_provider_spark_lineage.spark.plan.database_sql.nodes import SqlError
from airflow_provider_spark_lineage.spark.plan.lazy_sqlglot import exp, sqlglot


def parsed(text: str, dialect: str | None) -> Any:
    """Return the tree of one statement.

    Hints and locks (FOR UPDATE OF) are removed, because the tables that they name are not read. Raise
    `SqlError` if the text is not understood, or is not a single statement.
    """
    try:
        with _quiet():
            trees = [tree for tree in sqlglot.parse(text, read=dialect) if tree is not None]
            # For some incomplete texts sqlglot returns a tree with missing nodes.
            is_whole = not any(node.error_messages() for tree in trees for node in tree.walk())
    # For some invalid texts sqlglot raises these errors instead of its own.
    except (sqlglot.errors.SqlglotError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise SqlError("it is not understood") from None
    if len(trees) != 1:
        raise SqlError("it is not a single query")
    if not is_whole:
        raise SqlError("it is not understood")
    for node in list(trees[0].find_all(exp.Hint, exp.Lock)):
        node.pop()
    return trees[0]


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress sqlglot's log of text that it does not understand: a gap reports it."""
    logger = logging.getLogger("sqlglot")

    def drop(record: logging.LogRecord) -> bool:
        return False

    logger.addFilter(drop)
    try:
        yield
    finally:
        logger.removeFilter(drop)
