"""The extractor answers from what the plugin captured in the same process, and with nothing otherwise."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage import task
from airflow_provider_spark_lineage.lineage.model import Dataset, Input, Lineage
from airflow_provider_spark_lineage.pipeline import Run
from airflow_provider_spark_lineage.sources.dataset import DatasetId, Identity

pytestmark = pytest.mark.airflow

ORDERS = DatasetId("file", "/in/orders")


def instance(**changes: object) -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**{**fields, **changes})


@pytest.fixture
def extractor(monkeypatch: pytest.MonkeyPatch):
    """The extractor of a task that read one dataset."""
    from airflow_provider_spark_lineage.extractors.pyspark import PySparkExtractor

    run = Run(Lineage(inputs=(Input(Dataset(Identity(ORDERS))),)))
    captured = SimpleNamespace(run=lambda: run, planned=None)
    monkeypatch.setattr(task, "_latest", (task.key_of(instance()), task.TaskLineage(captured)))
    return PySparkExtractor(SimpleNamespace())


@pytest.mark.parametrize("method", ["extract_on_complete", "extract_on_failure"])
def test_it_says_what_was_captured_whether_or_not_the_task_failed(extractor, method):
    """A failed task had read what it had read."""
    assert [one.name for one in getattr(extractor, method)(instance()).inputs] == ["/in/orders"]


def test_it_says_nothing_of_a_task_that_was_not_captured(extractor):
    """Another try, another mapped instance, and the START event: no guess."""
    for answer in (
        extractor.extract_on_complete(instance(try_number=2)),
        extractor.extract_on_complete(instance(map_index=3)),
        extractor.extract(),
    ):
        assert (answer.inputs, answer.outputs, answer.run_facets) == ([], [], {})


def test_it_is_asked_for_the_operators_that_the_plugin_captures(extractor):
    """Either alone would capture for nobody or extract from nothing; both names are Airflow's own."""
    from airflow.providers.apache.spark.decorators.pyspark import _PySparkDecoratedOperator
    from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator

    names = {PySparkOperator.__name__, _PySparkDecoratedOperator.__name__}
    assert set(extractor.get_operator_classnames()) == names
