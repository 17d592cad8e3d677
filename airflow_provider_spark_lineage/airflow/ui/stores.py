"""Stores that the API server reads: XComs in Airflow's database, or files at a URI.

Values are returned as they are: whoever reads them checks them with `stored_form`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from airflow.models.xcom import XComModel
from sqlalchemy import ColumnElement, Text, case, cast, func, select
from sqlalchemy.orm import Session

from airflow_provider_spark_lineage.airflow import conf, stored_form
from airflow_provider_spark_lineage.airflow.stored_form import InstanceKey
from airflow_provider_spark_lineage.airflow.task.stored_files import LineageFiles
from airflow_provider_spark_lineage.airflow.ui.database import MAX_LISTED
from airflow_provider_spark_lineage.errors import StoredLineageError

Read = Callable[[], Any]
"""Reads one value from the store; raises StoredLineageError if it is damaged."""


class Store(Protocol):
    """One place of stored lineage."""

    max_summaries: int
    """Limit of the summaries that are read for one answer; mapped tasks may have thousands of instances."""

    def tries(self, instance: InstanceKey) -> Sequence[int]:
        """Return the tries of a task instance that are there, oldest first; empty if that is unknown."""

    def of_task(self, instance: InstanceKey, try_number: int | None) -> Any:
        """Return the stored lineage of a task instance, of its last try by default; None if there is nothing.

        A store that keeps the last try only returns that one.
        """

    def instances(self, dag_id: str, run_id: str, task_id: str = "") -> Collection[InstanceKey]:
        """Return the instances of a run, or of one task in it, that stored something; it is not read."""

    def runs_with_lineage(
        self, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1
    ) -> Collection[str]:
        """Return the runs, of the given ones, that have lineage of a task, or of any task; it is not read.

        A `map_index` of -1 means all instances.
        """

    def summaries(self, dag_id: str, run_id: str, task_id: str, map_index: int) -> Mapping[InstanceKey, Read]:
        """Return readers of version and summary of the lineage that a task stored in a run.

        A `map_index` of -1 means all instances. More than `max_summaries` may be left out.
        """


def store_of(session: Session) -> Store | None:
    """Return the store of `[spark_lineage] store`; None if nothing is stored."""
    place = conf.store()
    if place == "none":
        return None
    return XComs(session) if place == "xcom" else LineageFiles(place)


class XComs:
    """XComs with the key `spark_lineage`. Airflow removes a task's XComs when its next try starts."""

    max_summaries = 3_000

    def __init__(self, session: Session) -> None:
        self._session = session

    def tries(self, instance: InstanceKey) -> Sequence[int]:
        """Return none: the summary of the value has its try."""
        return ()

    def of_task(self, instance: InstanceKey, try_number: int | None) -> Any:
        """Return the XCom of a task instance."""
        where = _xcoms(instance.dag_id, [instance.run_id], instance.task_id, [instance.map_index])
        value = self._session.scalar(select(XComModel.value).where(*where, _LENGTH <= MAX_XCOM_LENGTH))
        if value is None and (self._session.scalar(select(_LENGTH).where(*where)) or 0) > MAX_XCOM_LENGTH:
            raise StoredLineageError("The stored lineage is larger than a task stores.")
        return _plain(value)

    def instances(self, dag_id: str, run_id: str, task_id: str = "") -> Collection[InstanceKey]:
        """Return them; the limit leaves out the same ones as in `task_facts`."""
        query = (
            select(XComModel.task_id, XComModel.map_index)
            .where(*_xcoms(dag_id, [run_id], task_id))
            .order_by(XComModel.task_id, XComModel.map_index)
            .limit(MAX_LISTED)
        )
        return {InstanceKey(dag_id, run_id, task, index) for task, index in self._session.execute(query)}

    def runs_with_lineage(
        self, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1
    ) -> Collection[str]:
        """Return them by one query."""
        where = _xcoms(dag_id, run_ids, task_id, [map_index] if map_index >= 0 else ())
        return {*self._session.scalars(select(XComModel.run_id).where(*where).distinct())}

    def summaries(self, dag_id: str, run_id: str, task_id: str, map_index: int) -> Mapping[InstanceKey, Read]:
        """Return them by one query: the database takes them out of the values."""
        version, summary = XComModel.value["version"], XComModel.value["summary"]
        fits = func.length(cast(summary, Text)) <= MAX_SUMMARY_LENGTH
        where = _xcoms(dag_id, [run_id], task_id, [map_index] if map_index >= 0 else ())
        rows = self._session.execute(
            select(XComModel.map_index, case((fits, version)), case((fits, summary)))
            .where(*where)
            .limit(self.max_summaries + 1)
        )
        instances = ((InstanceKey(dag_id, run_id, task_id, index), *parts) for index, *parts in rows)
        return {each: partial(self._summary, each, *parts) for each, *parts in instances}

    def _summary(self, instance: InstanceKey, version: Any, summary: Any) -> Any:
        """Return version and summary, or a whole value: databases know no parts of JSON in JSON."""
        if version is None:
            return self.of_task(instance, None)
        return {"version": version, "summary": summary}


MAX_SUMMARY_LENGTH = 64_000
"""Limit of the text of a summary: all of a history are in memory at once."""

MAX_XCOM_LENGTH = 2 * stored_form.MAX_STORED_BYTES
"""Limit of the text of a value: JSON in JSON has escapes. A longer one stays in the database."""

_LENGTH = func.length(cast(XComModel.value, Text))


def _xcoms(
    dag_id: str, run_ids: Sequence[str], task_id: str = "", map_indexes: Sequence[int] = ()
) -> Sequence[ColumnElement[bool]]:
    """Return the conditions of the XComs of runs: of all tasks, or of one, or of some instances of one."""
    where = [XComModel.dag_id == dag_id, XComModel.run_id.in_(run_ids), XComModel.key == stored_form.XCOM_KEY]
    if task_id:
        where.append(XComModel.task_id == task_id)
    if map_indexes:
        where.append(XComModel.map_index.in_(map_indexes))
    return where


def _plain(value: Any) -> Any:
    """Return the value of an XCom; Airflow's own `set` stores JSON in JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
