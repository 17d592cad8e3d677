"""DAGs with every way in which a run can end; their settings are in the environment."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

from airflow.sdk import DAG, task


@task
def read_conf(dag_run=None) -> None:
    assert dag_run.conf == {"day": "2024-05-01", "parts": [1, None]}, dag_run.conf


@task(retries=1, retry_delay=timedelta(0))
def flaky(ti=None) -> None:
    if ti.try_number == 1:
        raise ValueError("not yet")


BLOCKS = """
import os, threading
open(os.environ["TOLD"], "w").write("blocks")
threading.Event().wait()
"""


@task
def block() -> None:
    """Wait for a command that never ends and has a session of its own, as BashOperator's have."""
    subprocess.run([sys.executable, "-c", BLOCKS], start_new_session=True, check=True)


with DAG("configured", schedule=None) as configured:
    read_conf()

with DAG("retried", schedule=None):
    flaky()

with DAG("blocked", schedule=None):
    block()


def hidden() -> DAG:
    with DAG("hidden", schedule=None) as dag:
        read_conf()
    return dag
