"""Extractors of the user beside capture: which of them the provider asks, and what ours adds."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from annotation.asked_tasks import (
    CAPTURED,
    HOOKED,
    ORDERS,
    TOTALS,
    asked,
    instance,
    named,
    operator_of,
    report_by_hooks,
    stated,
)
from openlineage.client.event_v2 import Dataset as OpenLineageDataset

from airflow_provider_spark_lineage.airflow.task import task_lineage
from airflow_provider_spark_lineage.airflow.task.process import TASK

pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("provider")]


def test_an_extractor_replaces_the_methods_of_an_operator(spark_did):
    """The provider's rule, for our operators too: a user's extractor for them replaces their methods."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.providers.openlineage.extractors.base import BaseExtractor
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    class Theirs(BaseExtractor):
        @classmethod
        def get_operator_classnames(cls):
            return ["PySparkLineageOperator"]

        def _execute_extraction(self):
            return OperatorLineage(inputs=[OpenLineageDataset("theirs", "a")])

        def extract_on_complete(self, task_instance):
            return self.extract()

    manager = get_openlineage_listener().extractor_manager
    manager.add_extractor("PySparkLineageOperator", Theirs)
    try:
        lineage = asked("ours", operator_of("ours", **stated()), spark_did)
    finally:
        manager.extractors.pop("PySparkLineageOperator", None)
    assert (named(lineage.inputs), lineage.outputs) == ({("theirs", "a"): ""}, [])


def test_auto_capture_leaves_an_operator_with_an_extractor_of_yours_alone():
    """Its report is the one that its author defined."""
    from airflow.providers.openlineage.extractors.base import DefaultExtractor
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.airflow.plugins.tasks import CapturedTask

    class Theirs(DefaultExtractor):
        pass

    manager = get_openlineage_listener().extractor_manager
    subject = instance(operator_of("auto-capture"))
    assert CapturedTask(subject, "in process", is_named=False)._report_by() is not None
    manager.add_extractor("PySparkOperator", Theirs)
    try:
        assert CapturedTask(subject, "in process", is_named=False)._report_by() is None
    finally:
        del manager.extractors["PySparkOperator"]


def test_an_operator_that_you_name_has_both(monkeypatch, spark_did):
    """`extra_operators` makes its class an operator of Spark, also with another extractor."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.providers.openlineage.extractors.base import BaseExtractor
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.airflow.plugins.tasks import CapturedTask

    class Theirs(BaseExtractor):
        @classmethod
        def get_operator_classnames(cls):
            return ["PySparkOperator"]

        def _execute_extraction(self):
            return OperatorLineage(inputs=[OpenLineageDataset("theirs", "a")])

        def extract_on_complete(self, task_instance):
            return self.extract()

    manager = get_openlineage_listener().extractor_manager
    manager.add_extractor("PySparkOperator", Theirs)
    operator = operator_of("auto-capture")
    subject = instance(operator)
    try:
        lineage = task_lineage.TaskLineage(SimpleNamespace(run=lambda: spark_did, planned=None, findings=()))
        TASK.set_capture(subject, lineage)
        CapturedTask(subject, "in process", is_named=True)._report_by()(lineage)
        both = manager.extract_metadata(
            dagrun=SimpleNamespace(run_id="r"),
            task=operator,
            task_instance_state="success",
            task_instance=subject,
        )
    finally:
        del manager.extractors["PySparkOperator"]
        TASK.capture = None
    assert named(both.inputs) == {ORDERS: CAPTURED, ("theirs", "a"): ""}
    assert named(both.outputs) == {TOTALS: CAPTURED}


def test_of_two_extractors_for_one_class_the_provider_takes_one(monkeypatch):
    """Its rule, and its warning: the set of their names has no order."""
    from airflow.providers.openlineage.extractors.manager import ExtractorManager

    ours = "airflow_provider_spark_lineage.extractors"
    pair = {f"{ours}.SparkExtractor", f"{ours}.pyspark.PySparkExtractor"}
    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__EXTRACTORS", ";".join(pair))
    manager = ExtractorManager()
    assert manager.extractors["PySparkOperator"].__name__ in ("SparkExtractor", "PySparkExtractor")
    assert manager.extractors["SparkSubmitOperator"].__name__ == "SparkExtractor"


def test_hooks_are_asked_where_an_extractor_of_yours_names_datasets(spark_did):
    """The provider asks them only where it names none."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.providers.openlineage.extractors.python import PythonExtractor
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    class Theirs(PythonExtractor):
        def extract_on_complete(self, task_instance):
            return OperatorLineage(inputs=[OpenLineageDataset("theirs", "a")])

    Theirs.__module__ = "airflow.providers.openlineage.theirs"
    manager = get_openlineage_listener().extractor_manager
    before = manager.extractors["PythonOperator"]
    manager.extractors["PythonOperator"] = Theirs
    report_by_hooks()
    try:
        lineage = asked("function", operator_of("function"), spark_did)
    finally:
        manager.extractors["PythonOperator"] = before
    assert named(lineage.inputs) == {ORDERS: CAPTURED, HOOKED: "", ("theirs", "a"): ""}
    assert not {"get_hook_lineage", "extract_inlets_and_outlets"} & set(vars(manager))
