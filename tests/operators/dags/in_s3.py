"""A job whose records go to a store, with settings of each kind: file, environment, operator."""

from __future__ import annotations

import os
from pathlib import Path

import pendulum
from airflow.sdk import dag

from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator

HOME = Path(os.environ["S3_HOME"])


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def in_s3() -> None:
    SparkSubmitLineageOperator(
        task_id="load",
        conn_id="here",
        application=str(HOME / "app.py"),
        application_args=[str(HOME)],
        properties_file=str(HOME / "job.conf"),
        packages=os.environ["S3_PACKAGES"],
        exclude_packages=os.environ["S3_EXCLUDED"],
        env_vars={name: os.environ[f"JOB_{name}"] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")},
        verbose=False,
    )


in_s3()
