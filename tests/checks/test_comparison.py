"""A value against the limits of a check's dictionary."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from airflow_provider_spark_lineage.spark.checks.comparison import expected_text, verdict

DAY = datetime.date(2026, 1, 31)
NOON = datetime.datetime(2026, 1, 31, 12)


@pytest.mark.parametrize(
    ("limits", "value", "success"),
    [
        ({"equal_to": 0}, 0, True),
        ({"greater_than": 1, "less_than": 3}, 2, True),
        ({"greater_than": 1}, 1, False),
        ({"geq_to": 1, "leq_to": 1}, 1, True),
        ({"less_than": 3}, 3, False),
        ({"equal_to": -30, "tolerance": 0.1}, -30, True),
        ({"equal_to": -30, "tolerance": 0.1}, -34, False),
        ({"geq_to": 10, "tolerance": 0.1}, 9, True),
        ({"geq_to": -10, "tolerance": 0.1}, -11, True),
        ({"leq_to": 10, "tolerance": 0.1}, 11.5, False),
        ({"equal_to": 0.1}, Decimal("0.10"), True),
        ({"equal_to": "a"}, "a", True),
        ({"geq_to": "2026-01-31"}, DAY, True),
        ({"less_than": DAY}, DAY, False),
        ({"leq_to": "2026-01-31T12:00:00"}, NOON, True),
        ({"less_than": DAY}, NOON, False),
        ({"equal_to": True}, True, True),
    ],
)
def test_values_are_compared_by_their_type(limits, value, success):
    """Numbers with numbers, decimals exactly, dates also with ISO texts; a tolerance widens to both sides."""
    assert verdict(limits, value, accept_none=False) == (success, "")


@pytest.mark.parametrize(
    ("limits", "value", "reason"),
    [
        ({"geq_to": 1}, "a", "the value is a text, and the expected one is a number"),
        ({"geq_to": "a"}, 1, "the value is a number, and the expected one is a text"),
        ({"geq_to": 1}, True, "the value is a boolean, and the expected one is a number"),
        (
            {"geq_to": "today"},
            DAY,
            "the expected value is not the ISO text of a date, 2026-01-31 for example",
        ),
        ({"geq_to": "a", "tolerance": 0.1}, "a", "a tolerance needs a number, not a text"),
        ({"geq_to": 1}, b"a", "the value is a bytes, and the expected one is a number"),
    ],
)
def test_what_cannot_be_compared_is_no_success_and_no_error(limits, value, reason):
    """One sentence in place of Python's TypeError, which would lose the results of all other checks."""
    assert verdict(limits, value, accept_none=True) == (False, reason)


def test_a_missing_value_is_zero_only_if_it_is_accepted():
    """As in Airflow; a limit that is no number then accepts it."""
    assert verdict({"leq_to": 5}, None, accept_none=True).success
    assert not verdict({"geq_to": 1}, None, accept_none=True).success
    assert verdict({"geq_to": "2026-01-01"}, None, accept_none=True).success
    assert verdict({"leq_to": 5}, None, accept_none=False) == (False, "")


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"equal_to": 0}, "0"),
        ({"greater_than": 5, "leq_to": 10}, ">5, <=10"),
        ({"equal_to": -30, "tolerance": 0.1}, ">=-33.0, <=-27.0"),
        ({"greater_than": 10, "tolerance": 0.1}, ">9.0"),
        ({"less_than": "b"}, "<b"),
        ({"less_than": "b", "tolerance": 0.1}, "<b"),
    ],
)
def test_expected_is_written_in_one_form(limits, text):
    """Except that a tolerance of a negative number gives a range that its value can be in."""
    assert expected_text(limits) == text
