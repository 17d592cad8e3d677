"""Spark by SSH, on AWS and on Azure: a task for each row of `services/aws_azure_ssh_rows.py`."""

from __future__ import annotations

import os
from importlib import import_module

import pendulum
from airflow.sdk import dag
from launch.services.aws_azure_ssh_rows import rows

FAMILIES = os.environ.get("ELSEWHERE_FAMILIES", "").split()


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def aws_azure_ssh() -> None:
    before = None
    for row in rows():
        if row.family not in FAMILIES:
            continue
        module, _, name = f"airflow.providers.{row.operator}".rpartition(".")
        operator = getattr(import_module(module), name)
        if row.expand:
            task = operator.partial(task_id=row.task, trigger_rule="all_done", **row.given).expand(
                **row.expand
            )
        else:
            task = operator(task_id=row.task, trigger_rule="all_done", **row.given)
        # One after the other, whether or not it fails.
        if before is not None:
            before >> task
        before = task


aws_azure_ssh()
