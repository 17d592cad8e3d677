"""The doctor's checks of the tab in Airflow's UI: its plugin, who sees it, and the store."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from airflow_provider_spark_lineage.cli.doctor.model import Finding, Installation, note

_FIRST_WITH_TABS = Version("3.1")


def tab(installation: Installation) -> Iterator[Finding]:
    """Check that Airflow has tabs of plugins, and finds this one."""
    text = installation.distributions.get("apache-airflow", "")
    try:
        version = Version(text)
    except InvalidVersion:
        return
    if version < _FIRST_WITH_TABS:
        advice = (
            f"Airflow {text} has no tabs of plugins, so its UI does not show lineage; upgrade to 3.1 or newer"
            ", or use `spark-lineage show` with the events."
        )
        yield note("viewer-airflow", "viewer", f"Airflow {text}", advice)
    elif not installation.has_viewer:
        advice = (
            "Airflow does not find the plugin of the tab: this package was installed when it had none; run"
            " `pip install --force-reinstall --no-deps airflow-provider-spark-lineage`."
        )
        yield note("viewer-missing", "viewer", "no entry point", advice)
    else:
        yield Finding("viewer", "a tab in Airflow's UI")


def roles(installation: Installation) -> Iterator[Finding]:
    """Say which users do not see tabs of plugins."""
    if installation.airflow.auth_manager.rpartition(".")[2] == "FabAuthManager":
        advice = (
            "FAB's roles Viewer and User have no permission to list plugins, so their users see no tab; add"
            " `can read on Plugins` to these roles, unless you have."
        )
        yield note("viewer-roles", "viewer", "FabAuthManager", advice)


def store(installation: Installation) -> Iterator[Finding]:
    """Check that there is a store, and that its file system can be used here."""
    place = installation.airflow.own_values.get("store")
    if place is None:
        return
    if installation.airflow.store_error:
        advice = (
            f"`[spark_lineage] store` cannot be used ({installation.airflow.store_error}): the tab has no"
            " lineage; install the provider of its file system, or correct the URI or its connection."
        )
        yield note("store-unusable", "store", place.partition(":")[0], advice)
    else:
        yield Finding("store", place.partition(":")[0])
