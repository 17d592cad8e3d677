"""Places of the events of a DAG run, for a task that compares them: files or Airflow Variables.

Both keep events of earlier runs, so this module also selects the events of one DAG run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events import Event, Events, read_events
from airflow_provider_spark_lineage.openlineage.events.model import TERMINAL
from airflow_provider_spark_lineage.openlineage.events.reader import events_in
from airflow_provider_spark_lineage.openlineage.events.variables import KIND, emitted_ns, prefix_of_dag

CHECK_CLASS = ".OpenLineageTestOperator"
"""End of the class name of a check in Airflow's facet."""


@dataclass(frozen=True)
class CheckingTask:
    """The task that compares the events of its DAG run, without events of checks."""

    dag_id: str

    run_id: str
    """Airflow's `run_id` of the DAG run."""

    task_id: str

    @property
    def subject(self) -> str:
        """The start of the keys of the task's own events."""
        return f"{self.dag_id}.{self.task_id}"

    def own(self, events: Iterable[Event]) -> list[Event]:
        """Return the events of this DAG run, of the last attempt of its tasks, and of the jobs below them.

        An end of the DAG run is left out: it belongs to an earlier attempt, because this task still runs.
        """
        of_run = [
            event
            for event in events
            if event.dag_run == (self.dag_id, self.run_id)
            and event.subject != self.subject
            and not event.text("run", "facets", "airflow", "task", "operator_class").endswith(CHECK_CLASS)
            and not (event.is_dag_run and event.type in TERMINAL)
        ]
        in_order = sorted(of_run, key=lambda event: (event.try_number or 0, event.time_ns or 0))
        last = {(event.subject, event.map_index): _attempt(event) for event in in_order}
        latest = [event for event in of_run if _attempt(event) == last[event.subject, event.map_index]]
        return [*latest, *_below(latest, events)]

    def select(self, events: Events) -> Events:
        """Return its own events and the events of DAG runs that its tasks started, in reading order."""
        own = self.own(events)
        tasks = [event for event in own if not event.is_dag_run]
        selected = {id(event) for event in (*own, *_below(tasks, events, with_dag_runs=True))}
        return Events(tuple(event for event in events if id(event) in selected), events.problems)


def _attempt(event: Event) -> str:
    """Return the OpenLineage run id of the DAG run, which changes each time that it is cleared."""
    return event.run_id if event.is_dag_run else event.parent_run_id


def _below(parents: Sequence[Event], events: Iterable[Event], *, with_dag_runs: bool = False) -> list[Event]:
    """Return the events of all jobs below these; DAG runs and tasks of Airflow only `with_dag_runs`."""
    waiting: dict[str, list[Event]] = {}
    for event in events:
        if (with_dag_runs or event.dag_run is None) and event.parent_run_id not in ("", event.run_id):
            waiting.setdefault(event.parent_run_id, []).append(event)
    below: list[Event] = []
    run_ids = [event.run_id for event in parents]
    while run_ids:
        children = waiting.pop(run_ids.pop(), [])
        below += children
        run_ids += [event.run_id for event in children]
    return below


class FileStore:
    """A file of FileTransport, a folder, or a prefix of file names; never cleared."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Events:
        """Return the events of all files; none if no file exists yet."""
        try:
            return read_events(self.path)
        except BadInputError:
            return Events((), ())

    def clear(self, events: Collection[Event]) -> None:
        """Do nothing: others may write to the file."""

    def __str__(self) -> str:
        return str(self.path)


class VariableStore:
    """The Variables with events of a DAG, of all its DAG runs; other DAGs' keys may begin alike."""

    def __init__(self, task: CheckingTask) -> None:
        self._task = task
        self._read: dict[str, Event | str] = {}
        """Key of a Variable -> its event, or the reason why it is not one. No Variable is written twice."""

    def read(self) -> Events:
        """Return the events, ordered by the times in their keys."""
        variables = _variables()
        for key in variables.keys(prefix=prefix_of_dag(self._task.dag_id)):
            if key not in self._read and emitted_ns(key) is not None:
                value = variables.get(key, default=None)
                # Another check may delete Variables of its run at this moment.
                if value is not None:
                    self._read[key] = _event(key, value)
        items = [self._read[key] for key in sorted(self._read, key=lambda key: emitted_ns(key) or 0)]
        return Events(
            tuple(item for item in items if isinstance(item, Event)),
            tuple(item for item in items if isinstance(item, str)),
        )

    def clear(self, events: Collection[Event]) -> None:
        """Delete the Variables of these events and of all other events of the DAG run that were read."""
        variables = _variables()
        given = {id(event) for event in events}
        dag_run = (self._task.dag_id, self._task.run_id)
        for key, event in self._read.items():
            if isinstance(event, Event) and (id(event) in given or event.dag_run == dag_run):
                variables.delete(key)

    def __str__(self) -> str:
        return f"the Variables {prefix_of_dag(self._task.dag_id)}*"


def _variables() -> Any:
    from airflow.sdk import Variable

    if not hasattr(Variable, "keys"):
        raise BadInputError(
            "This Airflow has no Variable.keys, so a task cannot find the events of a VariableTransport; "
            "use Airflow 3.3 or newer, or FileTransport."
        )
    return Variable


def _event(key: str, value: str) -> Event | str:
    where = f"Variable {key}"
    try:
        return next(events_in(json.loads(value), where), f"{where}: no event.")
    except ValueError:
        return f"{where}: not JSON."


def store_of(transport: Any, task: CheckingTask) -> FileStore | VariableStore:
    """Return the destination of an OpenLineage transport; BadInputError if a task cannot read it."""
    waiting, kinds = [transport], []
    while waiting:
        outer = waiting.pop(0)
        # Some transports pass events on to others.
        inner = getattr(outer, "transports", None) or getattr(outer, "transport", None)
        path = getattr(getattr(outer, "config", None), "log_file_path", None)
        if inner is not None:
            waiting = [*(inner if isinstance(inner, list | tuple) else [inner]), *waiting]
        elif outer.kind == KIND:
            return VariableStore(task)
        elif path is not None:
            return FileStore(Path(path.removeprefix("file://")))
        else:
            kinds.append(str(outer.kind))
    raise BadInputError(
        f"OpenLineage emits by transport {', '.join(kinds) or 'none'} here, which a task cannot read;"
        " configure FileTransport or VariableTransport, or name the file or folder with `events=`."
    )
