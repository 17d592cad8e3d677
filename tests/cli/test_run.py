"""`spark-lineage run` is `python SCRIPT`, with capture on: what a script sees, and how it ends. No JVM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.cli.recorded import RUN_FILE

COMMAND = "from airflow_provider_spark_lineage.cli import main; main()"


def run(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "job.py").write_text(script)
    return subprocess.run(
        [sys.executable, "-c", COMMAND, "run", "--records", "records", "job.py", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def about(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "records" / RUN_FILE).read_text())
    return found


def test_a_script_runs_as_the_main_program(tmp_path):
    """Its arguments, options among them, its name and its neighbours are those of `python SCRIPT`."""
    (tmp_path / "neighbour.py").write_text("word = 'hello'")
    done = run(
        tmp_path, "import sys, neighbour\nprint(__name__, sys.argv, neighbour.word)", "--records", "x", "-v"
    )
    assert done.stdout == "__main__ ['job.py', '--records', 'x', '-v'] hello\n"
    assert done.returncode == 0
    assert "0 records in records: the script executed nothing on Spark" in done.stderr


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("pass", 0),
        ("raise SystemExit", 0),
        ("raise SystemExit(7)", 7),
        ("raise SystemExit('bye')", 1),
        ("1 / 0", 1),
    ],
)
def test_the_exit_code_is_the_scripts(tmp_path, script, code):
    """A scheduler must see what it saw before, and `events` must know it too."""
    done = run(tmp_path, script)
    assert done.returncode == code
    assert about(tmp_path) == {"job": "job", "script": "job.py", "exit_code": code}


def test_a_traceback_begins_in_the_script(tmp_path):
    """The user reads the own frames, not those of what ran them."""
    lines = run(tmp_path, "1 / 0").stderr.splitlines()
    assert lines[:2] == ["Traceback (most recent call last):", '  File "job.py", line 1, in <module>']


def test_a_script_may_change_its_folder(tmp_path):
    """Records and exit code stay where the command was given."""
    done = run(tmp_path, "import os\nos.mkdir('elsewhere')\nos.chdir('elsewhere')\nraise SystemExit(3)")
    assert done.returncode == 3
    assert about(tmp_path)["exit_code"] == 3


def test_the_users_files_stay(tmp_path):
    """Records of an earlier run are replaced; nothing else in that folder is touched."""
    (tmp_path / "records").mkdir()
    mine = tmp_path / "records" / "run.json"
    old = tmp_path / "records" / "app-1-000001.record.json.gz"
    for file in (mine, old):
        file.write_text("mine")
    run(tmp_path, "pass")
    assert mine.read_text() == "mine"
    assert not old.exists()


def test_a_missing_script_is_one_sentence(tmp_path):
    """Exit code 2, no traceback."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "run", "gone.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "spark-lineage: gone.py does not exist: give the path of a PySpark script"
    ]
