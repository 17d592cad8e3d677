"""Each class of each Spark version has its row; each row names a class that there is."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from class_lists import DEFAULT_EXPRESSIONS, LIBRARIES, SPARK, names
from classes_without_row import ABSENT_EXPRESSIONS, ABSENT_PLANS, OPAQUE_PLANS, reason_of

from airflow_provider_spark_lineage.plan.spark.expressions import EXPRESSIONS
from airflow_provider_spark_lineage.plan.spark.reader import ROWS
from airflow_provider_spark_lineage.records.plan_json import names_expression

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.mark.parametrize("version", [*SPARK, *LIBRARIES])
def test_every_node_and_command_has_one_row(version: str) -> None:
    """A new version shows what nobody has thought about; a class read by two rows hides one of them."""
    found = {
        name: (name in ROWS) + bool(reason_of(name, OPAQUE_PLANS)) + bool(reason_of(name, ABSENT_PLANS))
        for name in names({version: (SPARK | LIBRARIES)[version]}, "node", "command")
    }
    assert {name: rows for name, rows in found.items() if rows != 1} == {}


@pytest.mark.parametrize("version", SPARK)
def test_every_expression_was_looked_at(version: str) -> None:
    """The default, a transformation of all children, is right for most expressions and wrong for some."""
    found = {
        name: (name in EXPRESSIONS)
        + (name in DEFAULT_EXPRESSIONS)
        + bool(reason_of(name, ABSENT_EXPRESSIONS))
        for name in names({version: SPARK[version]}, "expression")
    }
    assert {name: rows for name, rows in found.items() if rows != 1} == {}


def test_every_row_names_a_class() -> None:
    """A row that no version can reach is misspelt, or of a time that is over."""
    everything = {**SPARK, **LIBRARIES}
    plans = names(everything, "node", "command")
    expressions = names(everything, "expression")
    assert set(ROWS) - plans == set()
    assert (set(EXPRESSIONS) | DEFAULT_EXPRESSIONS) - expressions == set()
    for reasons, known in ((OPAQUE_PLANS, plans), (ABSENT_PLANS, plans), (ABSENT_EXPRESSIONS, expressions)):
        patterns = [pattern for given in reasons.values() for pattern in given]
        assert [one for one in patterns if not any(reason_of(name, {"it": (one,)}) for name in known)] == []
        assert [one for one, count in Counter(patterns).items() if count > 1] == []


@pytest.mark.parametrize("version", [*SPARK, *LIBRARIES])
def test_expressions_are_told_from_plans(version: str) -> None:
    """The JSON writes both alike: a filter by an expression that is taken for a plan would be lost."""
    found = (SPARK | LIBRARIES)[version]
    plans = [*found["node"], *found["command"]]
    assert [name for name in plans if names_expression(name)] == []
    resolved = [name for name in found["expression"] if not name.rsplit(".", 1)[1].startswith("Unresolved")]
    assert [name for name in resolved if not names_expression(name)] == []


def test_every_row_says_what_it_does() -> None:
    """The page of what is covered prints what rows say of themselves."""
    silent = [name for name, row in {**ROWS, **EXPRESSIONS}.items() if not row.__doc__]
    assert silent == []


def test_page_is_what_the_tables_say() -> None:
    """`docs/coverage.md` is generated: run `python tools/coverage_page.py` after a change to a table."""
    found = subprocess.run(
        [sys.executable, str(TOOLS / "coverage_page.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
