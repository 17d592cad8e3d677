"""Keys of Airflow Variables with one event each, shared by the transport and the reader.

<dag_id>.<task_id>.event.<type>.<time>-<chance>
"""

from __future__ import annotations

import hashlib
import re
import time
import uuid

from airflow_provider_spark_lineage.events.model import Event

KIND = "variable"
"""Kind of the transport that writes such Variables."""

LONGEST = 200
"""Maximum of characters of an event's key in the key of a Variable, which may have 250."""

_LONGEST_BEFORE_DIGEST = LONGEST - 33

_ODD = re.compile(r"[^A-Za-z0-9_.-]")
"""Characters to avoid in a key, which is part of URLs of Airflow's API."""

_KEY = re.compile(r".+\.([0-9a-f]{16})-[0-9a-f]{12}")


def variable_key(event: Event) -> str:
    """Return a new key of at most 250 characters; later keys of the same event key sort after it."""
    return f"{prefix_of(event.key)}{time.time_ns():016x}-{uuid.uuid4().hex[:12]}"


def prefix_of(event_key: str) -> str:
    """Return the prefix of the keys of all Variables with such events.

    >>> prefix_of("dag.task.event.start")
    'dag.task.event.start.'
    """
    name = _ODD.sub("_", event_key)
    if name != event_key or len(name) > LONGEST:
        digest = hashlib.sha256(event_key.encode()).hexdigest()[:32]
        name = f"{name[:_LONGEST_BEFORE_DIGEST]}.{digest}"
    return f"{name}."


def prefix_of_dag(dag_id: str) -> str:
    """Return the prefix of all keys of a DAG's events; other DAGs' keys may share it."""
    return _ODD.sub("_", f"{dag_id}.")[:_LONGEST_BEFORE_DIGEST]


def emitted_ns(key: str) -> int | None:
    """Return the time in a Variable's key, in nanoseconds since 1970; None for a Variable of another kind."""
    match = _KEY.fullmatch(key)
    return int(match[1], 16) if match else None
