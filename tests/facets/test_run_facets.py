from __future__ import annotations

import pytest
from gap_kinds import gap_kinds
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage import __version__
from airflow_provider_spark_lineage.spark.facets.failures import FAILURES
from airflow_provider_spark_lineage.spark.facets.runs import (
    GAPS,
    MAX_GAPS,
    engine_facet,
    error_facet,
    error_text,
    lineage_run_facets,
)
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import Failure, Gap, Lineage


def test_gaps_are_visible_with_output_and_column(totals):
    assert Serde.to_dict(lineage_run_facets(totals)[GAPS])["gaps"] == [
        {
            "where": "MapInPandas at map#4",
            "kind": "code_over_rows",
            "reason": "Code over whole rows was not looked into.",
            "output": {"namespace": "file", "name": "/out/totals"},
            "column": "total",
        },
        {"where": "RDD at map#7", "kind": "rows_from_python", "reason": "Rows came out of an RDD."},
    ]


def test_complete_lineage_has_neither_gaps_nor_failures(copies):
    assert lineage_run_facets(copies) == {}


def test_all_failures_are_kept_because_airflow_replaces_the_error_message(failures):
    assert Serde.to_dict(lineage_run_facets(Lineage(failures=failures))[FAILURES])["failures"] == [
        {"errorClass": "ValueError", "message": "bad row", "execution": "execution 2 (command)"},
        {
            "errorClass": "org.apache.spark.SparkArithmeticException",
            "message": "Division by zero.",
            "sqlState": "22012",
            "execution": "execution 4 (command)",
        },
    ]


def test_an_event_does_not_grow_with_the_number_of_executions():
    """A hundred gaps and the last hundred failures are listed, and the omission of others is a gap."""
    gaps = tuple(
        Gap(f"RDD#{number}", Reason(GapKind.ROWS_FROM_PYTHON, "Rows came out of an RDD."))
        for number in range(MAX_GAPS + 1)
    )
    failures = tuple(Failure("E", str(number)) for number in range(MAX_GAPS + 2))
    facets = lineage_run_facets(Lineage(gaps=gaps, failures=failures))
    assert gap_kinds(facets)[MAX_GAPS:] == ["limit_reached", "limit_reached"]
    assert [failure.message for failure in facets[FAILURES].failures] == [
        failure.message for failure in failures[2:]
    ]


def test_the_error_message_is_the_failure_that_ended_the_run(failures):
    facet = error_facet(failures)["errorMessage"]
    assert facet.message == ("org.apache.spark.SparkArithmeticException (SQLSTATE 22012): Division by zero.")
    assert facet.programmingLanguage == "JAVA"
    assert error_facet(()) == {}


@pytest.mark.parametrize(
    ("error_class", "language"),
    [
        ("ValueError", "PYTHON"),
        ("pyspark.errors.exceptions.captured.PythonException", "PYTHON"),
        ("org.apache.spark.api.python.PythonException", "JAVA"),
        ("java.lang.OutOfMemoryError", "JAVA"),
    ],
)
def test_the_language_follows_the_exceptions_class(error_class, language):
    assert error_facet((Failure(error_class, "m"),))["errorMessage"].programmingLanguage == language


def test_an_error_without_a_message_is_its_class():
    assert error_text(Failure("ValueError", "")) == "ValueError"


def test_the_engine_is_spark_in_its_own_version_and_our_adapter():
    facet = engine_facet("4.1.0")["processing_engine"]
    assert (facet.name, facet.version, facet.openlineageAdapterVersion) == ("Spark", "4.1.0", __version__)


def test_an_unknown_version_gives_no_engine_facet():
    """The spec requires the version, and a made-up one would be worse than none."""
    assert engine_facet("") == {}
