"""Texts that no finding may repeat: passwords and keys of transports, connections and the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

from airflow_provider_spark_lineage.cli.doctor.finding import Finding
from airflow_provider_spark_lineage.cli.doctor.found import Airflow
from airflow_provider_spark_lineage.records.credentials import REMOVED, without_secrets

_SECRET_NAME = re.compile(r"pass|secret|token|api_?key|private|credential|jaas|auth|signature", re.IGNORECASE)
_SECRET_VARIABLE = re.compile(r"(PASSWORD|SECRET|TOKEN|API_KEY|FERNET_KEY)$")
_SHORTEST = 4
"""Shorter texts would match parts of ordinary words."""

_WORDS = frozenset({"airflow", "openlineage", "spark", "default", "password", "none", "true", "false"})
"""Passwords of examples that are also common words in a report."""


def secrets_of(environment: Mapping[str, str], airflow: Airflow | None) -> frozenset[str]:
    """Return the secrets in the environment and in the transport's configuration."""
    secrets: set[str] = set()
    for name, value in environment.items():
        if name.startswith("AIRFLOW_CONN_") or "://" in value:
            secrets.update(_of_address(value))
        if _SECRET_VARIABLE.search(name):
            secrets.add(value)
    if airflow is not None:
        secrets.update(_of_config(airflow.transport, secret=False))
    return frozenset(
        secret for secret in secrets if len(secret) >= _SHORTEST and secret.lower() not in _WORDS
    )


def _of_config(config: Any, *, secret: bool) -> Iterator[str]:
    """Yield the values of a transport's configuration whose name, or an outer name, is a secret's."""
    if isinstance(config, dict):
        for name, value in config.items():
            # The type in `{"auth": {"type": "api_key"}}` is not a secret.
            yield from _of_config(
                value, secret=(secret or bool(_SECRET_NAME.search(str(name)))) and name != "type"
            )
    elif isinstance(config, list):
        for value in config:
            yield from _of_config(value, secret=secret)
    elif isinstance(config, str):
        if secret:
            yield config
        yield from _of_address(config)


def _of_address(text: str) -> Iterator[str]:
    """Yield the password of an address, as written and decoded."""
    try:
        password = urlsplit(text.strip()).password
    except ValueError:
        return
    if password:
        yield from (password, unquote(password))


def hidden(finding: Finding, secrets: frozenset[str]) -> Finding:
    """Return a finding without the given secrets, and without texts that look like secrets."""

    def hide(text: str) -> str:
        for secret in sorted(secrets, key=len, reverse=True):
            text = text.replace(secret, REMOVED)
        return without_secrets(text)

    return replace(finding, value=hide(finding.value), advice=hide(finding.advice))


def without_credentials(address: str) -> str:
    """Remove user, password, query and fragment from an address: each may be a secret."""
    if "://" not in address:
        return address
    try:
        parts = urlsplit(address)
    except ValueError:
        return REMOVED
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
