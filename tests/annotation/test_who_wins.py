"""The table of docs/annotation.md, row by row: Spark, hooks and the author, in every kind of task."""

from __future__ import annotations

import pytest
from annotation.asked_tasks import (
    CAPTURED,
    EVERYWHERE,
    HOOKED,
    ORDERS,
    RATES,
    REPORT,
    TOTALS,
    asked,
    named,
    operator_of,
    report_by_hooks,
    stated,
)
from providers import needs_openlineage

from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.runs.run import Run

pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("provider")]

ENDS = pytest.mark.parametrize("state", ["success", "failed", "skipped"])


def written(state: str) -> dict[tuple[str, str], str]:
    """Return the outputs of a task that wrote one dataset and states another."""
    return {TOTALS: CAPTURED, REPORT: "outlets"} if state == "success" else {TOTALS: CAPTURED}


@ENDS
@EVERYWHERE
def test_spark_did_something_and_the_author_states_more(kind, state, spark_did):
    """Each once; datasets that only the author states have a facet, and are left out of an early end."""
    lineage = asked(kind, operator_of(kind, **stated()), spark_did, state)
    assert named(lineage.inputs) == {ORDERS: CAPTURED, RATES: "inlets"}
    assert named(lineage.outputs) == written(state)
    entries = getattr(lineage.job_facets.get("lineage"), "entries", None)
    if entries is not None:
        assert [each.name for each in entries] == [name for _, name in written(state)]
    [orders] = [each for each in lineage.inputs if each.name == ORDERS[1]]
    assert orders.inputFacets["inputStatistics"].rowCount == 3


@ENDS
@EVERYWHERE
def test_spark_did_something_and_hooks_report_more(kind, state, spark_did):
    """A hook's datasets are facts as Spark's are."""
    report_by_hooks()
    lineage = asked(kind, operator_of(kind, **stated()), spark_did, state)
    assert named(lineage.inputs) == {ORDERS: CAPTURED, RATES: "inlets", HOOKED: ""}
    assert named(lineage.outputs) == written(state)


@ENDS
@EVERYWHERE
def test_spark_did_nothing_and_hooks_report_something(kind, state):
    """The provider's rule: datasets of hooks hide stated ones."""
    report_by_hooks()
    lineage = asked(kind, operator_of(kind, **stated()), Run(Lineage()), state)
    assert (named(lineage.inputs), named(lineage.outputs)) == ({HOOKED: ""}, {})


@needs_openlineage("2.16", "OpenLineage's provider converts no assets of inlets and outlets")
@ENDS
@EVERYWHERE
def test_spark_did_nothing_and_neither_did_hooks(kind, state):
    """The provider's rule: the stated datasets are the only ones."""
    lineage = asked(kind, operator_of(kind, **stated()), Run(Lineage()), state)
    assert named(lineage.inputs) == {RATES: "", ORDERS: ""}
    assert named(lineage.outputs) == {REPORT: ""}


@pytest.mark.parametrize("kind", ["ours, sql", "extractor, sql"])
def test_datasets_of_a_text_are_completed_at_start(kind):
    """START has the datasets that are certain, and those that are stated."""
    lineage = asked(kind, operator_of(kind, **stated()), Run(Lineage()), "running")
    assert named(lineage.inputs) == {ORDERS: CAPTURED, RATES: "inlets"}
    assert named(lineage.outputs) == {("file", "/data/copies"): CAPTURED, REPORT: "outlets"}
