"""Spark batches of Azure Synapse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import Launch, application_of, text, texts


def of_batch(operator: Any) -> Launch:
    """Return the launch of an `AzureSynapseRunSparkBatchOperator`."""
    payload = operator.payload

    def given(name: str) -> Any:
        """Return a field of the payload, which is Azure's object or a dict."""
        return payload.get(name) if isinstance(payload, Mapping) else getattr(payload, name, None)

    application = application_of(
        given("file"),
        given("class_name") or given("className"),
        given("arguments") or given("args"),
        conf=texts(given("configuration") or given("conf")),
        name=text(given("name")),
    )
    return Launch((application,), "Synapse", text(operator.job_id))
