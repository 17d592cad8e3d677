"""The Airflow plugin that adds the tab "Spark lineage"; it adds nothing to Airflow 3.0, which has no tabs."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from airflow.providers.common.compat.sdk import AirflowPlugin, conf

from airflow_provider_spark_lineage import __version__
from airflow_provider_spark_lineage.airflow.ui.application import ViewerApplication

PREFIX = "/spark_lineage"
"""Where Airflow mounts our routes."""

TAB = "Spark lineage"
"""Label of the tab, and the name under which the bundle registers its component: one for all four, because a
bundle of one address is run only once."""

DESTINATIONS = ("task_instance", "task", "dag_run", "dag")


def _base_path() -> str:
    """Return the path below which Airflow's UI is served; empty if it is the root."""
    try:
        address = str(conf.get("api", "base_url", fallback="") or "")
    except Exception:  # A `_cmd` that fails: Airflow itself will report it.
        return ""
    return urlsplit(address).path.rstrip("/")


def _react_apps() -> list[dict[str, Any]]:
    # The version is in the address, because browsers keep modules.
    bundle = f"{_base_path()}{PREFIX}/static/{__version__}/plugin.js"
    return [
        {
            "name": TAB,
            "bundle_url": bundle,
            "destination": destination,
            "url_route": f"spark_lineage_{destination}",
        }
        for destination in DESTINATIONS
    ]


_HAS_TABS = hasattr(AirflowPlugin, "react_apps")


class SparkLineageViewerPlugin(AirflowPlugin):
    """Registers the tab and the routes that it asks."""

    name = "spark_lineage_viewer"
    react_apps = _react_apps() if _HAS_TABS else []
    fastapi_apps = [{"app": ViewerApplication(), "url_prefix": PREFIX, "name": TAB}] if _HAS_TABS else []
