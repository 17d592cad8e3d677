"""`[spark_lineage] asset_events`: an event of an Airflow asset for each dataset that Spark wrote.

Airflow records events with the success of a task, and those of assets that the task does not declare only
through an alias that it declares. So a task gets an alias of its own when it has ended, in its own process.
A task that fails after that has no events: Airflow drops them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from airflow_provider_spark_lineage.capture.guard import alarm_paused, harmless
from airflow_provider_spark_lineage.lineage.model import Lineage, Mode, Output

if TYPE_CHECKING:
    from airflow.sdk import Asset

    from airflow_provider_spark_lineage.sources.dataset import DatasetId

_TABLE_LEVELS = {"bigquery": 3, "mysql": 2, "postgres": 3, "redshift": 3, "trino": 3}
"""Databases whose providers give assets a URI with the parts of a table's name as a path -> their number."""

_PLACE = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\s]+", re.IGNORECASE)
"""A namespace that is the beginning of a URI."""


def asset_uri(dataset: DatasetId) -> str:
    """Return the URI of a dataset's asset, from which Airflow's converters get the same dataset.

    >>> from airflow_provider_spark_lineage.sources.dataset import DatasetId
    >>> asset_uri(DatasetId("file", "/shop/orders"))
    'file:///shop/orders'
    >>> asset_uri(DatasetId("s3://shop", "orders"))
    's3://shop/orders'
    >>> asset_uri(DatasetId("postgres://db:5432", "sales.public.orders"))
    'postgres://db:5432/sales/public/orders'
    >>> asset_uri(DatasetId("file:/warehouse", "shop.orders"))
    'x-openlineage://file%3A%2Fwarehouse/shop.orders'
    """
    namespace, name = dataset.namespace, dataset.name
    scheme = namespace.partition(":")[0]
    if scheme in _TABLE_LEVELS:
        parts = name.split(".")
        if len(parts) != _TABLE_LEVELS[scheme]:
            return _uri_without_place(dataset)
        if namespace == "bigquery":
            namespace, parts = f"bigquery://{parts[0]}", parts[1:]
        name = "/".join(parts)
    if namespace == "file":
        namespace = "file://"
    elif not _PLACE.fullmatch(namespace):
        return _uri_without_place(dataset)
    # A query and a fragment are no parts of a name; all other characters stay, as converters do not decode.
    path = name.lstrip("/").replace("?", "%3F").replace("#", "%23")
    return f"{namespace}/{path}"


def _uri_without_place(dataset: DatasetId) -> str:
    return f"x-openlineage://{quote(dataset.namespace, safe='')}/{quote(dataset.name.lstrip('/'))}"


def alias_name(task_instance: Any) -> str:
    """Return the name of the alias through which a task's events are recorded."""
    return f"{task_instance.dag_id}.{task_instance.task_id}"


def add_asset_events(context: Any, lineage: Lineage) -> None:
    """Have Airflow record an event for each dataset that was written, if the task succeeds.

    Call it in the task's process, before Airflow has sent the end of the task.
    """
    written = [output for output in lineage.outputs if output.mode is not Mode.DROP]
    if not written:
        return
    with alarm_paused(), harmless("Airflow does not get the assets that this task wrote"):
        from airflow.sdk import AssetAlias

        task_instance = context["ti"]
        task, alias = task_instance.task, AssetAlias(alias_name(task_instance))
        declared = {outlet.uri: outlet for outlet in task.outlets if getattr(outlet, "uri", "")}
        for output in written:
            with harmless(f"Airflow does not get the asset {output.dataset.id.name}"):
                _add(context["outlet_events"], alias, declared, output)
        if alias not in task.outlets:
            # A new list: the task of this try is a copy that shares it.
            task.outlets = [*task.outlets, alias]


def _add(events: Any, alias: Any, declared: dict[str, Any], output: Output) -> None:
    """Add the event of one output; that of a declared asset comes from Airflow, and gets its facts alone."""
    from airflow.sdk import Asset
    from airflow.sdk.exceptions import AirflowRuntimeError

    asset, facts = _asset(output.dataset.id), _facts(output)
    if asset.uri in declared:
        event = events[declared[asset.uri]]
        event.extra = {**facts, **event.extra}
        return
    try:
        # Other DAGs may know it by a name.
        events[alias].add(Asset.ref(uri=asset.uri), facts)
    except AirflowRuntimeError:  # No DAG knows it.
        events[alias].add(asset, facts)


def _asset(dataset: DatasetId) -> Asset:
    from airflow.sdk import Asset

    try:
        return Asset(uri=asset_uri(dataset))
    except ValueError:  # Of the provider that has the scheme: several hosts, for example.
        return Asset(uri=_uri_without_place(dataset))


def _facts(output: Output) -> dict[str, Any]:
    """Return the `extra` of an event: which dataset it is, and how much was written, where that is known."""
    counts = {
        "rows": output.statistics.rows,
        "bytes": output.statistics.size_bytes,
        "files": output.statistics.files,
    }
    known = {name: count for name, count in counts.items() if count is not None}
    return {
        "namespace": output.dataset.id.namespace,
        "name": output.dataset.id.name,
        "mode": output.mode.value,
        **known,
    }
