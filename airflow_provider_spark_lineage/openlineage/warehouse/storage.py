"""Finds the folder of a warehouse."""

from __future__ import annotations

from pathlib import Path

from airflow_provider_spark_lineage.openlineage.events.addresses import local_path


def folder_of(place: Path | str) -> Path:
    """Return the folder of a warehouse; raise BadInputError for an address that cannot be one."""
    return local_path(place, "give a folder for the warehouse")
