"""Airflow's listeners with ours, and the extractors of OpenLineage's provider."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.airflow.task.process import TASK


@pytest.fixture
def listeners(monkeypatch: pytest.MonkeyPatch):
    """Airflow's own hooks with our listener, on a machine where lineage is wanted."""
    import pluggy

    try:
        from airflow.sdk._shared.listeners.spec import lifecycle, taskinstance
    except ImportError:  # Airflow before 3.2
        from airflow.listeners.spec import lifecycle, taskinstance

    from airflow_provider_spark_lineage.airflow.plugins.listener import AutoCapture

    manager = pluggy.PluginManager("airflow")
    manager.add_hookspecs(lifecycle)
    manager.add_hookspecs(taskinstance)
    manager.register(AutoCapture())
    monkeypatch.setattr(provider, "is_active", lambda _: True)
    monkeypatch.setattr(TASK, "capture", None)
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE", "True")
    yield manager
    if TASK.capture is not None:
        TASK.capture.stop()


@pytest.fixture
def extractors():
    """The extractors of OpenLineage's provider by class name, which are as before afterwards."""
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    known = get_openlineage_listener().extractor_manager.extractors
    before = dict(known)
    yield known
    known.clear()
    known.update(before)
