"""The doctor's checks of OpenLineage's transport, the destination of events.

Findings repeat only its type and address: the rest may hold credentials.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from airflow_provider_spark_lineage.cli.doctor.finding import Finding, mistake
from airflow_provider_spark_lineage.cli.doctor.found import Found, Unreachable, Unreadable
from airflow_provider_spark_lineage.cli.doctor.secrets import without_credentials

TRANSPORT_EXAMPLE = """AIRFLOW__OPENLINEAGE__TRANSPORT='{"type": "http", "url": "http://localhost:5000"}'"""
_NEEDS = {
    "http": ("url",),
    "async_http": ("url",),
    "file": ("log_file_path",),
    "kafka": ("topic", "config"),
    "msk-iam": ("topic", "config"),
    "composite": ("transports",),
    "transform": ("transport", "transformer_class"),
    "amazon_datazone_api": ("domainId",),
}
"""Transport type -> the options that the client requires, the address first."""

_PACKAGES = {
    "kafka": ("confluent-kafka",),
    "msk-iam": ("confluent-kafka", "aws-msk-iam-sasl-signer-python"),
}
"""Transport type -> the packages that the client imports for it, but does not require."""

_ENDPOINT = "/api/v1/lineage"
"""Path that the client appends to the address of an HTTP transport."""


def transport(found: Found) -> Iterator[Finding]:
    """Check the destination of events."""
    airflow = found.readable
    if airflow is None or not found.is_active:
        return
    connection = airflow.options.get("config_conn_id")
    path, option = airflow.options.get("config_path"), airflow.options.get("config_path_option")
    is_of_file = bool(path) and (bool(option) or not airflow.options.get("transport"))
    if connection:
        yield Finding("transport", f"from connection `{connection}`, not opened here")
    elif isinstance(airflow.transport, Unreadable):
        advice = (
            f"The OpenLineage configuration {path} cannot be read ({airflow.transport.error}); correct it."
        )
        yield mistake("transport-unreadable", "transport", "unknown", advice)
    elif is_of_file and not airflow.transport:
        advice = f"The OpenLineage configuration {path} has no `transport`; add one."
        yield mistake("transport-type", "transport", "no type", advice)
    else:
        broken = {
            kind: f"it needs {each}"
            for kind, packages in _PACKAGES.items()
            for each in packages
            if each not in found.distributions
        }
        broken |= airflow.plugins.broken_transports
        described = describe_transport(airflow.transport, airflow.transport_types, broken)
        if described.level != "ok" or not airflow.unreachable:
            yield described
        is_single = not members_of(airflow.transport)
        for place in airflow.unreachable:
            yield _unreachable(place, described.value if is_single else place.place)
    if airflow.texts.get("transport") and (connection or option):
        used = "config_conn_id" if connection else "config_path"
        advice = (
            f"`[openlineage] transport` is ignored, because `[openlineage] {used}` is set; remove one of "
            "them."
        )
        yield mistake("transport-ignored", "transport option", "ignored", advice)


def _unreachable(place: Unreachable, value: str) -> Finding:
    if place.mistake == "transport-silent":
        cure = "start it, or correct the transport's `url`"
        if place.reason.startswith("the proxy "):
            cure = "correct `HTTP_PROXY` or `HTTPS_PROXY`"
        reason = f"cannot be reached from here ({place.reason})"
        advice = f"OpenLineage's backend at {place.place} {reason}; {cure}."
    else:
        cures = {"does not exist": "create it", "cannot be written": "let the user of the tasks write there"}
        cure = cures.get(place.reason, "move the file or folder at that path")
        advice = (
            f"OpenLineage's file transport cannot write its events: {place.place} {place.reason}; {cure}, or "
            "correct the transport's `log_file_path`."
        )
    return mistake(place.mistake, "transport", value, advice)


def describe_transport(
    config: Any, types: tuple[str, ...] = (), broken: Mapping[str, str] | None = None
) -> Finding:
    """Return the finding on the destination of events, with its type and address only.

    `types` are the types that the client knows by name; `broken` is the reason by type that cannot be used.
    """
    kind = config.get("type") if isinstance(config, dict) else None
    if not isinstance(kind, str):
        advice = f"The OpenLineage transport names no `type`; give it one, for example {TRANSPORT_EXAMPLE}."
        return mistake("transport-type", "transport", "no type", advice)
    if types and kind not in types and "." not in kind:
        known = ", ".join(difflib.get_close_matches(kind.lower(), types, n=1) or sorted(types))
        advice = (
            f"The OpenLineage transport `{kind}` is unknown; set its `type` to {known}, or to a dotted class."
        )
        return mistake("transport-unknown", "transport", kind, advice)
    if broken and kind in broken:
        advice = (
            f"The OpenLineage transport `{kind}` cannot be used ({broken[kind]}); correct its `type`, or "
            "install the missing package for Airflow's processes."
        )
        return mistake("transport-unknown", "transport", kind, advice)
    needed = [name for name in _NEEDS.get(kind, ()) if not config.get(name)]
    if needed:
        advice = f"The OpenLineage transport `{kind}` needs `{needed[0]}`; add it."
        return mistake("transport-incomplete", "transport", kind, advice)
    if kind in ("http", "async_http") and (problem := _url_problem(str(config["url"]))):
        shown = without_credentials(str(config["url"]))
        return mistake("transport-url", "transport", f"{kind} to {shown}", problem)
    if kind == "noop":
        advice = "The OpenLineage transport `noop` discards every event; choose another type."
        return mistake("transport-noop", "transport", kind, advice)
    if kind == "console":
        advice = "Events only go to the task's log; choose another transport to keep them."
        return mistake("transport-console", "transport", kind, advice)
    members = members_of(config) if kind in ("composite", "transform") else []
    for member in members:
        finding = describe_transport(member, types, broken)
        if finding.level == "problem":
            return finding
    if kind == "composite":
        return Finding("transport", "composite of " + ", ".join(_address(member) for member in members))
    return Finding("transport", _address(config))


def _url_problem(url: str) -> str:
    shown = without_credentials(url)
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # An incomplete IPv6 address, or a port that is not a number.
        return (
            "The OpenLineage transport's `url` is not a valid address; correct it, for example "
            "`http://localhost:5000`."
        )
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return (
            f"The OpenLineage transport's `url`{f' is {shown}, which' if '@' not in shown else ''} does "
            "not begin with a scheme and a host; set it to an address such as `http://localhost:5000`."
        )
    if parts.path.rstrip("/").endswith(_ENDPOINT):
        return f"The client appends `{_ENDPOINT}` to the transport's `url` itself; remove it from {shown}."
    return ""


def _address(config: Any) -> str:
    if not isinstance(config, dict):
        return "unknown"
    kind = str(config.get("type", "unknown"))
    if kind in ("composite", "transform") or kind not in _NEEDS:
        return kind
    target = config.get(_NEEDS[kind][0], "")
    return f"{kind} to {without_credentials(str(target))}" if target else kind


def transport_classes(config: Any) -> list[str]:
    """Return the types of a transport and of all transports inside it."""
    if not isinstance(config, dict):
        return []
    kind = config.get("type")
    names = [kind] if isinstance(kind, str) else []
    for member in members_of(config):
        names += transport_classes(member)
    return names


def members_of(config: Any) -> list[Any]:
    """Return the transports inside one."""
    if not isinstance(config, dict):
        return []
    members = config.get("transports", [])
    members = list(members.values()) if isinstance(members, dict) else members
    return [
        *(members if isinstance(members, list) else []),
        *([config["transport"]] if "transport" in config else []),
    ]
