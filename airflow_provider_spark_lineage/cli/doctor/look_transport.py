"""Looks for places of a transport that no event can reach: folders that cannot be written, silent hosts.

A connection is opened and closed; nothing is sent, and no file is created.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass, url2pathname

from airflow_provider_spark_lineage.cli.doctor.found import Unreachable
from airflow_provider_spark_lineage.cli.doctor.secrets import without_credentials
from airflow_provider_spark_lineage.cli.doctor.transport import members_of

SECONDS = 5
"""Time limit for all hosts together, including DNS look-ups."""

_PORTS = {"http": 80, "https": 443}


def unreachable(config: Any) -> tuple[Unreachable, ...]:
    """Return the places of a transport, and of transports inside it, that no event can reach, each once."""
    transports = list(_transports(config))
    paths = [path for each in transports if (path := _local_path(each)) is not None]
    places = {problem.place: problem for path in paths if (problem := _folder_problem(*path))}
    return (*places.values(), *_silent([str(each["url"]) for each in transports if _is_http(each)]))


def _transports(config: Any) -> Iterator[dict[str, Any]]:
    """Yield a transport, then the transports inside it."""
    if isinstance(config, dict):
        yield config
        for member in members_of(config):
            yield from _transports(member)


def _is_http(config: dict[str, Any]) -> bool:
    return config.get("type") in ("http", "async_http") and isinstance(config.get("url"), str)


# ---- Files ---------------------------------------------------------------------------------------


def _local_path(config: dict[str, Any]) -> tuple[Path, bool] | None:
    """Return the path of a file transport, and whether it appends; None if that is not a local path."""
    path = config.get("log_file_path")
    if config.get("type") != "file" or config.get("filesystem") or not isinstance(path, str) or not path:
        return None
    if path.startswith("file://"):
        path = url2pathname(urlsplit(path).path)
    # A relative path depends on the working directory of the task, which is not this one.
    return (Path(path), config.get("append") is True) if Path(path).is_absolute() else None


def _folder_problem(path: Path, is_appended: bool) -> Unreachable | None:
    """Return the problem that keeps a transport from writing; without `append`, it writes beside the path."""
    place, reason = path.parent, ""
    try:
        if is_appended and path.is_dir():
            place, reason = path, "is a folder, not a file"
        elif is_appended and path.exists():
            place, reason = path, "" if os.access(path, os.W_OK) else "cannot be written"
        elif not place.exists():
            reason = "does not exist"
        elif not place.is_dir():
            reason = "is not a folder"
        elif not os.access(place, os.W_OK | os.X_OK):
            reason = "cannot be written"
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
    return Unreachable("transport-folder", str(place), reason) if reason else None


# ---- Hosts ---------------------------------------------------------------------------------------


def _silent(urls: list[str]) -> Iterator[Unreachable]:
    """Yield the addresses whose host or proxy accepts no connection; all are tried at the same time."""
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
            proxy = "" if host == urlsplit(url).hostname else "the proxy "
            yield Unreachable("transport-silent", without_credentials(url), f"{proxy}{host}:{port}: {reason}")


def _address(url: str) -> tuple[str, int] | None:
    """Return the host and port that the client connects to, which may be a proxy."""
    try:
        parts = urlsplit(url.strip())
        if parts.scheme not in _PORTS or not parts.hostname:
            return None
        proxies = getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
        if proxy and not proxy_bypass(parts.hostname):
            parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        return (parts.hostname, parts.port or _PORTS.get(parts.scheme, 1080)) if parts.hostname else None
    except ValueError:  # A port that is not a number: `transport-url` reports it.
        return None


def _connect(address: tuple[str, int], reasons: dict[tuple[str, int], str]) -> None:
    try:
        # Longer than `_silent` waits, so that hosts that never answer always get its reason.
        socket.create_connection(address, timeout=2 * SECONDS).close()
        reasons[address] = ""
    except (OSError, UnicodeError) as error:
        reasons[address] = getattr(error, "strerror", None) or str(error) or type(error).__name__
