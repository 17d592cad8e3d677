"""Composition of transformations along a path."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from airflow_provider_spark_lineage.spark.plan.algebra import IDENTITY, Kind, Transformation

steps = st.builds(Transformation, st.sampled_from(Kind), st.booleans())
direct = steps.filter(lambda step: step.kind.is_direct)


@given(steps)
def test_identity_changes_nothing(step: Transformation) -> None:
    """An alias at either end of a path is not seen."""
    assert step.after(IDENTITY) == step
    assert IDENTITY.after(step) == step


@given(steps, steps, steps)
def test_composition_is_associative(
    first: Transformation, second: Transformation, third: Transformation
) -> None:
    """A path means the same however it is cut into executions: composing a task's lineage relies on it."""
    assert first.after(second).after(third) == first.after(second.after(third))


@given(direct, direct)
def test_strongest_direct_kind_wins(outer: Transformation, inner: Transformation) -> None:
    """AGGREGATION over TRANSFORMATION over IDENTITY, in whatever order they come."""
    strength = [Kind.IDENTITY, Kind.TRANSFORMATION, Kind.AGGREGATION]
    assert outer.after(inner).kind == max(outer.kind, inner.kind, key=strength.index)


@given(steps, steps)
def test_indirect_stays_indirect(outer: Transformation, inner: Transformation) -> None:
    """Influence does not become a value by a later step."""
    assert outer.after(inner).kind.is_direct == (outer.kind.is_direct and inner.kind.is_direct)


@given(steps, steps)
def test_masking_stays(outer: Transformation, inner: Transformation) -> None:
    """A masked value stays masked through every later step."""
    assert outer.after(inner).masking == (outer.masking or inner.masking)
