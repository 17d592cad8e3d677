"""Checks of a thousand rows, and what they found when a frame with them was written."""

from __future__ import annotations

import pyspark

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.checks import check

COUNTS_SAMPLES = not pyspark.__version__.startswith("4.3")
"""Before 4.3, Spark counts the rows that a sort samples (SPARK-37487)."""

NO_RESULT = "not_recorded"
"""Kind of the gap of checks that have no result."""

ZERO = {"equal_to": 0}
ROWS = 1000
COLUMNS = {"id": {"null_check": ZERO, "min": {"geq_to": 0}, "max": {"leq_to": 998}, "sum": {"geq_to": 1}}}
RULES = {"positive": "id >= 0", "even": "id % 2 = 0", "row_count": f"count(*) = {ROWS}"}


def checked(spark, frame, write, **arguments):
    """Return what the checks of a frame found when `write` wrote it, by name, and the capture."""
    with capture_lineage(spark) as captured:
        write(check(frame, **{"columns": COLUMNS, "rows": RULES, "severity": "warn", **arguments}))
    return {found.name: found for found in captured.checks}, captured


def results(found):
    """Return success and found value of assertions; None for those without a result."""
    return {name: None if each.not_evaluated else (each.success, each.actual) for name, each in found.items()}
