"""Airflow's own check operators over a Spark Thrift server, of tables that a Spark job has written."""

from __future__ import annotations

import pendulum
from airflow.providers.common.sql.operators.sql import SQLCheckOperator, SQLColumnCheckOperator
from airflow.sdk import dag


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def checks_on_thrift() -> None:
    def limits(lowest):
        return {"amount": {"min": {"geq_to": lowest}}}

    for task_id, table, lowest in (
        ("passes", "shop.orders", 0),
        ("fails", "shop.orders", 50),
        ("elsewhere", "shop.placed", 0),
        ("view", "shop.seen", 0),
        ("missing", "shop.nowhere", 0),
    ):
        SQLColumnCheckOperator(
            task_id=task_id, conn_id="server", table=table, column_mapping=limits(lowest), retries=0
        )
    SQLCheckOperator(
        task_id="statement",
        conn_id="server",
        sql="SELECT count(*) FROM shop.orders JOIN shop.placed USING (id)",
    )


checks_on_thrift()
