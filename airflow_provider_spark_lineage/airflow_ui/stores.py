"""Where the API server finds what tasks stored: XComs in Airflow's database, or files at a URI.

Values are returned as they are: whoever reads them checks them with `stored`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Protocol
from urllib.parse import unquote

from airflow.models.xcom import XComModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from airflow_provider_spark_lineage import conf, stored
from airflow_provider_spark_lineage.errors import StoredLineageError
from airflow_provider_spark_lineage.stored import Instance

MAX_INSTANCES = 500
"""Limit of task instances whose lineage is read for one answer; mapped tasks may have thousands."""


class Store(Protocol):
    """One place of stored lineage."""

    def tries(self, instance: Instance) -> Sequence[int]:
        """Return the tries of a task instance that are there, oldest first; empty if that is unknown."""

    def of_task(self, instance: Instance, try_number: int | None) -> Any:
        """Return what a task instance stored, of its last try by default; None if there is nothing.

        A store that keeps the last try only returns that one.
        """

    def of_run(self, dag_id: str, run_id: str, task_id: str = "") -> Iterator[tuple[Instance, Any]]:
        """Yield what the last tries of a run's task instances stored, of one task or of all."""

    def runs_with_lineage(
        self, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1
    ) -> Collection[str]:
        """Return those of some runs in which something was stored, by one task or by any."""

    def summaries(
        self, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1
    ) -> Iterator[tuple[Instance, Any]]:
        """Yield version and summary of what a task stored in these runs; by default all of its instances."""


def store_of(session: Session) -> Store | None:
    """Return the store of `[spark_lineage] store`; None if nothing is stored."""
    place = conf.store()
    if place == "none":
        return None
    return XComs(session) if place == "xcom" else Files(place)


class XComs:
    """XComs with the key `spark_lineage`. Airflow removes a task's XComs when its next try starts."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def tries(self, instance: Instance) -> Sequence[int]:
        """Return none: the summary of the value has its try."""
        return ()

    def of_task(self, instance: Instance, try_number: int | None) -> Any:
        """Return the XCom of a task instance."""
        query = select(XComModel.value).where(
            XComModel.dag_id == instance.dag_id,
            XComModel.run_id == instance.run_id,
            XComModel.task_id == instance.task_id,
            XComModel.map_index == instance.map_index,
            XComModel.key == stored.XCOM_KEY,
        )
        return _plain(self._session.scalar(query))

    def of_run(self, dag_id: str, run_id: str, task_id: str = "") -> Iterator[tuple[Instance, Any]]:
        """Yield the XComs of a run, a few at a time."""
        query = (
            _of(select(XComModel.task_id, XComModel.map_index, XComModel.value), dag_id, [run_id], task_id)
            .order_by(XComModel.task_id, XComModel.map_index)
            .execution_options(yield_per=_AT_A_TIME)
        )
        for task, map_index, value in self._session.execute(query):
            yield Instance(dag_id, run_id, task, map_index), _plain(value)

    def runs_with_lineage(
        self, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1
    ) -> Collection[str]:
        """Return them by one query."""
        return set(
            self._session.scalars(
                _of(select(XComModel.run_id).distinct(), dag_id, run_ids, task_id, map_index)
            )
        )

    def summaries(
        self, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1
    ) -> Iterator[tuple[Instance, Any]]:
        """Yield them by one query, in which the database takes them out of the values."""
        value = XComModel.value
        parts = (value["version"], value["summary"])
        query = select(XComModel.run_id, XComModel.task_id, XComModel.map_index, *parts)
        query = _of(query, dag_id, run_ids, task_id, map_index).limit(_MAX_SUMMARIES)
        for run_id, task, index, version, summary in self._session.execute(query).all():
            instance = Instance(dag_id, run_id, task, index)
            # Airflow's own `set` stores a text, in which the database finds nothing.
            whole = self.of_task(instance, None) if version is None else None
            yield instance, whole or {"version": version, "summary": summary}


_MAX_SUMMARIES = 10_000
_AT_A_TIME = 20


def _of(query: Any, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1) -> Any:
    """Return a query with conditions for the XComs of some runs, of one task or of all."""
    query = query.where(
        XComModel.dag_id == dag_id, XComModel.run_id.in_(run_ids), XComModel.key == stored.XCOM_KEY
    )
    if task_id:
        query = query.where(XComModel.task_id == task_id)
    return query.where(XComModel.map_index == map_index) if map_index >= 0 else query


def _plain(value: Any) -> Any:
    """Return the value of an XCom; Airflow's own `set` stores JSON in JSON."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


