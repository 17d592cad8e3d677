"""Facets of checks of written rows: at their output, each assertion of a column once."""

from __future__ import annotations

from dataclasses import replace

from openlineage.client.event_v2 import OutputDataset
from openlineage_client import needs_fields_of_results

from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, ColumnMetrics, Findings, Metrics
from airflow_provider_spark_lineage.spark.facets.quality import ASSERTIONS, METRICS, TEST, add_findings
from airflow_provider_spark_lineage.spark.records.sql_text import FULL

pytestmark = needs_fields_of_results

NOT_NULL = Assertion("not_null", True, "id.null_check", "not_null", column="id", expected="0", actual="0")
FAILED = replace(NOT_NULL, success=False, actual="3")
METRICS_OF_ALL = Metrics(2, {"id": ColumnMetrics(nulls=0, values=2, max=7.0)})
WRITTEN = Findings((NOT_NULL,), METRICS_OF_ALL, output=("file", "/out"), ended_at="2026-01-01T00:00:00+00:00")


def outputs() -> list[OutputDataset]:
    return [OutputDataset("file", "/other"), OutputDataset("file", "/out")]


def test_results_are_at_the_output_that_the_execution_wrote():
    """Metrics have the time of the write; no other dataset gets anything."""
    other, out = outputs()
    assert add_findings([], [WRITTEN], FULL, [other, out]) == {}
    assert not other.facets
    [assertion] = out.facets[ASSERTIONS].assertions
    assert (assertion.assertion, assertion.success, assertion.column) == ("not_null", True, "id")
    metrics = out.facets[METRICS]
    assert (metrics.rowCount, metrics.columnMetrics["id"].count, metrics.columnMetrics["id"].max) == (2, 2, 7)
    assert getattr(metrics, "captureDate", WRITTEN.ended_at) == WRITTEN.ended_at


def test_an_assertion_of_a_column_is_there_once():
    """Two writes of a dataset: what failed once is not hidden by a later success, nor the other way round."""
    for assertions in ((NOT_NULL, FAILED), (FAILED, NOT_NULL)):
        _, out = written = outputs()
        add_findings([], [replace(WRITTEN, assertions=(each,)) for each in assertions], FULL, written)
        assert [each.actual for each in out.facets[ASSERTIONS].assertions] == ["3"]


def test_results_of_an_output_that_the_event_lacks_are_at_the_run():
    """Its executions may have the datasets, in events of their own."""
    facets = add_findings([], [WRITTEN], FULL)
    assert [(test.name, test.status) for test in facets[TEST].tests] == [("id.null_check", "pass")]
