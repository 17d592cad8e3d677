"""Batches of Apache Livy."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import (
    Launch,
    application_of,
    table,
    text,
    texts,
)
from airflow_provider_spark_lineage.spark import without_secrets


def of_batch(operator: Any) -> Launch:
    """Return the launch of a `LivyOperator`."""
    given = table(operator.spark_params)
    application = application_of(
        given.get("file"),
        given.get("class_name"),
        given.get("args"),
        conf=texts(given.get("conf")),
        name=text(given.get("name")),
    )
    batch = text(getattr(operator, "_batch_id", None))
    return Launch((application,), "Livy", batch, _page(operator), "batch_id")


def _page(operator: Any) -> str:
    """Return the address of a batch; empty if the hook was not used and has no server's address yet."""
    server = without_secrets(text(getattr(vars(operator).get("hook"), "base_url", "")))
    return f"{server.rstrip('/')}/batches/{{}}" if server else ""
