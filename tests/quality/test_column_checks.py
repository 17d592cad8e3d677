"""Dictionaries of checks: a mistake is one sentence, when the DAG is parsed."""

from __future__ import annotations

import re

import pytest

from airflow_provider_spark_lineage.quality.aggregates import AGGREGATES, of_column_check
from airflow_provider_spark_lineage.quality.checks import query_of
from airflow_provider_spark_lineage.quality.column_checks import column_checks
from airflow_provider_spark_lineage.quality.row_checks import row_checks

MEANT = {
    "quantile": {"at": 0.5, "leq_to": 9},
    "accepted_values": ["a", "b"],
    "matches": "[a-z]+",
    "distinct_check": {"geq_to": 2, "approximate": 0.05},
}


@pytest.mark.parametrize("check", AGGREGATES)
def test_each_check_has_a_dictionary_with_a_meaning(check):
    """Limits, or what its rule needs."""
    assert of_column_check(check, MEANT.get(check, {"geq_to": 0}))


@pytest.mark.parametrize(
    ("check", "given", "sentence"),
    [
        ("minimum", {"geq_to": 0}, "Invalid column check: minimum. The checks are: null_check,"),
        ("min", {}, "min: give one or more of equal_to, greater_than, geq_to, less_than, leq_to."),
        ("min", 5, "min: give a dictionary, for example {'geq_to': 0}."),
        ("min", {"geq": 5}, "min: 'geq' is unknown. Its keys are: equal_to,"),
        ("min", {"equal_to": 1, "geq_to": 0}, "min: equal_to cannot be combined with geq_to."),
        ("min", {"greater_than": 1, "geq_to": 0}, "min: give one of greater_than and geq_to."),
        ("min", {"less_than": 1, "leq_to": 0}, "min: give one of less_than and leq_to."),
        ("min", {"greater_than": 3, "less_than": 3}, "min: nothing is greater_than 3 and less_than 3."),
        ("min", {"geq_to": 3, "leq_to": 2}, "min: nothing is geq_to 3 and leq_to 2."),
        ("min", {"geq_to": 3, "leq_to": "b"}, "min: geq_to and leq_to cannot be compared."),
        (
            "min",
            {"geq_to": 3, "tolerance": "much"},
            "min: tolerance is 'much'; it must be a number from 0 to",
        ),
        ("min", {"geq_to": 3, "severity": "low"}, "min: severity is 'low'; it must be 'error' or 'warn'."),
        ("min", {"geq_to": 3, "approximate": 0.1}, "min: 'approximate' is unknown."),
        ("distinct_check", {"geq_to": 3, "approximate": 2}, "distinct_check: approximate is 2; it must be"),
        ("quantile", {"leq_to": 3}, "quantile: 'at' is missing."),
        ("quantile", {"at": 2, "leq_to": 3}, "quantile: at is 2; it must be a number from 0 to 1."),
        ("accepted_values", [], "accepted_values: values must be a list with at least one value."),
        ("accepted_values", "ab", "accepted_values: values must be a list with at least one value."),
        ("accepted_values", {"values": [1], "leq_to": 2}, "accepted_values: 'leq_to' is unknown."),
        ("matches", 5, "matches: regex must be a text."),
        ("references", {"table": "t"}, "references: 'column' is missing."),
    ],
)
def test_a_mistake_is_one_sentence(check, given, sentence):
    """It names the check and what would be right."""
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        of_column_check(check, given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "many: give {'check_statement': 'amount >= 0'}, with a statement of your own."),
        ({"check_statement": "a > 0", "clause": "b"}, "many: 'clause' is unknown. Its keys are:"),
        ({"check_statement": "a > 0", "severity": 1}, "many: severity is 1; it must be 'error' or 'warn'."),
    ],
)
def test_a_mistake_in_a_tables_check_is_one_sentence(given, sentence):
    """The same for statements."""
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        row_checks({"many": given})


def test_the_query_is_shown_as_one_statement():
    """People see in Airflow's tab of rendered templates what will run."""
    checks = [
        *column_checks(
            {"id": {"max": {"leq_to": 2, "partition_clause": "a > 0"}, "accepted_values": [1, "it's"]}}
        ),
        *row_checks({"many": "count(*) > 5"}),
    ]
    assert query_of(checks, "orders", "day = '2026-01-01'").split("\n") == [
        "SELECT",
        "  count(*),",
        "  max(id) FILTER (WHERE a > 0),",
        r"  count_if(id NOT IN (1, 'it\'s')),",
        "  count(*) > 5",
        "FROM orders",
        "WHERE day = '2026-01-01'",
    ]
