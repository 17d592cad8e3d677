"""Pairs of an SQL expression and its used columns, on the plans that each Spark version makes of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from scan_columns import how, name_of
from spark_trees import alias, call, column, equal, project, scan

from airflow_provider_spark_lineage.spark.lineage.columns import evaluate
from airflow_provider_spark_lineage.spark.plan.spark.reader import read_plan

PLACE = Path(__file__).resolve().parent


def pairs() -> list[tuple[str, str]]:
    lines = (PLACE / "expressions.txt").read_text(encoding="utf-8").splitlines()
    split = (line.rpartition("|") for line in lines if line and not line.startswith("#"))
    return [(sql.strip(), uses.strip()) for sql, _, uses in split]


def plans(path: Path) -> dict[str, list[dict[str, Any]]]:
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    return dict(map(json.loads, lines))


STORED = {path.name[12:15]: plans(path) for path in sorted(PLACE.glob("expressions-*.json.gz"))}


@pytest.mark.parametrize("version", STORED)
@pytest.mark.parametrize(("sql", "uses"), pairs())
def test_expression_uses(version: str, sql: str, uses: str) -> None:
    """The effect of an expression on each column that it uses, as in the table of docs/rules.md."""
    assert sql in STORED[version], f"no plan of Spark {version}: run tools/capture_expressions.py with it"
    evaluation = evaluate(read_plan(STORED[version][sql]))
    ((_, value),) = evaluation.output
    actual = {f"{name_of(origin)} {how(path)}" for origin, path in value.whole}
    assert actual == {use.strip() for use in uses.split(",") if use.strip()}
    assert not evaluation.rows
    assert not evaluation.gaps


def test_both_versions_are_stored() -> None:
    """Expressions are checked as two Spark versions write them."""
    assert len(STORED) >= 2


def test_a_choice_between_a_column_and_itself_is_the_column() -> None:
    """Iceberg 1.4 writes an UPDATE so, for each column that it does not set: the test has no effect."""
    unset = call("If", equal(1, 2), column("b", 2), column("b", 2))
    chosen = call("If", equal(1, 2), column("a", 1), column("b", 2))
    cases = {}
    for name, tree in (("unset", unset), ("set", chosen)):
        plan = read_plan(project(scan(column("a", 1), column("b", 2)), alias(name, 9, tree)))
        ((_, value),) = evaluate(plan).output
        cases[name] = {(name_of(origin), path.kind.subtype) for origin, path in value.whole}
    assert cases["unset"] == {("b", "IDENTITY")}
    assert {"CONDITIONAL"} < {kind for _, kind in cases["set"]}
