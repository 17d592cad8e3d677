"""A seeded part of the proof that `make soundness` makes of every query."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace

import expected
import pytest
from query_set import queries

pytestmark = pytest.mark.spark

QUICK = 24
PLAIN = [query for query in queries() if not query.on_lakes]
CHOSEN = sorted(random.Random(4).sample(PLAIN, QUICK), key=lambda query: query.name)


@pytest.mark.parametrize("query", CHOSEN, ids=lambda query: query.name)
def test_dependent_columns_have_an_edge(prover, query):
    """No output column changes with a base column that it has no edge from; the lineage is as expected."""
    verdict = prover.prove(query, thorough=False)
    assert verdict.problems == []
    assert verdict.text == expected.read()[query.name]


def test_the_proof_finds_an_edge_that_is_not_there(prover, monkeypatch):
    """Without the edges from any one base column, that column is reported."""
    (query,) = (query for query in queries() if query.name == "joins: semi and anti")
    whole = prover.capture(query)
    for base in sorted({edge.base for edge in whole.edges}):
        less = replace(
            whole, edges={edge for edge in whole.edges if edge.base != base}, missing=defaultdict(list)
        )
        monkeypatch.setattr(prover, "capture", lambda _, less=less: less)
        assert [problem for problem in prover.prove(query, thorough=False).problems if base in problem]
