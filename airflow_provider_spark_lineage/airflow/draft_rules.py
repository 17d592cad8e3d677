"""Rules for drafting expected events of this provider: values that vary, and facets whose absence counts.

The harness knows OpenLineage and Airflow; `spark-lineage expect` and the pytest plugin pass it these rules.
"""

from __future__ import annotations

import re

from airflow_provider_spark_lineage.openlineage.testing import DraftRules
from airflow_provider_spark_lineage.openlineage.testing.draft_facets import Keep, Row
from airflow_provider_spark_lineage.openlineage.testing.draft_texts import literal_pattern
from airflow_provider_spark_lineage.openlineage.testing.matchers import Matcher, make


def _error_message(text: str) -> Matcher | None:
    """Expect a message up to the class of the error: the advice that follows changes with Spark's version."""
    match = re.match(r"[^\[\n]*\[[A-Z_.]+\]", text)
    return make("regex", f"(?s){literal_pattern(match[0])}.*") if match else None


_OUT, _VALUE = Keep.OUT, Keep.VALUE
_DATASET = {"namespace": _VALUE, "name": _VALUE}

FACETS: dict[str, Row] = {
    # Of the machine: where the driver ran, with which settings and versions, how fast and why not faster.
    **dict.fromkeys(
        (
            "sparkLineage_application",
            "sparkLineage_bottlenecks",
            "sparkLineage_resources",
            "spark_applicationDetails",
            "spark_properties",
        ),
        _OUT,
    ),
    # The executions have events of their own.
    "sparkLineage_executions": _OUT,
    "sparkLineage_failures": {
        "failures": {
            "errorClass": _VALUE,
            "condition": _VALUE,
            "sqlState": _VALUE,
            "message": Keep.MESSAGE,
            **dict.fromkeys(("execution", "line", "position", "fragment", "codeLine"), _OUT),
        }
    },
    "sparkLineage_gaps": {
        "gaps": {"kind": _VALUE, "reason": Keep.MESSAGE, "output": _DATASET, "column": _VALUE, "where": _OUT},
    },
    "sparkLineage_launch": {
        "applications": {
            "type": _VALUE,
            "main": _VALUE,
            "mainClass": _VALUE,
            # Templates put ids and dates of the run into both.
            "name": _OUT,
            "arguments": _OUT,
        },
        "service": _VALUE,
        "runId": _OUT,
        "link": _OUT,
    },
    "sparkLineage_stated": {"by": _VALUE},
    "sparkLineage_streams": {
        "count": _VALUE,
        "queries": {
            "name": _VALUE,
            "outcome": _VALUE,
            "errorClass": _VALUE,
            "errorCondition": _VALUE,
            "errorMessage": Keep.MESSAGE,
            # How many batches there are, and what the last one was, depends on the speed.
            **dict.fromkeys(
                (
                    *("applicationId", "id", "runId", "startedAt", "endedAt", "batches", "rows", "sink"),
                    *("sources", "lastBatch", "lastProgressAt", "lastDurationMs", "watermark"),
                    *("inputRowsPerSecond", "processedRowsPerSecond"),
                ),
                _OUT,
            ),
        },
    },
}
"""Name of a facet of ours -> its row; tests compare the rows with the facets' schemas."""

RULES = DraftRules(
    # Ids of Spark applications: in local mode, on Kubernetes and standalone, on YARN.
    varying=(r"(app|local)-[0-9-]{10,}", r"application_[0-9]+_[0-9]+"),
    # What Spark puts into messages: a task by its numbers and its executor, and times.
    varying_in_messages=(
        r"TID [0-9]+",
        r"[a-zA-Z0-9.-]+ executor (driver|[0-9]+)",
        r"[0-9]+(\.[0-9]+)? (s|ms|min|seconds|milliseconds|minutes|bytes|[KMG]i?B)",
    ),
    texts={"message": _error_message, "errorMessage": _error_message},
    facets=FACETS,
    # Without gaps, our events claim to be complete.
    absent_run_facets={"sparkLineage_gaps": "airflow-provider-spark-lineage"},
)
