"""`docs/checks.md` is what the code does: its table of checks, and its examples."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.spark.checks.aggregates import AGGREGATES, REFERENCES
from airflow_provider_spark_lineage.spark.checks.measuring import MAX_QUERIES_AFTER_AN_ERROR

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
EXAMPLES = [text for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "base = My" not in text]


def test_every_check_of_a_column_is_in_the_table():
    """With its aggregate, and the keys that only it has."""
    table = re.findall(r"^\| `([a-z_]+)` \| `([^`]+)` \| (.*) \|$", PAGE, re.MULTILINE)
    *aggregates, (references, _, keys_of_references) = table
    assert [(check, sql) for check, sql, _ in aggregates] == [
        (check, aggregate.sql) for check, aggregate in AGGREGATES.items()
    ]
    assert (references, "`table` and `column`" in keys_of_references) == (REFERENCES, True)
    for check, _, keys in aggregates:
        aggregate = AGGREGATES[check]
        own = {aggregate.needs, *aggregate.takes} - {""}
        assert set(re.findall(r"`(\w+)`", keys)) == own, check
        assert ("limits" in keys) == aggregate.has_limits, check


def test_limits_on_the_page_are_those_of_the_code():
    """A reader plans by them."""
    from airflow_provider_spark_lineage.spark.facets.quality import MAX_ASSERTIONS

    assert f"at most {MAX_ASSERTIONS} assertions" in PAGE
    assert f"at most {MAX_QUERIES_AFTER_AN_ERROR} of them" in PAGE


@pytest.mark.airflow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.strip().splitlines()[-1])
def test_example_makes_its_operators(example):
    """Operators refuse unknown arguments, checks and keys when they are made."""
    names: dict[str, object] = {}
    exec(example, names)  # noqa: S102
    assert any(name.startswith(("Spark", "SQL", "new_orders", "write_", "report_")) for name in names)


@pytest.mark.airflow
def test_every_operator_has_an_example():
    """A class that is listed and not shown is not found."""
    from airflow_provider_spark_lineage.operators import checks

    operators = {name for name in vars(checks) if re.fullmatch(r"Spark\w+Operator", name)}
    assert operators == set(re.findall(r"^\| `(Spark\w+)` \| `SQL", PAGE, re.MULTILINE))
    assert {name for name in operators if f"\n{name}(" in PAGE} == operators
