"""A transport for the OpenLineage client: `VariableTransport`, which keeps events in Variables of Airflow."""

from airflow_provider_spark_lineage.openlineage.transports.variable import VariableTransport

__all__ = ["VariableTransport"]