class Files:
    """A folder at a URI, with a file for each try."""

    def __init__(self, uri: str) -> None:
        from airflow.providers.common.compat.sdk import ObjectStoragePath

        with _readable():
            self._folder = ObjectStoragePath(uri)
            # Some file systems keep what a folder had when it was first listed.
            self._folder.fs.invalidate_cache()

    def tries(self, instance: Instance) -> Sequence[int]:
        """Return the tries that have a file."""
        return sorted(self._tries_in(self._folder / stored.folder_of(*instance)))

    def of_task(self, instance: Instance, try_number: int | None) -> Any:
        """Return the content of a file."""
        numbers = self.tries(instance)
        number = try_number if try_number is not None else max(numbers, default=0)
        return _content(self._folder / stored.file_of(instance, number)) if number in numbers else None

    def of_run(self, dag_id: str, run_id: str, task_id: str = "") -> Iterator[tuple[Instance, Any]]:
        """Yield the contents of the last tries' files; in place of a damaged file, its error."""
        for instance in self._instances(dag_id, run_id, task_id):
            value = self.of_task(instance, None)
            if value is not None:
                yield instance, value

    def runs_with_lineage(
        self, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1
    ) -> Collection[str]:
        """Return the runs that have a folder of the task instance: no file is read."""
        return {
            run_id
            for run_id in run_ids
            if any(map_index in (-1, each.map_index) for each in self._instances(dag_id, run_id, task_id))
        }

    def summaries(
        self, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1
    ) -> Iterator[tuple[Instance, Any]]:
        """Yield them from whole files, in the order of the runs, for `MAX_INSTANCES` at most."""
        instances = (each for run_id in run_ids for each in self._instances(dag_id, run_id, task_id))
        asked = (each for each in instances if map_index in (-1, each.map_index))
        for instance in islice(asked, MAX_INSTANCES):
            value = self.of_task(instance, None)
            if value is not None:
                yield instance, value

    def _instances(self, dag_id: str, run_id: str, task_id: str = "") -> Iterator[Instance]:
        run = self._folder / stored.folder_of(dag_id, run_id)
        tasks = [run / stored.folder_of(task_id)] if task_id else _children(run)
        for task in tasks:
            for index in _children(task):
                if index.name.removeprefix("-").isdecimal():
                    yield Instance(dag_id, run_id, unquote(task.name), int(index.name))

    def _tries_in(self, folder: Any) -> Iterator[int]:
        for file in _children(folder):
            number = file.name.removesuffix(stored.SUFFIX)
            if file.name.endswith(stored.SUFFIX) and number.isdecimal():
                yield int(number)


def _children(folder: Any) -> Iterable[Any]:
    with _readable():
        try:
            return sorted(folder.iterdir(), key=lambda each: str(each.name))
        except (FileNotFoundError, NotADirectoryError):
            return ()


def _content(file: Any) -> Any:
    """Return the stored form in a file; if it is damaged, the StoredLineageError that says so."""
    with _readable():
        # Not by the method of the path, which reports what it reads as lineage of this process.
        content = file.fs.cat_file(file.path, end=stored.MAX_STORED_BYTES + 1)
    try:
        return stored.from_file(content)
    except StoredLineageError as error:
        return error


@contextmanager
def _readable() -> Iterator[None]:
    """Raise StoredLineageError where a file system raises an error; each has its own classes of them."""
    try:
        yield
    except Exception as error:
        raise StoredLineageError(
            f"The folder of `[spark_lineage] store` cannot be read ({type(error).__name__}): run"
            " `spark-lineage doctor` where Airflow's API server runs."
        ) from error
