"""The Airflow plugin; if `[spark_lineage] auto_capture` is off, it imports nothing else of this package."""

from __future__ import annotations

from typing import Any

from airflow.providers.common.compat.sdk import AirflowPlugin, conf


def _listeners() -> list[Any]:
    """Return the listener of auto-capture; an empty list if the option is off when the process starts."""
    try:
        option = conf.get("spark_lineage", "auto_capture", fallback="False")
    except Exception:  # A `_cmd` that fails: our `conf` warns and uses the default.
        option = "unreadable"
    if str(option).strip().lower() in ("", "false", "f", "0"):
        return []
    from airflow_provider_spark_lineage.plugins.listener import AutoCapture

    return [AutoCapture()]


class SparkLineagePlugin(AirflowPlugin):
    """Registers the listener of auto-capture."""

    name = "spark_lineage"
    listeners = _listeners()
