"""Operators that launch Spark, and a class of the user's own extractors that reports on them."""

from __future__ import annotations

import contextlib

import pendulum
from airflow.providers.openlineage.extractors import OperatorLineage
from airflow.providers.openlineage.extractors.base import BaseExtractor
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import dag, task
from openlineage.client.event_v2 import Dataset

STEP = {
    "Name": "load",
    "ActionOnFailure": "CONTINUE",
    "HadoopJarStep": {"Jar": "command-runner.jar", "Args": ["spark-submit", "s3://jobs/load.py"]},
}


class CompanyExtractor(BaseExtractor):
    """Knows where the company's jobs write."""

    @classmethod
    def get_operator_classnames(cls) -> list[str]:
        return ["BashOperator", "_BashDecoratedOperator", "EmrAddStepsOperator"]

    def _execute_extraction(self) -> OperatorLineage:
        return OperatorLineage(outputs=[Dataset("company", self.operator.task_id)])

    def extract_on_complete(self, task_instance: object) -> OperatorLineage:
        return self.extract()


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def own_extractor() -> None:
    BashOperator(task_id="command", bash_command="spark-submit /load.py")

    @task.bash
    def decorated() -> str:
        return "spark-submit /load.py"

    decorated()
    with contextlib.suppress(ImportError):
        from airflow.providers.amazon.aws.operators.emr import EmrAddStepsOperator

        class NightlyStepsOperator(EmrAddStepsOperator):
            """Has no extractor by its own name."""

        for operator in (EmrAddStepsOperator, NightlyStepsOperator):
            operator(task_id=operator.__name__, job_flow_id="j", steps=[STEP], aws_conn_id="nowhere")


own_extractor()
