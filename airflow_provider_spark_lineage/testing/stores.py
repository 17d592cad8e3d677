"""Where the events of a DAG run are, for a task that compares them: files or Airflow Variables.

Both keep what earlier runs emitted, so this module also selects the events of one DAG run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events, read_events
from airflow_provider_spark_lineage.events.instants import instant_ns
from airflow_provider_spark_lineage.events.model import TERMINAL
from airflow_provider_spark_lineage.events.reader import events_in
from airflow_provider_spark_lineage.events.variables import (
    KIND,
    emitted,
    prefix_of,
    prefix_of_dag,
    tag_of_child,
    tag_of_dag_run,
)

CHECK_CLASS = ".OpenLineageTestOperator"
"""How the class of a check ends, in Airflow's facet."""

CLOCKS_DIFFER_NS = 60 * 10**9
"""How much the clocks of two machines may differ."""

LEFT_BEHIND_NS = 3600 * 10**9
"""Age of an event that was emitted after the check of its DAG run, and that no other check waits for."""


@dataclass(frozen=True)
class CheckingTask:
    """The task that compares the events of its DAG run; events of checks are not among them."""

    dag_id: str

    run_id: str
    """Airflow's."""

    task_id: str

    @property
    def subject(self) -> str:
        """The start of the keys of the task's own events."""
        return f"{self.dag_id}.{self.task_id}"

    def own(self, events: Iterable[Event]) -> list[Event]:
        """Return the events of this DAG run, of its tasks as they ran last, and of the jobs below them.

        The end of the DAG run is of a former attempt, because this task runs.
        """
        of_run = [
            event
            for event in events
            if event.dag_run == (self.dag_id, self.run_id)
            and event.subject != self.subject
            and not event.text("run", "facets", "airflow", "task", "operator_class").endswith(CHECK_CLASS)
            and not (event.is_dag_run and event.type in TERMINAL)
        ]
        last: dict[object, Event] = {}
        for event in of_run:
            before = last.setdefault(_instance(event), event)
            if (event.try_number or 0, _time_ns(event)) >= (before.try_number or 0, _time_ns(before)):
                last[_instance(event)] = event
        latest = [event for event in of_run if _attempt(event) == _attempt(last[_instance(event)])]
        return [*latest, *_below(latest, events)]

    def select(self, events: Events) -> Events:
        """Return its own events and those of other jobs that it may have started, in their order.

        Of other DAGs these are the runs that name this one as parent, if there are any; else all that came
        after the first own event. Jobs without parent are selected by time too.
        """
        own = self.own(events)
        since = min(map(_time_ns, own), default=None)
        started = _below(own, events, with_dag_runs=True)
        naming_parent = {event.dag_run[0] for event in started if event.dag_run}
        later = [event for event in events if since is not None and _time_ns(event) >= since]
        unrelated = [event for event in later if self._is_unrelated(event, naming_parent)]
        selected = {id(event) for event in (*own, *started, *unrelated, *_below(unrelated, later))}
        return Events(tuple(event for event in events if id(event) in selected), events.problems)

    def _is_unrelated(self, event: Event, naming_parent: set[str]) -> bool:
        """Return whether no event says who started this job."""
        if event.dag_run is None:
            return not event.parent_run_id
        return event.dag_run[0] != self.dag_id and event.dag_run[0] not in naming_parent


def _instance(event: Event) -> object:
    """Return what identifies an instance of a task, whatever the try, or the DAG run."""
    return event.subject, event.map_index


def _attempt(event: Event) -> str:
    """Return the OpenLineage run of the DAG run, which is another one each time that it is cleared."""
    return event.run_id if event.is_dag_run else event.parent_run_id


def _below(parents: Sequence[Event], events: Iterable[Event], *, with_dag_runs: bool = False) -> list[Event]:
    """Return the events of all jobs below these; DAG runs and tasks of Airflow only if asked for."""
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


def _time_ns(event: Event) -> int:
    """Return when the event happened; 0 if it does not say."""
    try:
        return instant_ns(event.text("eventTime"))
    except ValueError:
        return 0


