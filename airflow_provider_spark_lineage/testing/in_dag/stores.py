"""Where the events of this Airflow lie: what its OpenLineage client writes to, asked of the client itself."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Protocol

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events, read_events
from airflow_provider_spark_lineage.events.variables import (
    KIND,
    emitted,
    prefix_of,
    prefix_of_dag,
    tag_of_child,
    tag_of_dag_run,
)
from airflow_provider_spark_lineage.testing.in_dag.dag_run import AskingTask

CLOCKS_DIFFER_NS = 60_000_000_000
"""How much later than here another machine may think it is."""


class Store(Protocol):
    """Something that events were written to."""

    def read(self) -> Events:
        """The events so far; none where nothing was written."""

    def clear(self, events: Collection[Event]) -> None:
        """Remove these events of the asking task's DAG run, where that is possible."""

    def __str__(self) -> str:
        """Say to a person where that is."""


class FileStore:
    """A file of FileTransport, a folder, or the beginning of the names of its files; never cleared."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[object, Events] = (None, Events((), ()))
        """What was read, and how the files looked then."""

    def read(self) -> Events:
        """Return the events of all files there."""
        look = self._look()
        if look != self._read[0]:
            try:
                self._read = look, read_events(self.path)
            except BadInputError:
                self._read = None, Events((), ())
        return self._read[1]

    def _look(self) -> object:
        """What changes with the files."""
        if self.path.is_dir():
            files = list(self.path.rglob("*"))
        else:
            files = [file for file in self.path.parent.glob("*") if file.name.startswith(self.path.name)]
        stats = ((file, file.stat()) for file in files if file.is_file())
        return sorted((str(file), stat.st_size, stat.st_mtime_ns) for file, stat in stats)

    def clear(self, events: Collection[Event]) -> None:
        """Do nothing: others may write to it."""

    def __str__(self) -> str:
        return str(self.path)


class VariableStore:
    """The Variables with events of a DAG run, and of other jobs those with keys that are asked for."""

    def __init__(self, task: AskingTask, keys: tuple[str, ...]) -> None:
        self._task = task
        self._wanted = tuple(prefix_of(key) for key in keys)
        self._read: dict[str, Event | str] = {}
        """Key of a Variable -> its event, or why it is none. Nobody writes a Variable twice."""

    def read(self) -> Events:
        """Return the events in the order of their keys' times; BadInputError where none can be listed."""
        variables = _listed_variables()
        keys = variables.keys(prefix=prefix_of_dag(self._task.dag_id))
        self._fetch(variables, keys, {tag_of_dag_run(self._task.dag_id, self._task.run_id)})
        own = [event for event in self._read.values() if isinstance(event, Event)]
        roots = {one for event in own for one in (event.parent_run_id, event.root_run_id, event.run_id)}
        self._fetch(variables, keys, {tag_of_child(root) for root in roots if root})
        # What nothing of this DAG run has may be of a DAG that it triggered.
        since = min(map(_ns, self._read), default=0) - CLOCKS_DIFFER_NS
        for prefix in self._wanted if own else ():
            if not any(key.startswith(prefix) for key in self._read):
                elsewhere = variables.keys(prefix=prefix)
                self._fetch(variables, [key for key in elsewhere if _ns(key) >= since])
        found = [self._read[key] for key in sorted(self._read, key=_ns)]
        return Events(
            tuple(event for event in found if isinstance(event, Event)),
            tuple(problem for problem in found if isinstance(problem, str)),
        )

    def _fetch(self, variables: Any, keys: Collection[str], tags: Collection[str] | None = None) -> None:
        """Read what was not read before of these Variables; with `tags`, only of these runs."""
        for key in keys:
            known = emitted(key)
            if known is None or key in self._read or (tags is not None and known.tag not in tags):
                continue
            value = variables.get(key, default=None)
            # Another check may delete what is of its run while this one looks.
            if value is not None:
                self._read[key] = _event(key, value)

    def clear(self, events: Collection[Event]) -> None:
        """Remove their Variables, and what earlier runs emitted when their checks were over."""
        variables = _listed_variables()
        below = {id(event) for event in events}
        doomed = [
            key
            for key, event in self._read.items()
            if isinstance(event, Event)
            and (id(event) in below or event.dag_run == (self._task.dag_id, self._task.run_id))
        ]
        for key in doomed:
            variables.delete(key)
        first = min(map(_ns, doomed), default=0)
        for subject in (self._task.subject, self._task.dag_id):
            for key in variables.keys(prefix=prefix_of(f"{subject}.event.complete")):
                if emitted(key) is not None and _ns(key) < first:
                    variables.delete(key)

    def __str__(self) -> str:
        return f"the Variables {prefix_of_dag(self._task.dag_id)}*"


def _listed_variables() -> Any:
    from airflow.sdk import Variable

    if not hasattr(Variable, "keys"):
        raise BadInputError(
            "This Airflow has no Variable.keys, so a task cannot find the events of a VariableTransport; "
            "use Airflow 3.3 or newer, or FileTransport."
        )
    return Variable


def _ns(key: str) -> int:
    known = emitted(key)
    return known.ns if known else 0


def _event(key: str, value: str) -> Event | str:
    where = f"Variable {key}"
    try:
        document = json.loads(value)
    except ValueError:
        return f"{where}: not JSON."
    event = Event(document, where) if isinstance(document, dict) else None
    if event is None or event.problem:
        return f"{where}: not an OpenLineage event, {event.problem if event else 'it is not a JSON object'}."
    return event


def store_of(transport: Any, task: AskingTask, keys: tuple[str, ...]) -> Store:
    """Where a transport of the OpenLineage client writes; BadInputError for one that cannot be read again."""
    seen = []
    for one in _each(transport):
        path = getattr(getattr(one, "config", None), "log_file_path", None)
        if one.kind == KIND:
            return VariableStore(task, keys)
        if path is not None:
            return FileStore(Path(path.removeprefix("file://")))
        seen.append(str(one.kind))
    raise BadInputError(
        f"OpenLineage emits by transport {', '.join(seen) or 'none'} here, which no task can read; configure "
        "FileTransport or VariableTransport, or say with `events=` which file or folder has the events."
    )


def _each(transport: Any) -> Iterator[Any]:
    """Yield a transport, or those that it hands events on to."""
    inner = getattr(transport, "transports", None) or getattr(transport, "transport", None)
    if inner is None:
        yield transport
        return
    for one in inner if isinstance(inner, list | tuple) else [inner]:
        yield from _each(one)
