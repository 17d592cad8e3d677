"""Statements of a table's checks, before Spark reads them."""

from __future__ import annotations

from typing import Any

import pytest
from openlineage.client.event_v2 import InputDataset
from openlineage_client import needs_fields_of_results

from airflow_provider_spark_lineage.airflow.checks.findings import passed_sentence
from airflow_provider_spark_lineage.operators.check_bases import shown_row
from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, Findings
from airflow_provider_spark_lineage.spark.checks.checks import findings_of
from airflow_provider_spark_lineage.spark.checks.measuring import Measured
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks
from airflow_provider_spark_lineage.spark.checks.statements import (
    StatementKind,
    columns_of,
    comparison_of,
    filtered,
    kind_of,
    shown,
)
from airflow_provider_spark_lineage.spark.facets.quality import add_findings


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("a > 0", StatementKind.EACH_ROW),
        ("upper(a) = 'B'", StatementKind.EACH_ROW),
        ("count(*) > 5", StatementKind.ALL_ROWS),
        ("1 + sum(a) BETWEEN 2 AND max(b)", StatementKind.ALL_ROWS),
        ("bool_and(a)", StatementKind.ALL_ROWS),
        ("company_rule(a) > 1", StatementKind.UNKNOWN),
        ("a >", StatementKind.UNKNOWN),
        ("a > (SELECT max(b) FROM t)", StatementKind.EACH_ROW),
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


@pytest.mark.parametrize(
    ("statement", "aggregate", "expected"),
    [
        ("max(guests) < 3", "MAX(guests)", "<3"),
        ("12 >= count(DISTINCT month)", "COUNT(DISTINCT month)", "<=12"),
        ("count(*) = 5", "COUNT(*)", "5"),
        ("avg(a) <> -1.5", "AVG(a)", "!=-1.5"),
        ("sum(a) / count(*) BETWEEN 1 AND 2 + 3", "SUM(a) / COUNT(*)", ">=1, <=2 + 3"),
        ("min(a) FILTER (WHERE b) > 'M'", "MIN(a) FILTER(WHERE b)", ">'M'"),
    ],
)
def test_an_aggregate_is_compared_with_a_value(statement, aggregate, expected):
    """People ask what was found: "true" says nothing of it."""
    assert comparison_of(statement) == (aggregate, expected)


@pytest.mark.parametrize(
    "statement",
    ["count(*) = count(a)", "max(a) < b", "max(a) < 1 AND min(a) > 0", "a < 3", "max(a) < f(1)", "a >"],
)
def test_other_statements_have_no_value_to_show(statement):
    """Two aggregates, several comparisons, or a rule for each row."""
    assert comparison_of(statement) is None


def found_of(statement: str, value: Any) -> Any:
    """Return the assertion of a statement that does not hold, with the value of its aggregate."""
    checks = row_checks({"rule": statement})
    found = {"rows": Measured(4), "statement rule": Measured(0), "compared rule": value}
    (assertion,) = findings_of(checks, found, {}, clause="", of_dataset="").assertions
    assert not assertion.success
    return assertion


def test_a_failed_comparison_says_what_it_found():
    """`max(guests) < 3` found 5, not 0 of "all truthy"."""
    assertion = found_of("max(guests) < 3", Measured(5))
    assert (assertion.expected, assertion.actual) == ("<3", "5")
    assert not assertion.has_text_of_rows


def test_without_the_value_the_result_stays():
    """Spark may refuse the text that we made of the user's, and a maximum of no rows is NULL."""
    for value in (Measured(problem="UNRESOLVED_COLUMN"), Measured(None)):
        assertion = found_of("max(guests) < 3", value)
        assert (assertion.expected, assertion.actual, assertion.not_evaluated) == ("all truthy", "0", "")


@needs_fields_of_results
def test_texts_of_a_comparison_are_withheld():
    """The lowest name is the text of a row, and the limit is a literal of the statement."""
    facet = assertion_facet(found_of("min(name) > 'M'", Measured("Ann")), "full")
    assert (facet.actual, facet.expected) == (None, ">'M'")
    assert assertion_facet(found_of("max(age) < 42", Measured(50)), "masked").expected is None


def assertion_facet(assertion: Any, sql_text: str) -> Any:
    inputs = [InputDataset(namespace="file", name="/people")]
    add_findings(inputs, [Findings((assertion,), of_dataset="/people")], sql_text)
    return (inputs[0].inputFacets or {})["dataQualityAssertions"].assertions[0]


def test_the_last_line_counts_warnings():
    """A log that ends with "all passed" hides the failed check above it."""
    good = Assertion("a", success=True, name="a", check_type="")
    bad = Assertion("b", success=False, name="b", check_type="", severity="warn")
    assert passed_sentence([good]) == "All checks passed"
    assert passed_sentence([good, bad]) == "All checks with severity error passed; 1 warning"


def test_a_missing_value_in_a_log_is_not_a_text():
    """`'None'` could be somebody's name; long values are cut."""
    assert shown_row({"id": 1, "name": None, "text": "x" * 200}) == {
        "id": "1",
        "name": None,
        "text": "x" * 100,
    }
