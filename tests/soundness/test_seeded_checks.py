"""A seeded part of the proof that a check in flight says only what is true of the written rows."""

from __future__ import annotations

import random

import pytest

QUICK = 12


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    import session

    spark = session.start(tmp_path_factory.mktemp("checks"))
    yield spark
    spark.stop()


@pytest.mark.spark
@pytest.mark.parametrize("seed", sorted(random.Random(5).sample(range(300), QUICK)))
def test_results_after_several_steps_are_true_of_the_written_rows(spark, seed, tmp_path):
    """Whatever the steps are: then a check has a true result, or none."""
    from checked_frames import outcome

    found = outcome(spark, seed, tmp_path)
    assert found.wrong == [], str(found)
