"""Invariants of any query: random plans, proven, and written in ways that mean the same."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_plans import plans

pytestmark = pytest.mark.spark

EXAMPLES = int(os.environ.get("SOUNDNESS_EXAMPLES", "0"))
"""Number of random plans for each test; without it a few, always the same."""

some = settings(
    max_examples=EXAMPLES or 4,
    derandomize=not EXAMPLES,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def view(frame):
    frame.createOrReplaceTempView("written_as_a_view")
    return frame.sparkSession.table("written_as_a_view")


def common_table_expression(frame):
    return frame.sparkSession.sql("with w as (select * from {frame}) select * from w", frame=frame)


WAYS = {
    "alias": lambda frame: frame.alias("another"),
    "view": view,
    "common table expression": common_table_expression,
    "cache": lambda frame: frame.cache(),
    "checkpoint": lambda frame: frame.localCheckpoint(),
    "all columns selected": lambda frame: frame.select("*"),
    "repartition": lambda frame: frame.repartition(2),
}
"""Wrappers for any part of a query that do not change its meaning."""


@some
@given(plan=plans())
def test_random_plans_have_every_edge(prover, plan):
    """The rule of perturbation and the invariants hold for plans made at random."""
    verdict = prover.prove(plan.as_frame(), thorough=False)
    assert verdict.problems == []
    assert not verdict.opaque
    assert {edge.base for edge in verdict.edges} <= set(prover.bases)


@some
@given(plan=plans())
def test_sql_and_dataframe_code_have_the_same_lineage(prover, plan):
    """Lineage depends on a query's meaning, not on the way it is written."""
    assert prover.capture(plan.as_sql()).text == prover.capture(plan.as_frame()).text


@some
@given(plan=plans(), name=st.sampled_from(sorted(WAYS)), after=st.integers(0, 4))
def test_rewriting_without_another_meaning_changes_no_lineage(prover, plan, name, after):
    """An alias, a view, a CTE, a cache and a checkpoint in the middle are not seen."""
    assert prover.capture(plan.as_frame(WAYS[name], after)).text == prover.capture(plan.as_frame()).text
