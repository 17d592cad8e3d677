"""The Airflow plugin; if `[spark_lineage] auto_capture` is off, it imports no other part of this package."""

from __future__ import annotations

from typing import Any

from airflow.providers.common.compat.sdk import AirflowPlugin, conf

from airflow_provider_spark_lineage.airflow.plugins.task_ends import StoredLineage


def _listeners() -> list[Any]:
    """Return the listeners: the one of auto-capture only if the option is on when the process starts."""
    try:
        option = conf.get("spark_lineage", "auto_capture", fallback="False")
    except Exception:  # A `_cmd` that fails: our `conf` warns and uses the default.
        option = "unreadable"
    if str(option).strip().lower() in ("", "false", "f", "0"):
        return [StoredLineage()]
    from airflow_provider_spark_lineage.airflow.plugins.listener import AutoCapture

    return [AutoCapture(), StoredLineage()]


class SparkLineagePlugin(AirflowPlugin):
    """Registers the listeners."""

    name = "spark_lineage"
    listeners = _listeners()
