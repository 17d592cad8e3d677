"""Commands that submit PySpark: to Spark itself, and to a `spark-submit` that only writes records."""

from __future__ import annotations

import os

import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import dag, task

HOME = os.environ.get("ARMED_HOME", "")
SUBMIT = os.environ.get("ARMED_SUBMIT", "")


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def armed() -> None:
    if SUBMIT:
        BashOperator(
            task_id="totals",
            bash_command=f"set -e\ncd '{HOME}'\nLAKE=$(pwd)/lake\n"
            f"'{SUBMIT}' --master 'local[1]' totals.py \"$LAKE\" {{{{ task.task_id }}}}\n",
        )
    BashOperator(task_id="fails", bash_command="spark-submit fails.py")
    BashOperator(task_id="plain", bash_command="echo no job is submitted here")

    @task.bash
    def decorated() -> str:
        return "spark-submit job.py"

    @task.bash
    def plain_decorated() -> str:
        return "echo no job is submitted here"

    decorated()
    plain_decorated()
    if "AIRFLOW_CONN_MACHINE" in os.environ:
        from airflow.providers.ssh.operators.ssh import SSHOperator

        SSHOperator(task_id="machine", ssh_conn_id="machine", command="spark-submit {{ task.task_id }}.py")


armed()
