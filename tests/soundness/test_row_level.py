"""A seeded part of the proof of statements that change rows of Delta and Iceberg tables."""

from __future__ import annotations

import random

import expected
import pytest
import row_level

pytestmark = pytest.mark.spark

QUICK = 2
CHOSEN = sorted(random.Random(31).sample(row_level.queries(), QUICK), key=lambda query: query.name)


@pytest.mark.parametrize("query", CHOSEN, ids=lambda query: query.name)
def test_dependent_columns_have_an_edge(prover_on_lakes, query):
    """Each column of the table afterwards has edges from its former values and from the new ones."""
    verdict = prover_on_lakes.prove(query, thorough=False)
    assert verdict.problems == []
    assert verdict.text == expected.read()[query.name]
