"""Folders for the records of a submitted task on this machine."""

from __future__ import annotations

import stat
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage.airflow.submitted.records_folder import RecordsFolder


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, which is empty."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def place(task_id: str) -> RecordsFolder:
    task = SimpleNamespace(dag_id="d", run_id="r", task_id=task_id, map_index=-1, try_number=1)
    return RecordsFolder("", task)


def test_nothing_is_left_in_the_temporary_folder(temporary: Path) -> None:
    """The last task that ends removes what all tasks share; a task that still runs keeps its folder."""
    first, second = place("first"), place("second")
    first.create(None)
    second.create(None)
    first.clean(keep=False)
    assert Path(second.uri).is_dir()
    assert not Path(first.uri).parent.parent.exists()
    second.clean(keep=False)
    assert list(temporary.iterdir()) == []


def test_a_folder_that_another_task_removed_is_created_for_this_user_alone(temporary: Path) -> None:
    """A task that ends between the two steps of another takes nothing from it."""
    first, second = place("first"), place("second")
    first.create(None)
    first.clean(keep=False)
    second.create(None)
    (own,) = temporary.iterdir()
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert Path(second.uri).is_dir()


def test_tasks_that_begin_while_others_end_get_their_folders(temporary: Path) -> None:
    """Whichever step of one task falls between two steps of another."""

    def begin_and_end(number: int) -> None:
        for _ in range(200):
            folder = place(f"task{number}")
            folder.create(None)
            assert Path(folder.uri).is_dir()
            folder.clean(keep=False)

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(begin_and_end, number) for number in range(4)]:
            future.result()
    assert list(temporary.iterdir()) == []


def test_records_that_are_kept_stay(temporary: Path) -> None:
    """The option `keep_records` leaves the folder of the try."""
    first = place("first")
    first.create(None)
    first.clean(keep=True)
    assert Path(first.uri).is_dir()
