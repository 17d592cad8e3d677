"""Batches of Apache Livy."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.launch.application import Launch, application_of, table, texts
from airflow_provider_spark_lineage.records.credentials import without_secrets


def of_batch(operator: Any) -> Launch:
    """Return what a `LivyOperator` launches."""
    given = table(operator.spark_params)
    application = application_of(
        given.get("file"),
        given.get("class_name"),
        given.get("args"),
        conf=texts(given.get("conf")),
        name=str(given.get("name") or ""),
    )
    batch = getattr(operator, "_batch_id", None)
    run_id = "" if batch is None else str(batch)
    return Launch(
        (application,), service="Livy", run_id=run_id, page=_page(operator), event_ids=("batch_id",)
    )


def _page(operator: Any) -> str:
    """Return the address of a batch; a hook has that of its server when it was used."""
    server = without_secrets(str(getattr(vars(operator).get("hook"), "base_url", "") or ""))
    return f"{server.rstrip('/')}/batches/{{}}" if server else ""
