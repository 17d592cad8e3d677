"""Errors of a program are the same with and without capture, with the frames of their Java stack traces."""

from __future__ import annotations

import pyspark
import pytest
from failing import PROGRAMS, errors, prepare, printed

pytestmark = pytest.mark.spark


@pytest.fixture
def caught(spark, tmp_path):
    """Return a function that runs all programs and returns their errors."""
    prepare(spark)

    def run():
        texts = errors(spark, str(tmp_path / "nowhere"))
        assert list(texts) == list(PROGRAMS)
        return texts

    return run


def test_stack_traces_are_those_of_the_program(spark, caught, recorded):
    """Capture reads the plans of failed queries, and leaves the stack traces of their errors as they were.

    Since Spark 4.0 an error gets the frames of the last caller of the query.
    """
    without = caught()
    with recorded() as records:
        within = caught()
    # Spark 3.5 reports no query that failed in its analysis.
    assert len(records) >= (3 if pyspark.__version__ < "4" else len(PROGRAMS) / 2), "failures are executions"
    for name in PROGRAMS:
        assert printed(spark, within[name]) == printed(spark, without[name]), name
        assert not [line for line in printed(spark, within[name]) if "sparklineage" in line], name


def test_a_query_that_failed_after_its_analysis_has_a_plan(spark, caught, recorded):
    """Inputs and outputs are known if the analysis succeeded, and only then."""
    with recorded() as records:
        caught()
    kinds = {record.error["class"].rpartition(".")[2]: record.plan_kind for record in records if record.error}
    if pyspark.__version__ >= "4":
        assert kinds["ExtendedAnalysisException"] == "none"
    assert kinds["SparkArithmeticException"] == "analyzed"
