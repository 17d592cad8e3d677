"""The hook of the provider for SQLite files."""

from __future__ import annotations

import sqlite3

from airflow.providers.common.sql.hooks.sql import DbApiHook


class LiteHook(DbApiHook):
    conn_name_attr = "lite_conn_id"
    conn_type = "lite"
    hook_name = "Lite"

    def get_conn(self):
        return sqlite3.connect(self.get_connection(self.get_conn_id()).host)

    def get_openlineage_database_info(self, connection):
        from airflow.providers.openlineage.sqlparser import DatabaseInfo

        return DatabaseInfo(scheme="sqlite", authority="shop")

    def get_openlineage_default_schema(self):
        return "main"

    def get_sqlalchemy_engine(self, engine_kwargs=None):
        return None
