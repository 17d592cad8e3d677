"""Texts that no finding may repeat: passwords and keys of transports and of the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote, urlsplit

from airflow_provider_spark_lineage.cli.doctor.model import Finding
from airflow_provider_spark_lineage.spark.records.credentials import REMOVED, without_secrets

_SECRET_NAME = re.compile(
    r"pass|secret|token|api_?key|fernet|private|credential|jaas|auth|signature", re.IGNORECASE
)
_SHORTEST = 4
"""Shorter texts would match parts of ordinary words."""

_WORDS = frozenset({"airflow", "openlineage", "spark", "default", "password", "none", "true", "false"})
"""Passwords of examples that are also common words in a report."""


def secrets_of(transport: Any) -> list[str]:
    """Return the secrets in a transport's configuration and in the environment, the longest first."""
    secrets = set(_secrets({**os.environ, "transport": transport}, is_secret=False))
    long = (secret for secret in secrets if len(secret) >= _SHORTEST and secret.lower() not in _WORDS)
    return sorted(long, key=len, reverse=True)


def _secrets(value: Any, *, is_secret: bool) -> Iterator[str]:
    """Yield passwords of addresses, and the texts whose name, or an outer name, is a secret's."""
    if isinstance(value, dict):
        for name, inner in value.items():
            # The type in `{"auth": {"type": "api_key"}}` is not a secret.
            is_named = bool(_SECRET_NAME.search(str(name))) and name != "type"
            yield from _secrets(inner, is_secret=is_named or (is_secret and name != "type"))
    elif isinstance(value, list):
        for inner in value:
            yield from _secrets(inner, is_secret=is_secret)
    elif isinstance(value, str):
        if is_secret:
            yield value
        try:
            password = urlsplit(value.strip()).password or ""
        except ValueError:
            return
        yield from (password, unquote(password))


def hidden(finding: Finding, secrets: list[str]) -> Finding:
    """Return a finding without the given secrets, and without texts that look like secrets."""

    def hide(text: str) -> str:
        for secret in secrets:
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
