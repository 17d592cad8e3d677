"""Planned lineage of a task: the datasets in the text of its job. Imports nothing heavy without a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.known_operators import (
    SPARK_PIPELINES,
    SPARK_SQL,
    SPARK_SUBMIT,
    driver_kind,
)

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark import Lineage


def planned_by(operator: Any) -> Lineage | None:
    """Return the planned lineage of an operator's job; None without a text, or if lineage is disabled."""
    if conf.disabled():
        return None
    driver = driver_kind(type(operator), conf.extra_operators())
    if driver not in (SPARK_SUBMIT, SPARK_SQL, SPARK_PIPELINES):
        return None
    from airflow_provider_spark_lineage.airflow.submitted.planned import planned_of

    return planned_of(operator, driver)


def planned_by_query(operator: Any, sql: str, settings: Mapping[str, str]) -> Lineage | None:
    """Return the planned lineage of SQL that a session of the task will run; None if lineage is disabled.

    `settings` are the settings of the session.
    """
    if conf.disabled():
        return None
    from airflow_provider_spark_lineage.airflow.submitted.planned import planned_of_query

    return planned_of_query(operator, sql, settings)
