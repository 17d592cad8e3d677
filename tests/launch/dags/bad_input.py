"""Tasks whose commands, files, templates and connections are wrong, each in its own way."""

from __future__ import annotations

import contextlib
import os

import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import dag

JOBS = os.environ.get("BAD_INPUT_JOBS", "")


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def bad_input() -> None:
    BashOperator(task_id="broken_script", cwd=JOBS, bash_command="spark-submit broken.py s3://lake/in")
    BashOperator(task_id="not_a_text", cwd=JOBS, bash_command="spark-submit bytes.py")
    BashOperator(task_id="no_script", cwd=JOBS, bash_command="spark-submit missing.py")
    BashOperator(task_id="broken_statements", cwd=JOBS, bash_command="spark-sql -f broken.sql")
    BashOperator(task_id="malformed", bash_command='exit 0\nspark-submit "copy.py')
    BashOperator(task_id="no_template", bash_command="spark-submit a.py\n{% include 'missing.sh' %}")
    BashOperator(task_id="no_variable", bash_command="spark-submit a.py {{ var.value.nowhere }}")
    with contextlib.suppress(ImportError):
        from airflow.providers.ssh.operators.ssh import SSHOperator

        SSHOperator(task_id="no_machine", ssh_conn_id="nowhere", command="spark-submit /a.py")
    with contextlib.suppress(ImportError):
        from airflow.providers.amazon.aws.operators.emr import (
            EmrAddStepsOperator,
            EmrContainerOperator,
            EmrServerlessStartJobOperator,
        )

        role = "arn:aws:iam::123456789012:role/spark"
        EmrAddStepsOperator(
            task_id="malformed_steps", job_flow_id="j", steps="[{ spark-submit", aws_conn_id="nowhere"
        )
        EmrServerlessStartJobOperator(
            task_id="malformed_parameters",
            application_id="a",
            execution_role_arn=role,
            job_driver={"sparkSubmit": {"entryPoint": "s3://a.py", "sparkSubmitParameters": "--conf 'a"}},
            aws_conn_id="nowhere",
        )
        EmrContainerOperator(
            task_id="no_connection",
            name="daily",
            virtual_cluster_id="v",
            execution_role_arn=role,
            release_label="emr-7.0.0-latest",
            job_driver={"sparkSubmitJobDriver": {"entryPoint": "local:///a.py"}},
            aws_conn_id="nowhere",
        )


bad_input()
