"""Parser of NAME=VALUE options, shared by several commands."""

from __future__ import annotations

import re
from collections.abc import Iterable

from airflow_provider_spark_lineage.errors import BadInputError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    """Return the values by name; if a name is given twice, the last value.

    >>> pairs("--var", ["DATA=/tmp/a=b"])
    {'DATA': '/tmp/a=b'}
    """
    values = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not _NAME.fullmatch(name):
            raise BadInputError(f"{option} {text}: not NAME=VALUE.")
        values[name] = value
    return values
