"""A task for each row of the table that `SERVICES_ROWS` names; one that fails stops no other."""

from __future__ import annotations

import os
from importlib import import_module

import pendulum
from airflow.sdk import DAG

TABLE = os.environ.get("SERVICES_ROWS", "")

with DAG("services", schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False):
    for row in import_module(TABLE).ROWS if TABLE else ():
        module, _, name = row.operator.rpartition(".")
        operator = getattr(import_module(f"airflow.providers.{module}"), name)
        operator(task_id=row.task_id, **row.given)
