"""Keys of Airflow Variables with one event each, shared by the transport and the reader.

    <dag_id>.<task_id>.event.<type>.<tag of the run>.<time>-<chance>

The tag distinguishes the events of DAG runs whose keys start alike.
"""

from __future__ import annotations

import hashlib
import re
import time
import uuid
from typing import NamedTuple

from airflow_provider_spark_lineage.events.model import Event

KIND = "variable"
"""Kind of the transport that writes such Variables."""

LONGEST = 200
"""Maximum of characters of an event's key in the key of a Variable, which may have 250."""

_LONGEST_BEFORE_DIGEST = LONGEST - 33

_ODD = re.compile(r"[^A-Za-z0-9_.-]")
"""Characters to avoid in a key, which is part of URLs of Airflow's API."""

_KEY = re.compile(r".+\.(?P<tag>[0-9a-f]{8})\.(?P<time>[0-9a-f]{16})-[0-9a-f]{12}")


class Emitted(NamedTuple):
    """The parts of a Variable's key."""

    tag: str

    ns: int
    """Time of emission, by the clock of that machine, in nanoseconds since 1970."""


def variable_key(event: Event) -> str:
    """Return a new key of at most 250 characters; later keys of the same run sort after it."""
    return f"{prefix_of(event.key)}{_tag(event)}.{time.time_ns():016x}-{uuid.uuid4().hex[:12]}"


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


def emitted(key: str) -> Emitted | None:
    """Return the parts of a Variable's key; None for a Variable of another kind."""
    match = _KEY.fullmatch(key)
    return Emitted(match["tag"], int(match["time"], 16)) if match else None


def tag_of_dag_run(dag_id: str, run_id: str) -> str:
    """Return the tag of the events of a DAG run and its tasks, by DAG id and Airflow's `run_id`."""
    return _digest(f"{dag_id} {run_id}")


def tag_of_child(root_run_id: str) -> str:
    """Return the tag of the events of jobs below a task, by the root of their parents."""
    return _digest(root_run_id)


def _tag(event: Event) -> str:
    if event.dag_run:
        return tag_of_dag_run(*event.dag_run)
    return tag_of_child(event.root_run_id or event.parent_run_id)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
