"""Where the events of this Airflow lie: what its OpenLineage client writes to, asked of the client itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events, read_events
from airflow_provider_spark_lineage.events.variables import KIND, emitted_at, prefix_of, prefix_of_dag
from airflow_provider_spark_lineage.testing.in_dag.dag_run import AskingRun


class Store(Protocol):
    """Something that events were written to."""

    def read(self) -> Events:
        """The events so far; none where nothing was written."""

    def clear(self) -> None:
        """Remove what was read, where that is possible and wanted."""

    def __str__(self) -> str:
        """Say to a person where that is."""


class FileStore:
    """A file of FileTransport, a folder, or the beginning of the names of its files; never cleared."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Events:
        """Return the events of all files there."""
        try:
            return read_events(self.path)
        except BadInputError:
            return Events((), ())

    def clear(self) -> None:
        """Do nothing: others may write to it."""

    def __str__(self) -> str:
        return str(self.path)


class VariableStore:
    """The Variables with events of a DAG, and those with further keys, which may be of other DAGs."""

    def __init__(self, run: AskingRun, task_id: str, keys: tuple[str, ...]) -> None:
        self._run = run
        self._prefixes = (prefix_of_dag(run.dag_id), *(prefix_of(key) for key in keys))
        self._emitted_later = tuple(
            prefix_of(f"{subject}.event.{kind}")
            for subject in (f"{run.dag_id}.{task_id}", run.dag_id)
            for kind in ("complete", "fail")
        )
        """What a run emits when nobody looks any more."""
        self._read: dict[str, Event | str] = {}
        """Key of a Variable -> its event, or why it is none. Nobody writes a Variable twice."""

    def read(self) -> Events:
        """Return the events in order of their keys' times; BadInputError where Variables cannot be listed."""
        from airflow.sdk import Variable

        for key in self._keys(Variable):
            if key not in self._read and not self._is_older(key):
                self._read[key] = _event(key, Variable.get(key, default=None))
        found = sorted(self._read.items(), key=lambda item: emitted_at(item[0]) or 0)
        return Events(
            tuple(event for _, event in found if isinstance(event, Event)),
            tuple(problem for _, problem in found if isinstance(problem, str)),
        )

    def clear(self) -> None:
        """Remove the Variables of this run, and what the last events of earlier runs left."""
        from airflow.sdk import Variable

        mine = {id(event) for event in self._run.events(self.read())}
        for key in self._keys(Variable):
            event = self._read.get(key)
            if id(event) in mine or (self._is_older(key) and key.startswith(self._emitted_later)):
                Variable.delete(key)

    def _keys(self, variables: Any) -> Iterator[str]:
        if not hasattr(variables, "keys"):
            raise BadInputError(
                "This Airflow has no Variable.keys, so a task cannot find the events of a VariableTransport; "
                "use Airflow 3.3 or newer, or FileTransport."
            )
        seen = {key for prefix in self._prefixes for key in variables.keys(prefix=prefix)}
        return (key for key in sorted(seen) if emitted_at(key) is not None)

    def _is_older(self, key: str) -> bool:
        return (emitted_at(key) or 0) < self._run.started.timestamp()

    def __str__(self) -> str:
        return f"the Variables {self._prefixes[0]}*"


def _event(key: str, value: str | None) -> Event | str:
    where = f"Variable {key}"
    try:
        document = json.loads(value or "")
    except ValueError:
        return f"{where}: not JSON."
    event = Event(document, where) if isinstance(document, dict) else None
    if event is None or event.problem:
        return f"{where}: not an OpenLineage event, {event.problem if event else 'it is not a JSON object'}."
    return event


def store_of(transport: Any, run: AskingRun, task_id: str, keys: tuple[str, ...]) -> Store:
    """Where a transport of the OpenLineage client writes; BadInputError for one that cannot be read again."""
    seen = []
    for one in _each(transport):
        path = getattr(getattr(one, "config", None), "log_file_path", None)
        if one.kind == KIND:
            return VariableStore(run, task_id, keys)
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
