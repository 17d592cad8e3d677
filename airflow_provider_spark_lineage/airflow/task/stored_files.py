"""Stored lineage in a folder at a URI, for the API server and for tasks.

Values are returned as they are: whoever reads them checks them with `stored`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import unquote

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.airflow.stored_form import InstanceKey
from airflow_provider_spark_lineage.errors import StoredLineageError


class LineageFiles:
    """A folder at a URI, with a file for each try."""

    # Each is a file.
    max_summaries = 500

    def __init__(self, uri: str) -> None:
        from airflow.providers.common.compat.sdk import ObjectStoragePath

        with _readable():
            self._folder = ObjectStoragePath(uri)
            # Some file systems keep what a folder had when it was first listed.
            self._folder.fs.invalidate_cache()

    def tries(self, instance: InstanceKey) -> Sequence[int]:
        """Return the tries that have a file."""
        return sorted(self._tries_in(self._folder / stored_form.folder_of(*instance)))

    def of_task(self, instance: InstanceKey, try_number: int | None) -> Any:
        """Return the content of a file."""
        numbers = self.tries(instance)
        number = try_number if try_number is not None else max(numbers, default=0)
        return _content(self._folder / stored_form.file_of(instance, number)) if number in numbers else None

    def instances(self, dag_id: str, run_id: str, task_id: str = "") -> Collection[InstanceKey]:
        """Return them by the names of their folders."""
        run = self._folder / stored_form.folder_of(dag_id, run_id)
        tasks = [run / stored_form.folder_of(task_id)] if task_id else _children(run)
        return {
            InstanceKey(dag_id, run_id, unquote(task.name), int(index.name))
            for task in tasks
            for index in _children(task)
            if index.name.removeprefix("-").isdecimal()
        }

    def runs_with_lineage(
        self, dag_id: str, run_ids: Sequence[str], task_id: str = "", map_index: int = -1
    ) -> Collection[str]:
        """Return them by one folder of each run, which is not empty."""
        index = map_index if map_index >= 0 else None
        folders = {run: self._folder / stored_form.folder_of(dag_id, run, task_id, index) for run in run_ids}
        return {run for run, folder in folders.items() if _children(folder)}

    def summaries(
        self, dag_id: str, run_id: str, task_id: str, map_index: int
    ) -> Mapping[InstanceKey, Callable[[], Any]]:
        """Return readers of whole files."""
        known = self.instances(dag_id, run_id, task_id)
        return {
            instance: partial(self.of_task, instance, None)
            for instance in sorted(known)
            if map_index in (-1, instance.map_index)
        }

    def _tries_in(self, folder: Any) -> Iterator[int]:
        for file in _children(folder):
            number = file.name.removesuffix(stored_form.SUFFIX)
            if file.name.endswith(stored_form.SUFFIX) and number.isdecimal():
                yield int(number)


def _children(folder: Any) -> Sequence[Any]:
    with _readable():
        try:
            return sorted(folder.iterdir(), key=lambda each: str(each.name))
        except (FileNotFoundError, NotADirectoryError):
            return ()


def _content(file: Any) -> Any:
    """Return the stored form in a file; raises StoredLineageError if it is damaged."""
    with _readable():
        # Not by the method of the path, which reports what it reads as lineage of this process.
        content = file.fs.cat_file(file.path, end=stored_form.MAX_STORED_BYTES + 1)
    return stored_form.from_file(content)


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
