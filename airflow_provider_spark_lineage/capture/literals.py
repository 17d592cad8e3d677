"""Takes everything out of a plan's JSON that could be a secret."""

from __future__ import annotations

from typing import Any, Dict

from airflow_provider_spark_lineage.record import without_secrets


def without_literals(value: Dict[str, Any]) -> Dict[str, Any]:
    """Take the value out of a literal, and credentials out of every other text of a plan node.

    Lineage needs no literal, and any of them may be a password or a customer's name.
    """
    if value.get("class", "").endswith(".Literal"):
        value["value"] = None
        return value
    for key, item in value.items():
        if isinstance(item, str) and key not in ("class", "product-class", "object"):
            value[key] = without_secrets(item)
    return value
