"""Reads runs and task instances from Airflow's database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from sqlalchemy import and_, exists, select
from sqlalchemy.orm import Session

from airflow_provider_spark_lineage.airflow.stored_form import InstanceKey

MAX_RUNS = 30
"""Runs of a history, and runs that a run can be compared with."""

MAX_LISTED = 10_000
"""Limit of task instances that are listed for one answer."""

_STATES = {"success": "complete", "failed": "fail", "running": "running", "queued": "start"}
"""State in Airflow -> state in a view document; `other` for the rest."""


class RunFacts(NamedTuple):
    """One DAG run."""

    run_id: str
    label: str
    """When and why it ran, for people."""

    state: str
    """As in a view document."""

    began: str
    """ISO time, or empty."""


class TaskFacts(NamedTuple):
    """One task instance, in its last try."""

    instance: InstanceKey
    state: str
    """Airflow's word; empty if it was not scheduled yet."""

    try_number: int
    began: str
    ended: str
    operator: str
    """Class of its operator, without the module."""

    map_label: str = ""
    """What `map_index_template` of the operator gave; empty without one."""

    @property
    def document_state(self) -> str:
        """The state as in a view document."""
        return state_of(self.state)

    @property
    def shown_state(self) -> str:
        """The state as in a view document, or else Airflow's own word."""
        return _STATES.get(self.state) or self.state.replace("_", " ") or "not started"


def state_of(state: str | None) -> str:
    """Return the state of a view document for a state of Airflow."""
    return _STATES.get(str(state or ""), "other")


def run_facts(session: Session, dag_id: str, run_id: str) -> RunFacts | None:
    """Return one DAG run; None if it does not exist."""
    run = session.scalar(select(DagRun).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id))
    return _run(run) if run is not None else None


def newest_runs(session: Session, dag_id: str, task_id: str = "", map_index: int = -1) -> Sequence[RunFacts]:
    """Return the newest runs of a DAG, or of a task of it, newest first."""
    return [_run(run) for run in _newest(session, dag_id, task_id, map_index, "")]


def earlier_runs(
    session: Session, dag_id: str, run_id: str, task_id: str = "", map_index: int = -1
) -> Sequence[RunFacts]:
    """Return the newest runs before one, newest first."""
    return [_run(run) for run in _newest(session, dag_id, task_id, map_index, run_id)]


def _newest(session: Session, dag_id: str, task_id: str, map_index: int, before: str) -> Sequence[DagRun]:
    query = select(DagRun).where(DagRun.dag_id == dag_id)
    if before:
        moment = select(DagRun.run_after).where(DagRun.dag_id == dag_id, DagRun.run_id == before)
        query = query.where(DagRun.run_after < moment.scalar_subquery())
    if task_id:
        ran = exists().where(
            TaskInstance.dag_id == dag_id,
            TaskInstance.run_id == DagRun.run_id,
            TaskInstance.task_id == task_id,
            *([TaskInstance.map_index == map_index] if map_index >= 0 else []),
        )
        query = query.where(ran)
    query = query.order_by(DagRun.run_after.desc(), DagRun.id.desc()).limit(MAX_RUNS)
    return session.scalars(query).all()


def task_facts(
    session: Session, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int | None = None
) -> Sequence[TaskFacts]:
    """Return task instances of runs by the time of their begin; those that did not begin come last.

    If there are more than `MAX_LISTED`, the ones of the newest runs.
    """
    query = select(
        TaskInstance.run_id,
        TaskInstance.task_id,
        TaskInstance.map_index,
        TaskInstance.state,
        TaskInstance.try_number,
        TaskInstance.start_date,
        TaskInstance.end_date,
        TaskInstance.operator,
        TaskInstance._rendered_map_index,
    ).where(TaskInstance.dag_id == dag_id, TaskInstance.run_id.in_(run_ids))
    query = query.join(
        DagRun, and_(DagRun.dag_id == TaskInstance.dag_id, DagRun.run_id == TaskInstance.run_id)
    ).order_by(DagRun.run_after.desc(), DagRun.id.desc(), TaskInstance.task_id, TaskInstance.map_index)
    if task_id:
        query = query.where(TaskInstance.task_id == task_id)
    if map_index is not None:
        query = query.where(TaskInstance.map_index == map_index)
    facts = [
        TaskFacts(
            InstanceKey(dag_id, run, task, index),
            str(state or ""),
            number,
            _time(began),
            _time(ended),
            operator or "",
            label or "",
        )
        for run, task, index, state, number, began, ended, operator, label in session.execute(
            query.limit(MAX_LISTED)
        )
    ]
    return sorted(facts, key=lambda each: (not each.began, each.began, each.instance))


def _run(run: DagRun) -> RunFacts:
    moment = run.logical_date or run.run_after
    label = f"{moment:%Y-%m-%d %H:%M} UTC, {getattr(run.run_type, 'value', run.run_type)}"
    return RunFacts(run.run_id, label, state_of(run.state), _time(run.start_date))


def _time(moment: datetime | None) -> str:
    return moment.isoformat() if moment is not None else ""
