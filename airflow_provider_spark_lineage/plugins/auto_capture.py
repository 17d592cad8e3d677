"""The plugin: where `[spark_lineage] auto_capture` is off, it imports nothing else of ours."""

from __future__ import annotations

from typing import Any

from airflow.providers.common.compat.sdk import AirflowPlugin, conf


def _listeners() -> list[Any]:
    """Return the listener of auto-capture; none where the option is off when the process starts."""
    try:
        option = conf.get("spark_lineage", "auto_capture", fallback="False")
    except Exception:  # A `_cmd` that fails: `conf` of this package says so, and decides.
        option = "unreadable"
    if str(option).strip().lower() in ("", "false", "f", "0"):
        return []
    from airflow_provider_spark_lineage.plugins.listener import AutoCapture

    return [AutoCapture()]


class SparkLineagePlugin(AirflowPlugin):
    """Registers the listener of auto-capture."""

    name = "spark_lineage"
    listeners = _listeners()
