"""OpenLineage events and their keys, independent of files and expectations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns

EVENT_TYPES = ("start", "running", "complete", "abort", "fail", "other", "untyped", "job", "dataset")
"""Every last part of a key: the spec's run event types, a run event without one, job and dataset events."""

TERMINAL = ("complete", "fail", "abort")
"""Event types that end a run."""


class TaskTry(NamedTuple):
    """One try of one task instance."""

    task: str
    """`<dag_id>.<task_id>`"""

    dag_run: tuple[str, str] | None
    """DAG id and Airflow's `run_id`; None if the event does not have them."""

    map_index: int | None
    try_number: int | None


@dataclass(frozen=True)
class Event:
    """One event and its place; `document` is the JSON object as written.

    >>> Event({"eventType": "FAIL", "run": {}, "job": {"name": "dag.group.task"}}).key
    'dag.group.task.event.fail'
    """

    document: Mapping[str, Any]

    source: str = ""
    """File and line, for messages."""

    @cached_property
    def key(self) -> str:
        """`<dag_id>.<task_id>.event.<type>`, `<dag_id>.event.<type>` or `<job name>.event.<type>`."""
        return f"{self.subject}.event.{self.type}"

    @cached_property
    def type(self) -> str:
        """One of `EVENT_TYPES`, or another text in `eventType`."""
        if isinstance(self.document.get("run"), Mapping):
            return (self.text("eventType") or "untyped").lower()
        return "job" if isinstance(self.document.get("job"), Mapping) else "dataset"

    @cached_property
    def name(self) -> str:
        """The name of the job or dataset; empty if there is none."""
        return self.text("job", "name") or self.text("dataset", "name")

    @cached_property
    def subject(self) -> str:
        """`<dag_id>.<task_id>` of a task's own events, else the name of the job or dataset."""
        task = self._task
        # A child run may have a copy of its task's facets, but another name.
        is_child = self.name.startswith(f"{task}.") or self.text(*_PARENT, "job", "name") == task
        return self.name if is_child or not task else task

    @cached_property
    def _task(self) -> str:
        dag_id = self.text(*_AIRFLOW, "dag", "dag_id")
        task_id = self.text(*_AIRFLOW, "task", "task_id") or self.text(*_AIRFLOW, "taskInstance", "task_id")
        return f"{dag_id}.{task_id}" if dag_id and task_id else ""

    @cached_property
    def facet_dag_id(self) -> str:
        """The DAG that a facet of Airflow names; empty if none does."""
        return self.text(*_AIRFLOW, "dag", "dag_id") or self.text(*_DAG_RUN, "dag", "dag_id")

    @cached_property
    def map_index(self) -> int | None:
        """Index of a mapped task's instance; None if the task is not mapped (-1 in Airflow's facet)."""
        return self._count(*_AIRFLOW, "taskInstance", "map_index", first=0)

    @cached_property
    def try_number(self) -> int | None:
        """Try of the task, from 1; None if the event does not have it."""
        return self._count(*_AIRFLOW, "taskInstance", "try_number", first=1)

    @cached_property
    def clear_number(self) -> int | None:
        """Number of times that the DAG run was cleared, from 0; None if the event does not have it.

        A cleared DAG run gets another OpenLineage run id and keeps Airflow's.
        """
        counts = (self._count(*facet, "dagRun", "clear_number", first=0) for facet in (_AIRFLOW, _DAG_RUN))
        return next((count for count in counts if count is not None), None)

    @cached_property
    def dag_run(self) -> tuple[str, str] | None:
        """DAG id and Airflow's `run_id` of a DAG run or of a task in it; None if no facet has both."""
        for facet in (_AIRFLOW, _DAG_RUN):
            dag_id, run_id = self.text(*facet, "dag", "dag_id"), self.text(*facet, "dagRun", "run_id")
            if dag_id and run_id:
                return dag_id, run_id
        return None

    @cached_property
    def task_try(self) -> TaskTry | None:
        """The event's try; None if the event is not about a task of Airflow."""
        if not self._task or self._task != self.subject:
            return None
        return TaskTry(self._task, self.dag_run, self.map_index, self.try_number)

    @cached_property
    def is_dag_run(self) -> bool:
        """True if the event is about a whole DAG run."""
        return self.at(*_DAG_RUN) is not None and not self._task

    @cached_property
    def run_id(self) -> str:
        """`run.runId`; empty if there is none."""
        return self.text("run", "runId")

    @cached_property
    def parent_run_id(self) -> str:
        """Run id of the parent; empty if the event does not have it."""
        return self.text(*_PARENT, "run", "runId")

    @cached_property
    def root_run_id(self) -> str:
        """Run id of the root of the parents; empty if the event does not have it."""
        return self.text(*_PARENT, "root", "run", "runId")

    @cached_property
    def time_ns(self) -> int | None:
        """`eventTime` in nanoseconds since 1970; None if it cannot be parsed."""
        try:
            return instant_ns(self.text("eventTime").upper())
        except ValueError:
            return None

    @cached_property
    def root_job(self) -> str:
        """Job of the root run: the DAG, or the DAG that triggered it."""
        return self.text(*_PARENT, "root", "job", "name")

    @property
    def problem(self) -> str:
        """Reason why this is not an OpenLineage event; empty if it may be one."""
        if not any(isinstance(self.document.get(part), Mapping) for part in ("run", "job", "dataset")):
            return "it has no `run`, `job` or `dataset`"
        if not self.name:
            return "it has neither `job.name` nor `dataset.name`"
        if not isinstance(self.document.get("eventType"), str | None):
            return "its `eventType` is not a string"
        return ""

    def at(self, *path: str) -> Any:
        """Return the value at a path of keys; None if there is none."""
        value: Any = self.document
        for part in path:
            # isinstance is much faster for dict than for the abstract Mapping.
            if not isinstance(value, (dict, Mapping)):
                return None
            value = value.get(part)
        return value

    def text(self, *path: str) -> str:
        """Return the string at a path of keys; empty if there is none."""
        value = self.at(*path)
        return value if isinstance(value, str) else ""

    def _count(self, *path: str, first: int) -> int | None:
        number = self.at(*path)
        return number if type(number) is int and number >= first else None


