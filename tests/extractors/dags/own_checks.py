"""Airflow's own check operators on SQLite, by a hook without a provider."""

from __future__ import annotations

import os
import sqlite3

import pendulum
from airflow.providers.common.sql.hooks.sql import DbApiHook
from airflow.providers.common.sql.operators import sql
from airflow.providers.openlineage.sqlparser import DatabaseInfo
from airflow.sdk import Connection, dag


class Lite(DbApiHook):
    conn_name_attr = "lite_conn_id"
    conn_type = "sqlite"

    @classmethod
    def get_connection(cls, conn_id):
        return Connection(conn_id=conn_id, conn_type=cls.conn_type)

    def get_conn(self):
        return sqlite3.connect(os.environ["CHECKS_DATABASE"])

    def get_sqlalchemy_engine(self, engine_kwargs=None):
        return None

    def get_openlineage_database_info(self, connection):
        return DatabaseInfo(scheme="sqlite", authority="shop")

    def get_openlineage_default_schema(self):
        return "main"


class SQLColumnCheckOperator(sql.SQLColumnCheckOperator):
    def get_db_hook(self):
        return Lite()


class SQLCheckOperator(sql.SQLCheckOperator):
    def get_db_hook(self):
        return Lite()


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def own_checks() -> None:
    def limits(lowest):
        return {"amount": {"min": {"geq_to": lowest}, "max": {"leq_to": 100}}}

    SQLColumnCheckOperator(task_id="passes", table="orders", column_mapping=limits(0))
    SQLColumnCheckOperator(task_id="fails", table="orders", column_mapping=limits(50))
    SQLColumnCheckOperator(task_id="missing", table="nowhere", column_mapping=limits(0))
    SQLCheckOperator(task_id="statement", sql="SELECT count(*) FROM orders")


own_checks()
