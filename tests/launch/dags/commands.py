"""Shell commands, with and without Spark; `spark-submit` on this PATH does nothing."""

from __future__ import annotations

import os

import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import dag, task

JOBS = os.environ.get("COMMANDS_JOBS", "")


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def commands() -> None:
    BashOperator(
        task_id="submitted",
        cwd=JOBS,
        bash_command="set -e\nLAKE=s3://lake; TABLE=$(basename x)\n"
        "spark-submit --master local \\\n  --conf spark.a='b c' copy.py "
        "$LAKE/orders $LAKE/{{ task.task_id }} --password hunter2",
    )
    BashOperator(task_id="statements", bash_command="spark-sql -e 'insert into totals select * from orders'")
    # The shell reads line by line: it ends before it finds the quote.
    BashOperator(task_id="malformed", bash_command="exit 0\nspark-submit 'copy.py")
    BashOperator(
        task_id="failed", cwd=JOBS, bash_command="spark-submit copy.py s3://lake/a s3://lake/b; false"
    )
    # Its text is not on this machine, so no dataset is known.
    BashOperator(task_id="elsewhere", bash_command="spark-submit s3://code/job.py")
    BashOperator(task_id="plain", bash_command="echo spark is not submitted here")

    @task.bash(cwd=JOBS)
    def decorated() -> str:
        return "spark-submit copy.py s3://lake/in s3://lake/out"

    decorated()


commands()
