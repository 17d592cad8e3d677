"""One OpenLineage event and the key it is found by; knows nothing of files or expectations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError

EVENT_TYPES = ("start", "running", "complete", "abort", "fail", "other", "untyped", "job", "dataset")
"""Every last part of a key: the spec's run event types, a run event without one, job and dataset events."""


DEEPEST = 100
"""Levels of objects and lists with which an event is always looked at as a whole."""


Instance = tuple[str, tuple[str, str] | None, int | None, int | None]
"""One try of a task instance: `<dag_id>.<task_id>`, DAG run, map index, try; the last three where told."""


@dataclass(frozen=True)
class Event:
    """One event and where it was read; `document` is the JSON object as it was written.

    >>> Event({"eventType": "FAIL", "run": {}, "job": {"name": "dag.group.task"}}).key
    'dag.group.task.event.fail'
    """

    document: Mapping[str, Any]

    source: str = ""
    """File and line, for a person."""

    @cached_property
    def key(self) -> str:
        """`<dag_id>.<task_id>.event.<type>`, `<dag_id>.event.<type>` or `<job name>.event.<type>`."""
        return f"{self.subject}.event.{self.type}"

    @cached_property
    def dag_id(self) -> str:
        """The DAG that the event belongs to; the first part of the job name where no facet says it.

        Ids may contain dots, so the facets are asked first: the task's, the DAG run's, then the root of
        a child run. `Events.dag_id_of` asks the runs that this one is a child of before it asks the root.
        """
        return self.told_dag_id or self.root_job or self.name.split(".", 1)[0]

    @cached_property
    def told_dag_id(self) -> str:
        """The DAG that a facet of Airflow names; empty where none does."""
        return next(filter(None, (_text(self.document, *path) for path in _DAG_ID_PATHS)), "")

    @cached_property
    def name(self) -> str:
        """The name of the job or dataset; empty where there is none."""
        return _text(self.document, "job", "name") or _text(self.document, "dataset", "name")

    @cached_property
    def map_index(self) -> int | None:
        """Which instance of a mapped task; None where the task is not mapped."""
        return self._counted("map_index", first=0)

    @cached_property
    def try_number(self) -> int | None:
        """Which try of the task, from 1; None where the event does not say."""
        return self._counted("try_number", first=1)

    @cached_property
    def subject(self) -> str:
        """`<dag_id>.<task_id>` of a task's own events, else the name of the job or dataset."""
        return self._subject()

    @cached_property
    def type(self) -> str:
        """One of `EVENT_TYPES`, or whatever else the event claims to be."""
        return self._type()

    @cached_property
    def dag_run(self) -> tuple[str, str] | None:
        """DAG id and Airflow's `run_id` of a DAG run or of a task in it; None where no facet tells both."""
        for facet in _DAG_RUN_FACETS:
            dag_id, run_id = (
                _text(self.document, "run", "facets", facet, *path)
                for path in (("dag", "dag_id"), ("dagRun", "run_id"))
            )
            if dag_id and run_id:
                return dag_id, run_id
        return None

    @cached_property
    def clear_number(self) -> int | None:
        """How often the DAG run had been cleared, from 0; None where the event does not say.

        A DAG run that is cleared gets another OpenLineage run id and keeps Airflow's.
        """
        counts = (_at(self.document, "run", "facets", facet, *_CLEARED) for facet in _DAG_RUN_FACETS)
        return next((count for count in counts if type(count) is int and count >= 0), None)

    @cached_property
    def instance(self) -> Instance | None:
        """Which try of which task instance in which DAG run; None for what is not a task of Airflow."""
        task = self._task()
        if not task or task != self.subject:
            return None
        return task, self.dag_run, self.map_index, self.try_number

    @cached_property
    def is_dag_run(self) -> bool:
        """Whether Airflow says this of a whole DAG run."""
        facets = _at(self.document, "run", "facets")
        return isinstance(facets, Mapping) and "airflowDagRun" in facets and not self._task()

    @cached_property
    def run_id(self) -> str:
        """`run.runId`; empty where there is none."""
        return _text(self.document, "run", "runId")

    @cached_property
    def parent_run_id(self) -> str:
        """The run that this one is a child of; empty where the event does not say."""
        return _text(self.document, *_PARENT, "run", "runId")

    @cached_property
    def root_run_id(self) -> str:
        """Id of the run that the whole chain of parents ends in; empty where none is told."""
        return _text(self.document, *_PARENT, "root", "run", "runId")

    @cached_property
    def root_job(self) -> str:
        """Job of the run that the chain of parents ends in: the DAG, unless another one triggered it."""
        return _text(self.document, *_PARENT, "root", "job", "name")

    @property
    def problem(self) -> str:
        """Why this cannot be an OpenLineage event; empty where it can."""
        if not any(isinstance(self.document.get(part), Mapping) for part in ("run", "job", "dataset")):
            return "it has no `run`, `job` or `dataset`"
        if not self.name:
            return "it has neither `job.name` nor `dataset.name`"
        event_type = self.document.get("eventType")
        if event_type is not None and not isinstance(event_type, str):
            return "its `eventType` is not a string"
        return ""

    @property
    def is_deep(self) -> bool:
        """Whether it is nested more than `DEEPEST` levels deep."""
        level: list[Any] = [self.document]
        for _ in range(DEEPEST):
            level = [
                item
                for value in level
                for item in (value if isinstance(value, list) else value.values())
                if isinstance(item, (dict, list))
            ]
            if not level:
                return False
        return True

    def _counted(self, name: str, *, first: int) -> int | None:
        number = _at(self.document, *_AIRFLOW, "taskInstance", name)
        # Airflow writes -1 for the index of a task that is not mapped.
        return number if type(number) is int and number >= first else None

    def _subject(self) -> str:
        name = self.name
        task = self._task()
        # A child run may carry a copy of its task's facets; its own name is what tells it apart.
        child = name.startswith(f"{task}.") or _text(self.document, *_PARENT, "job", "name") == task
        return name if child or not task else task

    def _task(self) -> str:
        dag_id = _text(self.document, *_AIRFLOW, "dag", "dag_id")
        task_id = _text(self.document, *_AIRFLOW, "task", "task_id") or _text(
            self.document, *_AIRFLOW, "taskInstance", "task_id"
        )
        return f"{dag_id}.{task_id}" if dag_id and task_id else ""

    def _type(self) -> str:
        if isinstance(self.document.get("run"), Mapping):
            return (_text(self.document, "eventType") or "untyped").lower()
        return "job" if isinstance(self.document.get("job"), Mapping) else "dataset"