class FileStore:
    """A file of FileTransport, a folder, or the start of the names of its files; never cleared."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Events:
        """Return the events of all files there; none if there is no file yet."""
        try:
            return read_events(self.path)
        except BadInputError:
            return Events((), ())

    def clear(self, events: Collection[Event]) -> None:
        """Do nothing: others may write to the file."""

    def __str__(self) -> str:
        return str(self.path)


class VariableStore:
    """The Variables with events of a DAG run, and with events of other jobs that are expected."""

    def __init__(self, task: CheckingTask, keys: tuple[str, ...]) -> None:
        self._task = task
        self._prefixes = tuple(prefix_of(key) for key in keys)
        self._read: dict[str, Event | str] = {}
        """Key of a Variable -> its event, or why it is not one. No Variable is written twice."""

    def read(self) -> Events:
        """Return the events in the order of the times in their keys."""
        variables = _variables()
        of_dag = variables.keys(prefix=prefix_of_dag(self._task.dag_id))
        tags = {tag_of_dag_run(self._task.dag_id, self._task.run_id)}
        self._fetch(variables, _with_tags(of_dag, tags))
        own = [event for event in self._read.values() if isinstance(event, Event)]
        roots = {run for event in own for run in (event.parent_run_id, event.root_run_id, event.run_id)}
        tags |= {tag_of_child(root) for root in roots if root}
        self._fetch(variables, _with_tags(of_dag, tags))
        for prefix in self._prefixes if own else ():
            self._fetch(variables, self._of_other_jobs(variables, prefix, of_dag, tags))
        items = [self._read[key] for key in sorted(self._read, key=_key_ns)]
        return Events(
            tuple(item for item in items if isinstance(item, Event)),
            tuple(item for item in items if isinstance(item, str)),
        )

    def _of_other_jobs(
        self, variables: Any, prefix: str, of_dag: Sequence[str], tags: Collection[str]
    ) -> Iterator[str]:
        """Yield keys of expected events that are not of this DAG run, but perhaps of what it started."""
        if not prefix.startswith(prefix_of_dag(self._task.dag_id)):
            keys = variables.keys(prefix=prefix)
        elif any(key.startswith(prefix) for key in _with_tags(self._read, tags)):
            return
        else:  # the ids of other DAGs may start with the id of this one
            keys = [key for key in of_dag if key.startswith(prefix)]
        since = min(map(_key_ns, self._read)) - CLOCKS_DIFFER_NS
        yield from (key for key in keys if _key_ns(key) >= since)

    def _fetch(self, variables: Any, keys: Iterable[str]) -> None:
        for key in keys:
            if key in self._read or emitted(key) is None:
                continue
            value = variables.get(key, default=None)
            # Another check may delete Variables of its run at this moment.
            if value is not None:
                self._read[key] = _event(key, value)

    def clear(self, events: Collection[Event]) -> None:
        """Delete their Variables, and the COMPLETE events that earlier runs emitted after their checks."""
        variables = _variables()
        given = {id(event) for event in events}
        dag_run = (self._task.dag_id, self._task.run_id)
        read = [(key, event) for key, event in self._read.items() if isinstance(event, Event)]
        own = [key for key, event in read if id(event) in given or event.dag_run == dag_run]
        for key in own:
            variables.delete(key)
        before = min(map(_key_ns, own), default=0) - LEFT_BEHIND_NS
        for subject in (self._task.subject, self._task.dag_id):
            prefix = prefix_of(f"{subject}.event.complete")
            for key in variables.keys(prefix=prefix):
                # A key with more than tag and time behind the prefix is of another job.
                if emitted(key) and key.removeprefix(prefix).count(".") == 1 and _key_ns(key) < before:
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


def _with_tags(keys: Iterable[str], tags: Collection[str]) -> list[str]:
    return [key for key in keys if (known := emitted(key)) is not None and known.tag in tags]


def _key_ns(key: str) -> int:
    known = emitted(key)
    return known.ns if known else 0


def _event(key: str, value: str) -> Event | str:
    where = f"Variable {key}"
    try:
        return next(events_in(json.loads(value), where), f"{where}: no event.")
    except ValueError:
        return f"{where}: not JSON."


def store_of(transport: Any, task: CheckingTask, keys: tuple[str, ...]) -> FileStore | VariableStore:
    """Return where a transport of the OpenLineage client writes; BadInputError if no task can read that."""
    waiting, kinds = [transport], []
    while waiting:
        outer = waiting.pop(0)
        # Some transports hand events on to others.
        inner = getattr(outer, "transports", None) or getattr(outer, "transport", None)
        path = getattr(getattr(outer, "config", None), "log_file_path", None)
        if inner is not None:
            waiting = [*(inner if isinstance(inner, list | tuple) else [inner]), *waiting]
        elif outer.kind == KIND:
            return VariableStore(task, keys)
        elif path is not None:
            return FileStore(Path(path.removeprefix("file://")))
        else:
            kinds.append(str(outer.kind))
    raise BadInputError(
        f"OpenLineage emits by transport {', '.join(kinds) or 'none'} here, which no task can read;"
        " configure FileTransport or VariableTransport, or say with `events=` which file or folder it is."
    )