@dataclass(frozen=True)
class Events:
    """All events of one place, in reading order, and the problems while reading them."""

    items: tuple[Event, ...]

    problems: tuple[str, ...] = ()
    """One sentence per file or line that could not be read, with the cause."""

    @classmethod
    def of(cls, documents: Iterable[Mapping[str, Any]]) -> Events:
        """Return events from plain JSON objects."""
        return cls(tuple(Event(document, f"event {number}") for number, document in enumerate(documents, 1)))

    def dag_id_of(self, event: Event) -> str:
        """Return the DAG of an event: from its facets, else from facets of the nearest parent run.

        The root's job comes after the parents, because the root of a triggered DAG run is in the triggering
        DAG. The first part of the job name comes last, because ids may contain dots.
        """
        chain = list(self._upwards(event))
        dag_ids = (each.facet_dag_id for each in chain if each.facet_dag_id)
        # Older integrations name a parent, but no root.
        roots = (each.root_job for each in chain if each.root_job)
        return next(dag_ids, "") or next(roots, "") or chain[-1].name.split(".", 1)[0]

    def try_of(self, event: Event) -> TaskTry | None:
        """Return the event's try; None if the event is not about a task of Airflow.

        An event without Airflow's facet, as after a state was set by hand, has the try of its run.
        """
        same_run = self.by_run_id.get(event.run_id)
        return event.task_try or (same_run.task_try if same_run and same_run.name == event.name else None)

    def instance_of(self, event: Event) -> tuple[int | None, int | None]:
        """Return map index and try of an event's task, else of the nearest parent run that has them."""
        for each in self._upwards(event):
            is_other_job = each.run_id == event.run_id and each.name != event.name
            if (each.try_number, each.map_index) != (None, None) and not is_other_job:
                return each.map_index, each.try_number
        return None, None

    def _upwards(self, event: Event) -> Iterator[Event]:
        """Yield the event, then the most informative event of its run, and of each run above."""
        yield event
        run_id, visited = event.run_id or event.parent_run_id, {""}
        while run_id not in visited:
            visited.add(run_id)
            above = self.by_run_id.get(run_id)
            if above is not None:
                yield above
            run_id = (above or event).parent_run_id

    @cached_property
    def by_run_id(self) -> Mapping[str, Event]:
        """For each run, the event that has the most of: task, DAG id, parent run, root job."""
        runs: dict[str, Event] = {}
        for event in self.items:
            current = runs.setdefault(event.run_id, event)
            if _informative(event) > _informative(current):
                runs[event.run_id] = event
        runs.pop("", None)
        return runs

    def __iter__(self) -> Iterator[Event]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


def _informative(event: Event) -> tuple[bool, ...]:
    return bool(event.task_try), bool(event.facet_dag_id), bool(event.parent_run_id), bool(event.root_job)


_AIRFLOW = ("run", "facets", "airflow")
_DAG_RUN = ("run", "facets", "airflowDagRun")
_PARENT = ("run", "facets", "parent")
