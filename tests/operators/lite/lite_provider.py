"""Describes a provider for SQLite files: `conn_type` lite, `host` the file. Airflow loads it early."""

from __future__ import annotations


def provider_info():
    return {
        "package-name": "lite",
        "name": "Lite",
        "description": "SQLite files",
        "connection-types": [{"hook-class-name": "lite.LiteHook", "connection-type": "lite"}],
    }
