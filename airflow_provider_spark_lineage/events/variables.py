"""Keys of Airflow Variables with one event each: made where events are emitted, known where they are read.

    <dag_id>.<task_id>.event.<type>.<tag of the run>.<time>-<chance>

The tag lets whoever looks for the events of one DAG run leave all others alone: their names may begin alike.
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
"""Letters of an event's key that a Variable's key repeats; it may have 250."""

_LONGEST_OF_DIGESTED = LONGEST - 33

_ODD = re.compile(r"[^A-Za-z0-9_.-]")
"""What a key in a URL of Airflow's API should not have."""

_KEY = re.compile(r".+\.(?P<tag>[0-9a-f]{8})\.(?P<time>[0-9a-f]{16})-[0-9a-f]{12}")


class Emitted(NamedTuple):
    """What the key of a Variable says of its event."""

    tag: str

    ns: int
    """When it was emitted, by the clock of who emitted it, in nanoseconds since 1970."""


def variable_key(event: Event) -> str:
    """A new key, of at most 250 letters, for this event; of the same run, keys made later sort behind it."""
    return f"{prefix_of(event.key)}{_tag(event)}.{time.time_ns():016x}-{uuid.uuid4().hex[:12]}"


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


def emitted(key: str) -> Emitted | None:
    """What the key of a Variable says; None for a Variable of another kind."""
    match = _KEY.fullmatch(key)
    return Emitted(match["tag"], int(match["time"], 16)) if match else None


def tag_of_dag_run(dag_id: str, run_id: str) -> str:
    """Of what Airflow says of a DAG run and of its tasks, by its id and Airflow's `run_id`."""
    return _digest(f"{dag_id} {run_id}")


def tag_of_child(root_run_id: str) -> str:
    """Of jobs below a task, by the run that the chain of their parents ends in."""
    return _digest(root_run_id)


def _tag(event: Event) -> str:
    if event.dag_run:
        return tag_of_dag_run(*event.dag_run)
    return tag_of_child(event.root_run_id or event.parent_run_id)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
