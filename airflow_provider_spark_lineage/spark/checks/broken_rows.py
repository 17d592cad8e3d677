"""Rows that break a rule, written to a place of their own: `check(df, rows=..., broken_to="/quarantine")`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from airflow_provider_spark_lineage.spark.checks.measuring import functions_of

BROKEN_RULES, RUN_ID = "broken_rules", "run_id"
"""Columns that are added to the rows."""

_RUN_ID_OF_AIRFLOW = "AIRFLOW_CTX_DAG_RUN_ID"
"""Airflow sets it in the process of a task that calls a function."""


def validate_place(broken_to: Any, columns: list[str]) -> None:
    """Raise ValueError with one sentence if the place is not a text, or the frame has one of our columns."""
    if not isinstance(broken_to, str) or not broken_to.strip():
        raise ValueError(
            f"broken_to is {broken_to!r}; it must be a folder, '/quarantine/orders' for example, or a table."
        )
    clashes = [column for column in columns if column.lower() in (BROKEN_RULES, RUN_ID)]
    if clashes:
        raise ValueError(
            f"broken_to adds the columns {BROKEN_RULES} and {RUN_ID}, and the frame has {clashes[0]} already:"
            " rename it."
        )


def write_broken_rows(frame: Any, rules: Mapping[str, Callable[[Any], Any]], broken_to: str) -> None:
    """Append the rows that break a rule, with the names of these rules and the id of Airflow's run.

    `broken_to` is a folder of Parquet files if it has a slash, or else a table. The frame is computed for it.
    """
    functions = functions_of(frame)
    names = [functions.when(~rule(functions), functions.lit(name)) for name, rule in rules.items()]
    broken = (
        frame.withColumn(BROKEN_RULES, functions.array_compact(functions.array(*names)))
        .withColumn(RUN_ID, functions.lit(os.environ.get(_RUN_ID_OF_AIRFLOW)).cast("string"))
        .where(functions.size(functions.col(BROKEN_RULES)) > 0)
    )
    if "/" in broken_to:
        broken.write.mode("append").parquet(broken_to)
    else:
        broken.write.mode("append").saveAsTable(broken_to)
