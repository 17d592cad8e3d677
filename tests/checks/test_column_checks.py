"""Dictionaries of checks: a mistake is one sentence, when the DAG is parsed."""

from __future__ import annotations

import datetime
import re

import pytest

from airflow_provider_spark_lineage.spark.checks.aggregates import AGGREGATES, of_column, of_column_check
from airflow_provider_spark_lineage.spark.checks.checks import query_of
from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks
from airflow_provider_spark_lineage.spark.checks.shares import outcome

MEANT = {
    "quantile": {"at": 0.5, "leq_to": 9},
    "accepted_values": ["a", "b"],
    "matches": "[a-z]+",
    "freshness": "24 hours",
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
        *[
            (
                check,
                {**given, "at_least": share},
                f"{check}: at_least is {share!r}; it must be a number from 0 to 1, 0.98 for 98 % for",
            )
            for check, given in (
                ("accepted_values", {"values": ["a"]}),
                ("matches", {"regex": "a"}),
                ("references", {"table": "t", "column": "c"}),
            )
            for share in (98, -0.1, "0.98", True, float("nan"))
        ],
        ("min", {"geq_to": 0, "at_least": 0.9}, "min: 'at_least' is unknown. Its keys are: equal_to,"),
        (
            "min",
            {"geq_to": 0, "if_absent": "ignore"},
            "min: if_absent is 'ignore'; it must be 'error' or 'skip'.",
        ),
        *[
            (
                "freshness",
                duration,
                f"freshness: {duration!r} is not a duration; write a number and a unit, '24 hours' or '1 day"
                " 12 hours' for example. The units are: weeks, days, hours, minutes, seconds.",
            )
            for duration in (
                "24",
                24,
                "24 hrs",
                "a day",
                "",
                "hours 24",
                "-1 hours",
                "0 days",
                datetime.timedelta(),
            )
        ],
        (
            "freshness",
            {"within": "1 day", "leq_to": 3},
            "freshness: 'leq_to' is unknown. Its keys are: within, against,",
        ),
        ("freshness", {"against": "now"}, "freshness: 'within' is missing."),
        *[
            (
                "freshness",
                {"within": "1 day", "against": time},
                f"freshness: against is {time!r}; it must be 'now' or",
            )
            for time in ("today", "2026-01-31T12:00:00", datetime.datetime(2026, 1, 31), 5)
        ],
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
        ({"uniqe": ["a"]}, "many: 'uniqe' is unknown. Give one of check_statement, unique, columns."),
        ({"check_statement": "a > 0", "at_least": 2}, "many: at_least is 2; it must be a number from 0 to 1"),
        (
            {"check_statement": "count(*) > 5", "at_least": 0.5},
            "many: at_least is a share of rows, so it needs a statement about one row, 'amount >= 0' for"
            " example; this one has an aggregate.",
        ),
        (
            {"check_statement": "a > 0", "if_absent": True},
            "many: if_absent is True; it must be 'error' or 'skip'.",
        ),
        *[
            ({"unique": columns}, "many: unique must be a list of columns, ['country', 'id'] for example.")
            for columns in ("a", [], [1], {"a": 1}, [""], None)
        ],
        ({"unique": ["a", "A"]}, "many: unique has a column twice: a, A."),
        ({"unique": ["a"], "at_least": 0.5}, "many: 'at_least' is unknown. Its keys are: unique, equal_to,"),
        ({"unique": ["a"], "equal_to": 1, "leq_to": 2}, "many: equal_to cannot be combined with leq_to."),
        (
            {"unique": ["a"], "approximate": 0.02},
            "many: with 'approximate' the number of repeated keys is an",
        ),
        ({"unique": ["a"], "approximate": 2}, "many: approximate is 2; it must be a number from 0 to 0.39."),
        *[
            (
                {"columns": columns},
                "many: columns must be names with types, {'id': 'bigint', 'name': 'string'} for example, or a"
                " list of names.",
            )
            for columns in ("a", [], {}, [1], [""], None)
        ],
        ({"columns": ["a", "A"]}, "many: columns has a name twice;"),
        (
            {"columns": {"a": "sring"}},
            "many: the type of a is 'sring'; 'sring' is unknown: write 'string', or",
        ),
        ({"columns": {"a": "array<strng>"}}, "many: the type of a is 'array<strng>'; 'strng' is unknown:"),
        ({"columns": {"a": 5}}, "many: the type of a is 5; write it as in Spark SQL,"),
        ({"columns": ["a"], "order": "yes"}, "many: order is 'yes'; it must be True or False."),
        (
            {"columns": ["a"], "partition_clause": "b"},
            "many: 'partition_clause' is unknown. Its keys are: columns,",
        ),
    ],
)
def test_a_mistake_in_a_tables_check_is_one_sentence(given, sentence):
    """The same for statements."""
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        row_checks({"many": given})


