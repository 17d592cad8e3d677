"""Keys of Airflow Variables with one event each: made where events are emitted, known where they are read."""

from __future__ import annotations

import hashlib
import re
import time
import uuid

KIND = "variable"
"""Kind of the transport that writes such Variables."""

LONGEST = 200
"""Letters of an event's key that a Variable's key repeats; it may have 250."""

_LONGEST_OF_DIGESTED = LONGEST - 33

_ODD = re.compile(r"[^A-Za-z0-9_.-]")
"""What a key in a URL of Airflow's API should not have."""

_NAME = re.compile(r".+\.(?P<time>[0-9a-f]{16})-[0-9a-f]{12}")


def variable_key(event_key: str) -> str:
    """A new key, of at most 250 letters, for one event with this key; keys made later sort behind it."""
    return f"{prefix_of(event_key)}{time.time_ns():016x}-{uuid.uuid4().hex[:12]}"


def prefix_of(event_key: str) -> str:
    """What the keys of all Variables with such events begin with.

    >>> prefix_of("dag.task.event.start")
    'dag.task.event.start.'
    """
    name = _ODD.sub("_", event_key)
    if name != event_key or len(name) > LONGEST:
        digest = hashlib.sha256(event_key.encode()).hexdigest()[:32]
        name = f"{name[:_LONGEST_OF_DIGESTED]}.{digest}"
    return f"{name}."


def prefix_of_dag(dag_id: str) -> str:
    """What all keys of a DAG's events begin with; those of other DAGs may begin so, too."""
    return _ODD.sub("_", f"{dag_id}.")[:_LONGEST_OF_DIGESTED]


def emitted_at(key: str) -> float | None:
    """Seconds since 1970 when a Variable's event was emitted; None for a Variable of another kind."""
    match = _NAME.fullmatch(key)
    return int(match["time"], 16) / 1e9 if match else None
