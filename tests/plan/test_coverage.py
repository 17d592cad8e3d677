"""Each class of each Spark version has its row; each row names a class that there is."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from class_lists import DEFAULT_EXPRESSIONS, LIBRARIES, SPARK, names
from classes_without_row import ABSENT_EXPRESSIONS, ABSENT_PLANS, OPAQUE_PLANS, reason_of

from airflow_provider_spark_lineage.spark.plan.spark.expressions import EXPRESSIONS
from airflow_provider_spark_lineage.spark.plan.spark.reader import ROWS
from airflow_provider_spark_lineage.spark.records.plan_json import names_expression

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.mark.parametrize("version", [*SPARK, *LIBRARIES])
def test_every_node_and_command_has_one_row(version: str) -> None:
    """A new version shows classes without a row; a class read by two rows hides one of them."""
    rows_of = {
        name: (name in ROWS) + bool(reason_of(name, OPAQUE_PLANS)) + bool(reason_of(name, ABSENT_PLANS))
        for name in names({version: (SPARK | LIBRARIES)[version]}, "node", "command")
    }
    assert {name: rows for name, rows in rows_of.items() if rows != 1} == {}


@pytest.mark.parametrize("version", SPARK)
def test_every_expression_was_looked_at(version: str) -> None:
    """The default, a transformation of all children, is right for most expressions and wrong for some."""
    rows_of = {
        name: (name in EXPRESSIONS)
        + (name in DEFAULT_EXPRESSIONS)
        + bool(reason_of(name, ABSENT_EXPRESSIONS))
        for name in names({version: SPARK[version]}, "expression")
    }
    assert {name: rows for name, rows in rows_of.items() if rows != 1} == {}


def test_every_row_names_a_class() -> None:
    """A row that no version can reach is misspelt, or of a time that is over."""
    everything = {**SPARK, **LIBRARIES}
    plans = names(everything, "node", "command")
    expressions = names(everything, "expression")
    assert set(ROWS) - plans == set()
    assert (set(EXPRESSIONS) | DEFAULT_EXPRESSIONS) - expressions == set()
    for reasons, known in ((OPAQUE_PLANS, plans), (ABSENT_PLANS, plans), (ABSENT_EXPRESSIONS, expressions)):
        patterns = [pattern for given in reasons.values() for pattern in given]
        assert [
            pattern for pattern in patterns if not any(reason_of(name, {"it": (pattern,)}) for name in known)
        ] == []
        assert [pattern for pattern, count in Counter(patterns).items() if count > 1] == []


@pytest.mark.parametrize("version", [*SPARK, *LIBRARIES])
def test_expressions_are_told_from_plans(version: str) -> None:
    """The JSON writes both alike: a filter by an expression that is taken for a plan would be lost."""
    lists = (SPARK | LIBRARIES)[version]
    plans = [*lists["node"], *lists["command"]]
    assert [name for name in plans if names_expression(name)] == []
    resolved = [name for name in lists["expression"] if not name.rsplit(".", 1)[1].startswith("Unresolved")]
    assert [name for name in resolved if not names_expression(name)] == []


def test_every_row_has_a_description() -> None:
    """The page of covered classes prints the docstrings of rows."""
    silent = [name for name, row in {**ROWS, **EXPRESSIONS}.items() if not row.__doc__]
    assert silent == []


def test_page_matches_the_tables() -> None:
    """`docs/coverage.md` is generated: run `python tools/coverage_page.py` after a change to a table."""
    done = subprocess.run(
        [sys.executable, str(TOOLS / "coverage_page.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