@dataclass(frozen=True)
class Events:
    """All events of one place, in the order they were read, and what could not be read there."""

    items: tuple[Event, ...]

    problems: tuple[str, ...] = ()
    """One sentence per file or line that could not be read, naming it and the cause."""

    @classmethod
    def of(cls, documents: Iterable[Mapping[str, Any]]) -> Events:
        """Events from plain mappings, for example from `captured.events(...)`."""
        return cls(tuple(Event(document, f"event {number}") for number, document in enumerate(documents, 1)))

    @contextmanager
    def depth_told(self) -> Iterator[None]:
        """For what goes down into events: BadInputError where that goes too deep, naming the event."""
        try:
            yield
        except RecursionError:
            deep = next((event.source for event in self if event.is_deep), "what is expected")
            raise BadInputError(f"{deep}: nested too deeply to be looked at.") from None

    def dag_id_of(self, event: Event) -> str:
        """The DAG that an event belongs to: what it says, else what the nearest of its parents' runs says.

        The root's job comes last: the root of a DAG that was triggered is in the DAG that triggered it.
        """
        if event.told_dag_id:
            return event.told_dag_id
        chain = [event]
        seen: set[str] = set()
        here = self._by_run.get(event.run_id, event)
        while here.run_id not in seen:
            if here.told_dag_id:
                return here.told_dag_id
            chain.append(here)
            seen.add(here.run_id)
            here = self._by_run.get(here.parent_run_id, here)
        # Older integrations name a parent and no root.
        return next((one.root_job for one in chain if one.root_job), here.dag_id)

    @cached_property
    def _by_run(self) -> Mapping[str, Event]:
        """For each run the event that tells most of where it belongs."""
        found: dict[str, Event] = {}
        for event in self.items:
            known = found.setdefault(event.run_id, event)
            if _tells(event) > _tells(known):
                found[event.run_id] = event
        found.pop("", None)
        return found

    def __iter__(self) -> Iterator[Event]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


def _tells(event: Event) -> tuple[bool, bool, bool]:
    return bool(event.told_dag_id), bool(event.parent_run_id), bool(event.root_job)


_OBJECT = (dict, Mapping)
"""Python looks for the first at once and for the second in a registry."""

_AIRFLOW = ("run", "facets", "airflow")
_PARENT = ("run", "facets", "parent")
_DAG_ID_PATHS = (
    (*_AIRFLOW, "dag", "dag_id"),
    ("run", "facets", "airflowDagRun", "dag", "dag_id"),
)
_DAG_RUN_FACETS = ("airflow", "airflowDagRun")
_CLEARED = ("dagRun", "clear_number")


def _at(value: Any, *path: str) -> Any:
    for part in path:
        if not isinstance(value, _OBJECT):
            return None
        value = value.get(part)
    return value


def _text(value: Any, *path: str) -> str:
    found = _at(value, *path)
    return found if isinstance(found, str) else ""
