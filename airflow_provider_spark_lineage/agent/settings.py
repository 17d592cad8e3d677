"""The settings of the agent: `spark.lineage.*` properties of the job."""

from __future__ import annotations

from typing import Callable, List, Optional

from airflow_provider_spark_lineage.guard import tell
from airflow_provider_spark_lineage.records.record import FULL, NONE, SQL_TEXTS

RECORDS = "spark.lineage.records"
"""Where the records go: a local folder, or any URI that Spark's Hadoop file systems can write."""

SQL_TEXT = "spark.lineage.sqlText"
DRAIN_TIMEOUT = "spark.lineage.drainTimeoutSeconds"
MAX_PLAN = "spark.lineage.maxPlanBytes"


def number(conf: Callable[..., Optional[str]], name: str, default: float, problems: List[str]) -> float:
    """Return a setting of 0 or more; where it is no such number, the default, and say so."""
    text = conf(name, None)
    try:
        value = default if text is None else float(text)
        if value < 0:
            raise ValueError(text)
    except ValueError:
        tell(f"{name} = {text!r} is not a number of 0 or more; using {default:g}", problems)
        return default
    return value


def sql_text(conf: Callable[..., Optional[str]], problems: List[str]) -> str:
    """Return how much of SQL is recorded; where the setting is unknown, nothing, and say so."""
    word = conf(SQL_TEXT, FULL) or FULL
    if word in SQL_TEXTS:
        return word
    tell(f"{SQL_TEXT} = {word!r} is not one of {', '.join(SQL_TEXTS)}; using {NONE}", problems)
    return NONE
