"""The sieve before a comparison: it never refuses what fits, whatever it lets through."""

from __future__ import annotations

import random
from typing import Any

from airflow_provider_spark_lineage.testing.composite import make
from airflow_provider_spark_lineage.testing.differences import differences
from airflow_provider_spark_lineage.testing.sieve import finest, sieve

SCALARS: tuple[Any, ...] = (0, 1, 1.0, True, False, None, "", "a", "1", "ab")
MATCHERS = (
    make("any"),
    make("absent"),
    make("string"),
    make("integer"),
    make("regex", "a.*"),
    make("optional", 1),
    make("one_of", [1, "a"]),
    make("at_least", [{"name": "a"}]),
    make("unordered", [1, "a"]),
    make("exact", {"name": "a"}),
)


def made(chance: random.Random, depth: int, scalars: tuple[Any, ...]) -> Any:
    kind = chance.random()
    if depth and kind < 0.4:
        names = chance.sample(("name", "namespace", "v"), chance.randrange(4))
        return {name: made(chance, depth - 1, scalars) for name in names}
    if depth and kind < 0.7:
        return [made(chance, depth - 1, scalars) for _ in range(chance.randrange(4))]
    return chance.choice(scalars)


def test_what_fits_is_never_refused():
    """Random values: whatever the sieve refuses, the comparison refuses too."""
    chance = random.Random(1)  # noqa: S311 - the same values every time
    fitting = refused = 0
    for _ in range(40_000):
        expected = made(chance, 2, (*SCALARS, *MATCHERS))
        actual = made(chance, 2, SCALARS)
        if next(differences(expected, actual), None) is None:
            fitting += 1
            assert (finest(expected)(actual), sieve(expected)(actual)) == (0, 0), (expected, actual)
        else:
            refused += bool(finest(expected)(actual))
    assert fitting > 1000
    assert refused > 20_000
