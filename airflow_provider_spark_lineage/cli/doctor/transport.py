"""The doctor's check of OpenLineage's transport, the destination of events.

Findings repeat only its type and address: the rest may hold credentials.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.cli.doctor.model import Finding, Installation, note, problem
from airflow_provider_spark_lineage.cli.doctor.openlineage import TRANSPORT_EXAMPLE
from airflow_provider_spark_lineage.cli.doctor.secrets import without_credentials

HTTP = ("http", "async_http")
_ADDRESSES = {"http": "url", "async_http": "url", "file": "log_file_path", "kafka": "topic"}
"""Transport type -> the option that says where events go."""

_ENDPOINT = "/api/v1/lineage"
"""Path that the client appends to the address of an HTTP transport."""


def transport(installation: Installation) -> Iterator[Finding]:
    """Check the destination of events."""
    airflow = installation.airflow
    connection, path = airflow.options.get("config_conn_id"), airflow.options.get("config_path_option")
    if airflow.is_active and connection:
        yield Finding("transport", f"from connection `{connection}`, not opened here")
    elif airflow.is_active:
        yield from airflow.transport_findings or [Finding("transport", _address(airflow.transport))]
    if airflow.texts.get("transport") and (connection or path):
        used = "config_conn_id" if connection else "config_path"
        advice = (
            f"`[openlineage] transport` is ignored, because `[openlineage] {used}` is set; remove one of "
            "them."
        )
        yield note("transport-ignored", "transport option", "ignored", advice)


def mistakes_of(config: Any) -> Iterator[Finding]:
    """Yield the mistakes in a transport's configuration, also of the transports inside it."""
    kind = config.get("type") if isinstance(config, dict) else None
    if not isinstance(kind, str):
        advice = f"The OpenLineage transport names no `type`; give it one, for example {TRANSPORT_EXAMPLE}."
        yield problem("transport-type", "transport", "no type", advice)
    elif kind in HTTP and (advice := _url_advice(str(config.get("url", "")))):
        yield problem("transport-url", "transport", _address(config), advice)
    elif kind == "noop":
        advice = "The OpenLineage transport `noop` discards every event; choose another type."
        yield problem("transport-noop", "transport", kind, advice)
    for member in members_of(config):
        yield from mistakes_of(member)


def _url_advice(url: str) -> str:
    shown = without_credentials(url)
    example = "for example `http://localhost:5000`"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # An incomplete IPv6 address, or a port that is not a number.
        return f"The OpenLineage transport's `url` is not a valid address; correct it, {example}."
    if url and (parts.scheme not in ("http", "https") or not parts.netloc):
        return (
            "The OpenLineage transport's `url` does not begin with a scheme and a host; correct it, "
            f"{example}."
        )
    if parts.path.rstrip("/").endswith(_ENDPOINT):
        return f"The client appends `{_ENDPOINT}` to the transport's `url` itself; remove it from {shown}."
    return ""


def _address(config: Any) -> str:
    """Return the type and the address of a transport, for example `http to http://host:5000`."""
    kind = str(config["type"])
    if kind == "composite":
        return "composite of " + ", ".join(_address(member) for member in members_of(config))
    target = config.get(_ADDRESSES.get(kind))
    return f"{kind} to {without_credentials(str(target))}" if target else kind


def transports_in(config: Any) -> Iterator[dict[str, Any]]:
    """Yield a transport that has a type, then the transports inside it."""
    if isinstance(config, dict) and isinstance(config.get("type"), str):
        yield config
        for member in members_of(config):
            yield from transports_in(member)


def members_of(config: Any) -> list[Any]:
    """Return the transports inside one."""
    if not isinstance(config, dict):
        return []
    members = config.get("transports")
    members = list(members.values()) if isinstance(members, dict) else members
    inner = [config["transport"]] if "transport" in config else []
    return [*members, *inner] if isinstance(members, list) else inner
