"""`spark-lineage expect` as a user runs it: its output, its files and its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from airflow_provider_spark_lineage.cli import main

DRAFT = "dag.task.event.start: {inputs: [{namespace: file, name: '${DATA}/x'}]}\n"


def event(dag_id: str, name: str = "/abs/x") -> str:
    inputs = [{"namespace": "file", "name": name}]
    job = {"name": f"{dag_id}.task"}
    return json.dumps({"eventType": "START", "run": {}, "job": job, "inputs": inputs})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "events.jsonl").write_text(f"{event('dag')}\n{event('other')}\n")
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    events = ["--events", str(folder / "events.jsonl"), "--var", "DATA=/abs"]
    return CliRunner().invoke(main, ["expect", *arguments, *events])


def test_a_draft_is_printed(folder):
    """Without `--update` the draft of one DAG goes to standard output, and nothing else does."""
    result = run(folder, "dag")
    assert (result.exit_code, result.stdout) == (0, DRAFT)
    assert [file.name for file in folder.iterdir()] == ["events.jsonl"]
    assert run(folder).stdout == DRAFT + DRAFT.replace("dag.", "other.")


def test_a_file_is_written_then_left_alone_then_changed(folder):
    """Exit code 1 asks for a look at the file, 0 means that it is unchanged."""
    file = folder / "dag.yaml"
    result = run(folder, "dag", "--update", str(file))
    assert (result.exit_code, file.read_text()) == (1, DRAFT)
    assert result.stdout == f"added       dag.task.event.start\n{file}: written, 1 added\n"
    result = run(folder, "--update", str(file))
    assert (result.exit_code, result.stdout) == (0, f"{file}: unchanged\n")
    (folder / "events.jsonl").write_text(event("dag", "/abs/y"))
    result = run(folder, "--update", str(file))
    assert result.stdout.endswith(f"{file}: updated, 1 refreshed\n")
    assert (result.exit_code, file.read_text()) == (1, DRAFT.replace("/x", "/y"))


def test_conditions_are_for_the_versions_given(folder):
    """`--version` answers `when:`, before the installed versions."""
    file = folder / "dag.yaml"
    file.write_text(f"when: {{spark: '<3'}}\n{DRAFT}")
    result = run(folder, "--update", str(file), "--version", "spark=4.1")
    assert result.exit_code == 2
    assert "no event is expected for these versions" in result.stderr
    assert run(folder, "--update", str(file), "--version", "spark=2.4").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--update", "broken.yaml"], "broken.yaml, line 1: not YAML"),
        (["--update", "list.json"], "list.json: expected events are written to one file"),
        (["--update", "notes.txt"], "notes.txt: expected events are written to one file"),
        (["nowhere"], "The DAG `nowhere` has no events; DAGs with events: dag, other."),
        (["--var", "DATA"], "--var DATA: not NAME=VALUE."),
        (["--update", "new.yaml", "--version", "spark"], "--version spark: not NAME=VALUE."),
        (["--events", "nothing.jsonl"], "nothing.jsonl: no such file or folder"),
        (["--events", "empty.jsonl"], "The input has no events, so nothing can be expected."),
    ],
)
def test_bad_input(folder, monkeypatch, arguments, message):
    """Exit code 2 and one sentence; no traceback, nothing on standard output, no file touched."""
    monkeypatch.chdir(folder)
    (folder / "broken.yaml").write_text("a: }\n")
    (folder / "list.json").write_text("[{}]")
    (folder / "empty.jsonl").touch()
    before = {file.name: file.read_text() for file in folder.iterdir()}
    result = CliRunner().invoke(main, ["expect", "--events", "events.jsonl", *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert {file.name: file.read_text() for file in folder.iterdir()} == before


def test_help_lists_the_exit_codes():
    """A script may rely on them, so `--help` has all three."""
    text = CliRunner().invoke(main, ["expect", "--help"]).stdout
    assert "0  the draft was printed, or the file is unchanged" in text
    assert "1  the file was written or changed" in text
    assert "2  bad input; the file is unchanged" in text


def test_needs_neither_airflow_nor_spark(folder):
    """Writing expected files is reading and writing text: it imports nothing heavy."""
    code = (
        "import sys\n"
        "from airflow_provider_spark_lineage.cli import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    heavy = {'airflow', 'pyspark', 'openlineage', 'rich', 'jsonschema'} & set(sys.modules)\n"
        "    assert not heavy, heavy\n"
    )
    command = [sys.executable, "-c", code, "expect", "dag", "--events", str(folder / "events.jsonl")]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout) == (0, DRAFT.replace("'${DATA}/x'", "/abs/x")), process.stderr
