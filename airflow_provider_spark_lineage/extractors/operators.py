"""The operators that we do not own and extract from: one row each."""

from __future__ import annotations

PYSPARK_OPERATORS = ("PySparkOperator", "_PySparkDecoratedOperator")
"""Class names whose tasks open, use and stop a PySpark session inside `execute`."""
