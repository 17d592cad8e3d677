"""A transport for the OpenLineage client. The client imports it in every task, so it imports little."""

from __future__ import annotations

from airflow_provider_spark_lineage.openlineage.transports.variable import VariableTransport

__all__ = ["VariableTransport"]
