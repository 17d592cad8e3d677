"""Rules for drafting expected events of this provider: values that vary, and facets whose absence counts.

The harness knows OpenLineage and Airflow; `spark-lineage expect` and the pytest plugin pass it these rules.
"""

from __future__ import annotations

import re

from airflow_provider_spark_lineage.testing import DraftRules
from airflow_provider_spark_lineage.testing.drafts import literal_pattern
from airflow_provider_spark_lineage.testing.matchers import Matcher, make


def _error_message(text: str) -> Matcher | None:
    """Expect a message up to the class of the error: the advice that follows changes with Spark's version."""
    match = re.match(r"[^\[\n]*\[[A-Z_.]+\]", text)
    return make("regex", f"(?s){literal_pattern(match[0])}.*") if match else None


def _version(text: str) -> Matcher | None:
    pattern = r"[0-9]+\.[0-9.]+"
    return make("regex", pattern) if re.fullmatch(pattern, text) else None


RULES = DraftRules(
    # Ids of Spark applications: in local mode, on Kubernetes and standalone, on YARN.
    varying=(r"(app|local)-[0-9-]{10,}", r"application_[0-9]+_[0-9]+"),
    texts={"message": _error_message, "sparkVersion": _version},
    # Without gaps, our events claim to be complete.
    absent_run_facets={"sparkLineage_gaps": "airflow-provider-spark-lineage"},
)
