"""Operators of a company: classes of its own, and subclasses of Airflow's."""

from __future__ import annotations

from datetime import timedelta

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import BaseOperator


def copy(source: str, target: str, column: str) -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.read.parquet(source).selectExpr(f"customer as {column}").write.mode("overwrite").parquet(target)
    spark.stop()


class CopyOperator(BaseOperator):
    """Known only by `extra_operators`."""

    def __init__(self, *, source: str, target: str, **kwargs) -> None:
        super().__init__(**kwargs)
        self.source = source
        self.target = target

    def execute(self, context):
        copy(self.source, self.target, self.task_id)


class DeferringOperator(CopyOperator):
    """Works, waits outside of its process, and works again."""

    def execute(self, context):
        copy(self.source, f"{self.target}/defers_1", "defers")
        self.defer(trigger=TimeDeltaTrigger(timedelta(0)), method_name="go_on")

    def go_on(self, context, event):
        copy(self.source, f"{self.target}/defers_2", "defers")


class ReportingOperator(CopyOperator):
    """Reports by itself that it reads a table."""

    def get_openlineage_facets_on_complete(self, task_instance):
        from airflow.providers.openlineage.extractors import OperatorLineage
        from openlineage.client.event_v2 import Dataset

        return OperatorLineage(inputs=[Dataset(namespace="company", name="catalog")])


class NightlyOperator(PySparkOperator):
    """A subclass: the provider looks for extractors by the exact name of a class."""


class NightlySubmitOperator(SparkSubmitOperator):
    """As `NightlyOperator`, with a driver of its own."""


class OwnHookOperator(SparkSubmitOperator):
    """A subclass that makes a hook of its own, which the plugin does not see."""

    def execute(self, context):
        SparkSubmitHook(conn_id="machine").submit(self.application)


class HookOperator(BaseOperator):
    """Runs a job by a hook of Airflow's, which it makes when it runs."""

    def __init__(self, *, application: str, **kwargs) -> None:
        super().__init__(**kwargs)
        self.application = application
        self.application_args = None
        self.conf = None

    @property
    def hook(self):
        return SparkSubmitHook(conn_id="machine", conf=self.conf)

    def execute(self, context):
        self.conf = {"spark.executor.memory": "1g"}
        self.hook.submit(self.application)


class HooklessOperator(BaseOperator):
    """Its program cannot be known."""

    def execute(self, context):
        pass
