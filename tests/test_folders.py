"""Folders of records do not pile up, and nobody loses the folder that is in use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.folders import TemporaryFolder, remove_left_behind


@pytest.fixture(autouse=True)
def _own_place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def aged(folder: str) -> Path:
    """Make a folder as old as those of yesterday's tasks."""
    yesterday = time.time() - 86_400
    os.utime(folder, (yesterday, yesterday))
    return Path(folder)


def test_the_folder_of_a_killed_process_is_removed_by_the_next(tmp_path):
    """A task that ran out of memory could not tidy up."""
    code = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from airflow_provider_spark_lineage.folders import TemporaryFolder\n"
        "folder = TemporaryFolder(); print(folder.name, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder = aged(process.stdout.readline().strip())
        remove_left_behind()
        assert folder.is_dir(), "it is in use"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert folder.is_dir()
    TemporaryFolder().cleanup()
    assert not folder.exists()


def test_a_folder_in_use_stays():
    """A task that runs for days keeps its records."""
    folder = TemporaryFolder()
    aged(folder.name)
    remove_left_behind()
    assert Path(folder.name).is_dir()
    folder.cleanup()
    assert not Path(folder.name).exists()


def test_folders_that_are_young_or_not_ours_stay(tmp_path):
    """One without a lock may be just being made, or be somebody else's of the same name."""
    young, foreign = tmp_path / "spark-lineage-young", tmp_path / "spark-lineage-foreign"
    young.mkdir()
    foreign.mkdir()
    (young / ".lock").touch()
    aged(str(foreign))
    remove_left_behind()
    assert young.is_dir()
    assert foreign.is_dir()
