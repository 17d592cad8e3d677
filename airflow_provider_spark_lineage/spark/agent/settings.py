"""Settings of the agent: `spark.lineage.*` properties of the job."""

from __future__ import annotations

from typing import Callable, Dict, Iterable, List, Optional, Tuple

from airflow_provider_spark_lineage.spark.guard import tell
from airflow_provider_spark_lineage.spark.records.application import PROPERTIES as DEFAULT_PROPERTIES
from airflow_provider_spark_lineage.spark.records.sql_text import FULL, NONE, SQL_TEXTS

RECORDS = "spark.lineage.records"
"""Place of the records: a local folder, or any URI that Spark's Hadoop file systems can write to."""

SQL_TEXT = "spark.lineage.sqlText"
DRAIN_TIMEOUT = "spark.lineage.drainTimeoutSeconds"
MAX_PLAN = "spark.lineage.maxPlanBytes"
PROPERTIES = "spark.lineage.properties"
"""Names of Spark's properties to record, with `*` for any text, separated by semicolons."""


def agent_settings(
    *, drain_timeout_seconds: float, max_plan_bytes: int, sql_text: str, properties: Iterable[str]
) -> Dict[str, str]:
    """Return the properties of a job that pass options to its agent."""
    return {
        DRAIN_TIMEOUT: f"{drain_timeout_seconds:g}",
        MAX_PLAN: str(max_plan_bytes),
        SQL_TEXT: sql_text,
        PROPERTIES: ";".join(properties),
    }


def number(conf: Callable[..., Optional[str]], name: str, default: float, problems: List[str]) -> float:
    """Return a non-negative number; warn and use the default if the value is not one."""
    text = conf(name, None)
    try:
        value = default if text is None else float(text)
        if value < 0:
            raise ValueError(text)
    except ValueError:
        tell(f"{name} = {text!r} is not a number of 0 or more; using {default:g}", problems)
        return default
    return value


def properties(conf: Callable[..., Optional[str]]) -> Tuple[str, ...]:
    """Return the setting `properties`, or the names of the default."""
    text = conf(PROPERTIES, None)
    return DEFAULT_PROPERTIES if text is None else tuple(filter(None, map(str.strip, text.split(";"))))


def sql_text(conf: Callable[..., Optional[str]], problems: List[str]) -> str:
    """Return the setting `sqlText`; warn and use `none` if the value is not valid."""
    word = conf(SQL_TEXT, FULL) or FULL
    if word in SQL_TEXTS:
        return word
    tell(f"{SQL_TEXT} = {word!r} is not one of {', '.join(SQL_TEXTS)}; using {NONE}", problems)
    return NONE
