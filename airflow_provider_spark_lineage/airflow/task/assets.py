"""`[spark_lineage] asset_events`: an event of an Airflow asset for each dataset that Spark wrote.

Airflow records events when a task succeeds. Assets that the task does not declare get events only through a
declared alias, so an alias is added to the task after its `execute`, in its own process. If the task fails
after that, Airflow drops the events.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from airflow.sdk import Asset, AssetAlias
from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType

from airflow_provider_spark_lineage.spark import Lineage, alarm_paused, harmless, tell

ASSETS_TIMEOUT_SECONDS = 10.0
"""Limit for all requests to Airflow about the assets of one task, which waits for them."""

MAX_ASSETS = 200
"""Limit of the assets of one task: each is a request to Airflow, and is stored there."""

_TABLE_LEVELS = {"bigquery": 3, "mysql": 2, "postgres": 3, "redshift": 3, "trino": 3}
"""Scheme of a database whose assets have a table's name as the path of their URI -> parts of that name."""

_PLACE = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#\s]+", re.IGNORECASE)
"""Namespace that is the beginning of a URI."""


def asset_uri(namespace: str, name: str) -> str:
    """Return the URI of a dataset's asset, which Airflow's converters turn into the same dataset.

    >>> asset_uri("file", "/shop/orders")
    'file:///shop/orders'
    >>> asset_uri("s3://shop", "orders")
    's3://shop/orders'
    >>> asset_uri("postgres://db:5432", "sales.public.orders")
    'postgres://db:5432/sales/public/orders'
    >>> asset_uri("file:/warehouse", "shop.orders")
    'x-openlineage://file%3A%2Fwarehouse/shop.orders'
    """
    scheme = namespace.partition(":")[0]
    if scheme in _TABLE_LEVELS:
        parts = name.split(".")
        if len(parts) != _TABLE_LEVELS[scheme]:
            return _uri_without_place(namespace, name)
        if namespace == "bigquery":
            namespace, parts = f"bigquery://{parts[0]}", parts[1:]
        name = "/".join(parts)
    if namespace == "file":
        namespace = "file://"
    elif not _PLACE.fullmatch(namespace):
        return _uri_without_place(namespace, name)
    # `?` and `#` would begin a query or a fragment. Nothing else is encoded, as converters do not decode.
    path = name.lstrip("/").replace("?", "%3F").replace("#", "%23")
    return f"{namespace}/{path}"


def _uri_without_place(namespace: str, name: str) -> str:
    return f"x-openlineage://{quote(namespace, safe='')}/{quote(name.lstrip('/'))}"


def alias_name(task_instance: Any) -> str:
    """Return the name of the alias through which a task's events are recorded."""
    return f"{task_instance.dag_id}.{task_instance.task_id}"


def add_asset_events(context: Any, lineage: Lineage) -> None:
    """Have Airflow record an event for each dataset that has new data, if the task succeeds.

    Call it in the task's process, before Airflow has sent the end of the task.
    """
    written = [output for output in lineage.outputs if output.has_new_data]
    if not written:
        return
    with alarm_paused(), harmless("Airflow does not get all assets that this task wrote"):
        task_instance = context["ti"]
        task, alias = task_instance.task, AssetAlias(alias_name(task_instance))
        outlets = task.outlets
        if alias not in outlets:
            # A new list: the task of this try is a shallow copy, whose list belongs to the DAG's task.
            task.outlets = [*outlets, alias]
        events = _Events(context["outlet_events"], alias, outlets)
        deadline = time.monotonic() + ASSETS_TIMEOUT_SECONDS
        for number, output in enumerate(written):
            if number == MAX_ASSETS or time.monotonic() > deadline:
                missing = f"{len(written) - number} of the {len(written)} assets"
                tell(f"Airflow does not get {missing} that this task wrote")
                break
            asset = None
            with harmless(f"Airflow does not get the asset {output.dataset.id.name}"):
                asset = _asset(output.dataset.id.namespace, output.dataset.id.name)
            if asset is not None:
                events.add(asset, output.facts)


class _Events:
    """Asset events of a task: one for each asset, from Airflow, the task's code or our alias."""

    def __init__(self, events: Any, alias: Any, outlets: Iterable[Any]) -> None:
        self._events = events
        self._alias = alias
        aliases = {alias.name}
        self._by_uri: dict[str, Any] = {}
        self._names = set()
        for outlet in outlets:
            uri, name = getattr(outlet, "uri", ""), getattr(outlet, "name", "")
            if isinstance(outlet, AssetAlias):
                aliases.add(name)
            elif uri:
                self._by_uri[uri] = outlet
            elif name:  # `Asset.ref(name=...)`
                self._names.add(name)
        self._added = {
            event.dest_asset_key.uri
            for key in events
            if isinstance(key, AssetAlias) and key.name in aliases
            for event in events[key].asset_alias_events
        }

    def add(self, asset: Asset, facts: dict[str, Any]) -> None:
        """Add an asset's event, or facts to the event of a declared asset; keep events of the task's code."""
        if asset.uri in self._added:
            return
        if asset.uri in self._by_uri:
            self._complete(self._by_uri[asset.uri], facts)
            return
        by_alias = self._events[self._alias]
        try:
            # By URI only: the asset may have another name in other DAGs.
            by_alias.add(Asset.ref(uri=asset.uri), facts)
        except AirflowRuntimeError as error:
            if error.error.error is not ErrorType.ASSET_NOT_FOUND:
                raise
            by_alias.add(asset, facts)
            return
        key = by_alias.asset_alias_events[-1].dest_asset_key
        if key.name in self._names:
            by_alias.asset_alias_events.pop()
            self._complete(Asset(name=key.name, uri=key.uri), facts)

    def _complete(self, declared: Any, facts: dict[str, Any]) -> None:
        """Add facts to the event of a declared asset, which Airflow records by itself."""
        event = self._events[declared]
        event.extra = {**facts, **event.extra}


def _asset(namespace: str, name: str) -> Asset:
    try:
        return Asset(uri=asset_uri(namespace, name))
    except ValueError:  # The scheme's provider rejects the URI: several hosts, for example.
        return Asset(uri=_uri_without_place(namespace, name))
