"""Fixtures: a task's lineage from Spark, and OpenLineage's provider as if it had just started."""

from __future__ import annotations

import json

import pytest
from recordings import Recording

from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions
from airflow_provider_spark_lineage.spark.runs.recorded import RunBuilder
from airflow_provider_spark_lineage.spark.runs.run import Run


@pytest.fixture(scope="module")
def spark_did() -> Run:
    builder = RunBuilder()
    lines = Recording("ctas").lines
    for execution in executions(Record.from_json(json.loads(line)) for line in lines):
        builder.add(execution)
    return builder.run()


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch):
    """OpenLineage has a transport and no settings that were read before; hooks have reported nothing."""
    from airflow.providers.common.compat.lineage import hook
    from airflow.providers.openlineage import conf

    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", '{"type": "console"}')
    caches = [each for each in vars(conf).values() if hasattr(each, "cache_clear")]
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(TASK, "capture", None)
    collector = hook.get_hook_lineage_collector()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()
    for collected in ("_inputs", "_outputs", "_input_counts", "_output_counts", "_extra", "_extra_counts"):
        getattr(collector, collected, {}).clear()
