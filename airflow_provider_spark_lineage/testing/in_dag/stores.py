"""Where the events of this Airflow lie: what its OpenLineage client writes to, asked of the client itself."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
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

LEFT_BEHIND_NS = 3600 * 10**9
"""How old an event is that was emitted behind a check, when nobody can wait for it any more."""


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
        of_dag = variables.keys(prefix=prefix_of_dag(self._task.dag_id))
        tags = {tag_of_dag_run(self._task.dag_id, self._task.run_id)}
        self._fetch(variables, _tagged(of_dag, tags))
        own = [event for event in self._read.values() if isinstance(event, Event)]
        roots = {one for event in own for one in (event.parent_run_id, event.root_run_id, event.run_id)}
        tags |= {tag_of_child(root) for root in roots if root}
        self._fetch(variables, _tagged(of_dag, tags))
        for prefix in self._wanted if own else ():
            self._fetch(variables, self._elsewhere(variables, prefix, of_dag, tags))
        found = [self._read[key] for key in sorted(self._read, key=_ns)]
        return Events(
            tuple(event for event in found if isinstance(event, Event)),
            tuple(problem for problem in found if isinstance(problem, str)),
        )

    def _elsewhere(
        self, variables: Any, prefix: str, of_dag: Sequence[str], tags: Collection[str]
    ) -> Iterator[str]:
        """Keys of events that are asked for, where they are not of this DAG run but of what it started."""
        if not prefix.startswith(prefix_of_dag(self._task.dag_id)):
            keys = variables.keys(prefix=prefix)
        elif not any(key.startswith(prefix) for key in _tagged(self._read, tags)):
            # The ids of other DAGs may begin with the id of this one.
            keys = [key for key in of_dag if key.startswith(prefix)]
        else:
            return
        since = min(map(_ns, self._read)) - CLOCKS_DIFFER_NS
        yield from (key for key in keys if _ns(key) >= since)

    def _fetch(self, variables: Any, keys: Iterable[str]) -> None:
        """Read what was not read before of these Variables."""
        for key in keys:
            if key in self._read or emitted(key) is None:
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
        before = min(map(_ns, doomed), default=0) - LEFT_BEHIND_NS
        for subject in (self._task.subject, self._task.dag_id):
            prefix = prefix_of(f"{subject}.event.complete")
            for key in variables.keys(prefix=prefix):
                # What has more in it than tag and time is of another job.
                if emitted(key) and key.removeprefix(prefix).count(".") == 1 and _ns(key) < before:
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


def _tagged(keys: Iterable[str], tags: Collection[str]) -> list[str]:
    """The keys that have one of these tags."""
    return [key for key in keys if (known := emitted(key)) is not None and known.tag in tags]


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
