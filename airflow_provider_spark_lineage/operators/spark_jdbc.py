"""Drop-in replacement of Airflow's `SparkJDBCOperator` that reports lineage.

It passes two arguments to the job that Airflow's hook drops: the application's name and the connection.
"""

from __future__ import annotations

import logging
from typing import Any

from airflow.providers.apache.spark.operators.spark_jdbc import SparkJDBCOperator

from airflow_provider_spark_lineage.airflow.task.reporting import ReportsLineage

log = logging.getLogger(__name__)

_DEFAULT_CONNECTION = "spark-default"
"""Airflow's default of `spark_conn_id`: its hook uses `spark_default` whatever the argument says."""

_OF_CONNECTION = (
    "_connection",
    "_is_kubernetes",
    "_is_yarn",
    "_is_yarn_cluster_mode",
    "_should_track_driver_status",
    "spark_binary",
)
"""Attributes that `SparkSubmitHook` sets from its connection, in `__init__`."""


class SparkJDBCLineageOperator(ReportsLineage, SparkJDBCOperator):
    """Airflow's `SparkJDBCOperator` whose OpenLineage events name both tables and the copied columns.

    Takes the arguments of `airflow.providers.apache.spark.operators.spark_jdbc.SparkJDBCOperator`.

    >>> SparkJDBCLineageOperator(  # doctest: +SKIP
    ...     task_id="export", cmd_type="spark_to_jdbc", metastore_table="totals", jdbc_table="public.totals"
    ... )
    """

    def _get_hook(self) -> Any:
        hook = super()._get_hook()
        _name_application(hook, self._spark_app_name)
        if self._spark_conn_id and self._spark_conn_id != _DEFAULT_CONNECTION:
            _connect(hook, self._spark_conn_id)
        return hook


def _name_application(hook: Any, name: str) -> None:
    """Pass the application's name to Airflow's script, which sets it to None otherwise.

    Every read and write then fails, in Spark 3.5 to 4.3: "The value of property spark.app.name must not be
    null".
    """
    build = hook._build_jdbc_application_arguments

    def arguments(connection: Any) -> list[str]:
        built = list(build(connection))
        return built if "-name" in built else [*built, "-name", name]

    hook._build_jdbc_application_arguments = arguments


def _connect(hook: Any, connection_id: str) -> None:
    """Have a hook use the operator's connection: Airflow sets it after the hook has read another one."""
    from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

    try:
        hook.get_connection(connection_id)
    except Exception as error:
        # Airflow's operator uses `spark_default` in any case.
        log.warning(
            "The Spark connection %s could not be read (%s): spark_default is used", connection_id, error
        )
        return
    other = SparkSubmitHook(conn_id=connection_id)
    for name in _OF_CONNECTION:
        if hasattr(hook, name) and hasattr(other, name):
            setattr(hook, name, getattr(other, name))