@pytest.mark.parametrize(
    ("check", "given"),
    [
        ("accepted_values", {"values": ["a"], "at_least": 1}),
        ("matches", {"regex": "a", "at_least": 0}),
        ("references", {"table": "t", "column": "c", "at_least": 0.98}),
        ("freshness", datetime.timedelta(hours=2)),
        ("freshness", {"within": "1 week 2 days, 3 hours 1.5 minutes 5 seconds", "against": "now"}),
        ("freshness", {"within": "{{ params.limit }}", "against": "{{ data_interval_start }}"}),
        ("freshness", {"within": "90 Minutes", "against": "2026-01-31T12:00:00Z"}),
        ("max", {"leq_to": 1, "if_absent": "skip"}),
    ],
)
def test_shares_durations_and_absent_columns_have_a_meaning(check, given):
    """A template becomes a value later."""
    assert of_column_check(check, given)


def test_what_stands_beside_the_checks_of_a_column_holds_for_each():
    """A share for the rules, an absent column for all; a check's own is nearer."""
    of_city = {
        "accepted_values": ["Rome"],
        "matches": {"regex": "R", "at_least": 0.5},
        "null_check": {"equal_to": 0, "if_absent": "error"},
        "at_least": 0.98,
        "if_absent": "skip",
    }
    assert of_column("city", of_city) == {
        "accepted_values": {"values": ["Rome"], "at_least": 0.98, "if_absent": "skip"},
        "matches": {"regex": "R", "at_least": 0.5, "if_absent": "skip"},
        "null_check": {"equal_to": 0, "if_absent": "error"},
    }
    sentence = "^city: at_least stands beside no check that it could be about.$"
    with pytest.raises(ValueError, match=sentence):
        of_column("city", {"min": {"geq_to": 0}, "at_least": 0.98})
    with pytest.raises(ValueError, match="at_least is 98"):
        of_column("city", {"matches": "R", "at_least": 98})


@pytest.mark.parametrize(
    ("share", "broken", "rows", "success", "actual"),
    [
        (0.98, 2, 100, True, "0.98"),
        (0.98, 3, 100, False, "0.97"),
        # 0.1 + 0.2 is not 0.3: a share is compared exactly.
        (0.3, 7, 10, True, "0.3"),
        (0.9, 100_001, 1_000_000, False, "0.899999"),
        # Rounded down: it does not look like enough.
        (0.9, 1_000_000_001, 10_000_000_000, False, "0.899999"),
        (1, 0, 5, True, "1"),
        (1, 1, 10**9, False, "0.999999"),
        (0, 5, 5, True, "0"),
        (0.12345678, 0, 3, True, "1"),
        (0.98, 0, 0, True, "0 rows"),
    ],
)
def test_a_share_is_exact_and_never_looks_better_than_it_is(share, broken, rows, success, actual):
    """Whatever floating point makes of it."""
    found = outcome({"at_least": share}, broken, rows)
    assert (found.success, found.actual) == (success, actual)
    assert found.params == {"at_least": share, "failing_rows": broken}


def test_the_query_is_shown_as_one_statement():
    """People see in Airflow's tab of rendered templates what will run."""
    checks = [
        *column_checks(
            {"id": {"max": {"leq_to": 2, "partition_clause": "a > 0"}, "accepted_values": [1, "it's"]}}
        ),
        *row_checks({"many": "count(*) > 5", "key": {"unique": ["a", "b"]}, "all": {"columns": ["a"]}}),
    ]
    assert query_of(checks, "orders", "day = '2026-01-01'").split("\n") == [
        "SELECT",
        "  count(*),",
        "  max(id) FILTER (WHERE a > 0),",
        r"  count_if(id NOT IN (1, 'it\'s')),",
        "  count(*) > 5,",
        "  count(a, b) - count(DISTINCT a, b)",
        "FROM orders",
        "WHERE day = '2026-01-01'",
    ]
    assert query_of(row_checks({"all": {"columns": ["a"]}}), "orders") == "SELECT *\nFROM orders\nLIMIT 0"
