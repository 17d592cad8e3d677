"""Address, credentials and requests of a service that runs beside a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Service:
    """A service that answers."""

    ids: Mapping[str, str]
    """Task -> the id that the service gave to its run."""

    port: int

    connections: Mapping[str, Mapping[str, Any]]
    """Airflow's connections, as JSON."""

    settings: Mapping[str, str] = field(default_factory=dict)
    """More environment variables of the worker."""
