"""Runs one DAG in real Airflow, in a process and an AIRFLOW_HOME of its own, and keeps its events and logs.

Nothing here imports Airflow: it is found by the process that is started.
"""

from __future__ import annotations

from airflow_provider_spark_lineage.testing.runs.home import make_metadata
from airflow_provider_spark_lineage.testing.runs.processes import RunError, tail
from airflow_provider_spark_lineage.testing.runs.progress import DagRun, TaskProgress
from airflow_provider_spark_lineage.testing.runs.run import Mode, run_dag

__all__ = ["DagRun", "Mode", "RunError", "TaskProgress", "make_metadata", "run_dag", "tail"]
