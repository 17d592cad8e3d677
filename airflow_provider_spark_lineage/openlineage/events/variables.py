"""Keys of Airflow Variables with one event each, shared by the transport and the reader.

<dag_id>.<task_id>.event.<type>.<time>-<chance>
"""

from __future__ import annotations

import re
import time
import uuid

from airflow_provider_spark_lineage.openlineage.events.model import Event

KIND = "variable"
"""Kind of the transport that writes such Variables."""

_LONGEST = 200
"""Maximum of characters of an event's key in the key of a Variable, which may have 250."""

_KEY = re.compile(r".+\.([0-9a-f]{16})-[0-9a-f]{12}")


def variable_key(event: Event) -> str:
    """Return a new key of at most 250 characters; later keys of the same event key sort after it."""
    return f"{_safe(event.key)}.{time.time_ns():016x}-{uuid.uuid4().hex[:12]}"


def prefix_of_dag(dag_id: str) -> str:
    """Return the prefix of all keys of a DAG's events; other DAGs' keys may share it."""
    return _safe(f"{dag_id}.")


def _safe(text: str) -> str:
    """Return a text that may be part of URLs of Airflow's API."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)[:_LONGEST]


def emitted_ns(key: str) -> int | None:
    """Return the time in a Variable's key, in nanoseconds since 1970; None for a Variable of another kind."""
    match = _KEY.fullmatch(key)
    return int(match[1], 16) if match else None
