"""Looks for transports that the client cannot build, and for places that no event can reach.

A connection is opened and closed; nothing is sent, and no file is created.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass, url2pathname

from airflow_provider_spark_lineage.cli.doctor.model import Finding, problem
from airflow_provider_spark_lineage.cli.doctor.probe import reason
from airflow_provider_spark_lineage.cli.doctor.secrets import without_credentials
from airflow_provider_spark_lineage.cli.doctor.transport import HTTP, transports_in

SECONDS = 5
"""Time limit for all hosts together, including DNS look-ups."""

_PORTS = {"http": 80, "https": 443}
_MODULES = {"kafka": ("confluent_kafka",), "msk-iam": ("confluent_kafka", "aws_msk_iam_sasl_signer")}
"""Transport type -> the modules that the client imports when it creates one."""

_OF_THE_FACTORY = ("type", "name", "priority")
"""Options that the client's factory reads itself."""


def unbuildable(config: Any) -> Iterator[Finding]:
    """Yield the transports whose class or options the client refuses; none is created."""
    for transport in transports_in(config):
        kind = transport["type"]
        try:
            options_class = _class_of(kind).config_class
        except BaseException as error:  # The class may be the user's.
            advice = (
                f"The OpenLineage transport `{kind}` cannot be used ({reason(error)}); correct its `type`, "
                "or install the missing package for Airflow's processes."
            )
            yield problem("transport-unknown", "transport", kind, advice)
            continue
        options = {name: transport[name] for name in transport if name not in _OF_THE_FACTORY}
        try:
            options_class.from_dict(options)
        except BaseException as error:
            advice = (
                f"The OpenLineage transport `{kind}` refuses its options ({reason(error)}); correct them."
            )
            yield problem("transport-incomplete", "transport", kind, advice)


def _class_of(kind: str) -> Any:
    """Return the class of a transport as the client's factory does."""
    from openlineage.client.transport import Transport, get_default_factory

    for name in _MODULES.get(kind, ()):
        if importlib.util.find_spec(name) is None:
            raise ImportError(f"it needs {name}")
    known = get_default_factory().transports
    transport_class = known.get(kind, kind)
    if isinstance(transport_class, str):
        module, _, name = transport_class.rpartition(".")
        if not module:
            raise ImportError(f"the client knows {', '.join(sorted(known))}")
        transport_class = getattr(importlib.import_module(module), name)
    if not (isinstance(transport_class, type) and issubclass(transport_class, Transport)):
        raise TypeError(f"{kind} is not a subclass of Transport")
    return transport_class


def unreachable(config: Any) -> Iterator[Finding]:
    """Yield the places of a transport, and of transports inside it, that no event can reach, each once."""
    transports = list(transports_in(config))
    problems = [finding for each in transports if each["type"] == "file" for finding in _folder(each)]
    yield from {finding.value: finding for finding in problems}.values()
    yield from _silent([str(each.get("url")) for each in transports if each["type"] in HTTP])


def _folder(config: dict[str, Any]) -> Iterator[Finding]:
    """Yield what keeps a file transport from writing; without `append`, it writes beside its path."""
    text = str(config.get("log_file_path", ""))
    path = Path(url2pathname(urlsplit(text).path) if text.startswith("file://") else text)
    # A relative path depends on the working directory of the task, which is not this one.
    if config.get("filesystem") or not path.is_absolute():
        return
    place = path if config.get("append") is True and os.path.exists(path) else path.parent
    if not os.access(place, os.W_OK) or os.path.isdir(place) is (place == path):
        fault = "cannot be written" if os.path.exists(place) else "does not exist"
        advice = (
            f"OpenLineage's file transport cannot write its events: {place} {fault}; correct that, or the "
            "transport's `log_file_path`."
        )
        yield problem("transport-folder", "transport", str(place), advice)


def _silent(urls: list[str]) -> Iterator[Finding]:
    """Yield the addresses whose host accepts no connection; all are tried at the same time."""
    addresses: dict[tuple[str, int], str] = {}
    for url in urls:
        if (address := _address(url)) is not None:
            addresses.setdefault(address, url)
    reasons: dict[tuple[str, int], str] = {}
    threads = [threading.Thread(target=_connect, args=(each, reasons), daemon=True) for each in addresses]
    for thread in threads:
        thread.start()
    deadline = monotonic() + SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))
    for (host, port), url in addresses.items():
        if reason := reasons.get((host, port), f"no answer within {SECONDS} seconds"):
            shown = without_credentials(url)
            advice = (
                f"OpenLineage's backend at {shown} cannot be reached from here ({host}:{port}: {reason}); "
                "start it, or correct its `url`."
            )
            yield problem("transport-silent", "transport", f"no answer from {shown}", advice)


def _address(url: str) -> tuple[str, int] | None:
    """Return the host and port that the client connects to; None behind a proxy, which may know the host."""
    try:
        parts = urlsplit(url.strip())
        if parts.scheme not in _PORTS or not parts.hostname:
            return None
        if {parts.scheme, "all"} & getproxies().keys() and not proxy_bypass(parts.hostname):
            return None
        return parts.hostname, parts.port or _PORTS[parts.scheme]
    except ValueError:  # A port that is not a number: `transport-url` reports it.
        return None


def _connect(address: tuple[str, int], reasons: dict[tuple[str, int], str]) -> None:
    try:
        # Longer than `_silent` waits, so that hosts that never answer always get its reason.
        socket.create_connection(address, timeout=2 * SECONDS).close()
        reasons[address] = ""
    except (OSError, UnicodeError) as error:
        reasons[address] = getattr(error, "strerror", None) or str(error) or type(error).__name__
