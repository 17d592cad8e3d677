"""Statements of a table's checks, before Spark reads them."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.quality.statements import Kind, columns_of, filtered, kind_of, shown


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("a > 0", Kind.EACH_ROW),
        ("upper(a) = 'B'", Kind.EACH_ROW),
        ("count(*) > 5", Kind.ALL_ROWS),
        ("1 + sum(a) BETWEEN 2 AND max(b)", Kind.ALL_ROWS),
        ("bool_and(a)", Kind.ALL_ROWS),
        ("company_rule(a) > 1", Kind.UNKNOWN),
        ("a >", Kind.UNKNOWN),
        ("a > (SELECT max(b) FROM t)", Kind.EACH_ROW),
    ],
)
def test_a_statement_is_about_each_row_or_about_all(statement, kind):
    """A guess that saves a query; an aggregate of a subquery is none of the statement."""
    assert kind_of(statement) is kind


@pytest.mark.parametrize(
    ("statement", "clause", "expected"),
    [
        ("min(a) = 1", "b OR c", "MIN(a) FILTER(WHERE b OR c) = 1"),
        ("sum(a) / count(*) > 1", "b", "SUM(a) FILTER(WHERE b) / COUNT(*) FILTER(WHERE b) > 1"),
        ("a > 1", "b", None),
        ("company_sum(a) > 1", "b", None),
        ("min(a) FILTER (WHERE c) = 1", "b", None),
        ("min(a) = 1", "b) OR (1=1", None),
        ("min(a) = 1", "b UNION SELECT 5", None),
    ],
)
def test_a_clause_becomes_a_filter_of_each_aggregate(statement, clause, expected):
    """None where that cannot be written: then the rows are chosen before, in a query of its own."""
    assert filtered(statement, clause) == expected


def test_sql_is_shown_as_the_option_allows():
    """Literals are a person's data."""
    sql = "name = 'Ann' AND age > 42"
    assert shown(sql, "full") == sql
    assert shown(sql, "masked") == "name = '' AND age > 0"
    assert shown(sql, "none") == ""


def test_columns_are_named_once():
    """Samples of rows show these columns only."""
    assert columns_of("Amount > 0 AND amount < price") == ["amount", "price"]
    assert columns_of("a >") == []
