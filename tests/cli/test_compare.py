"""`spark-lineage compare` as a user runs it: its output and its exit code."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.openlineage.events import LIKELY_CAUSES

KEY = "dag.task.event.other"
EVENT = {
    "eventType": "OTHER",
    "eventTime": "2024-05-01T10:00:00Z",
    "producer": "https://example.org/producer",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": "018f3a5e-7d2b-7c43-8f6a-000000000001", "v": "/abs/x"},
    "job": {"namespace": "tests", "name": "dag.task"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "expected.yaml").write_text(f"{KEY}:\n  run: {{v: '${{DATA}}/x'}}\n")
    (tmp_path / "events.jsonl").write_text(json.dumps(EVENT) + "\n")
    return tmp_path


def run(folder: Path, *more: str, expected: str = "expected.yaml", events: str = "events.jsonl") -> Result:
    places = ["--expected", str(folder / expected), "--events", str(folder / events)]
    return CliRunner().invoke(main, ["compare", *places, *more])


def test_all_match(folder):
    """Exit code 0 and the summary when all is as expected."""
    result = run(folder, "--var", "DATA=/abs")
    assert (result.exit_code, result.output) == (0, "1 event matches, 0 differ\n")


def test_some_differ(folder):
    """Exit code 1, every difference and the summary, without colour codes in a pipe."""
    result = run(folder, "--var", "DATA=/other")
    assert result.exit_code == 1
    assert result.stdout.endswith("\n0 events match, 1 differs\n")
    assert 'expected  "/other/x"' in result.stdout
    assert "\x1b" not in result.stdout


def test_nothing_was_emitted(folder):
    """Exit code 1, and the causes, if no event was emitted."""
    (folder / "expected.json").write_text(json.dumps({"dag.task.event.start": {}}))
    (folder / "events.jsonl").write_text("")
    assert run(folder, expected="expected.json").exit_code == 1


def test_json(folder):
    """`--json` prints the same report for a program."""
    result = run(folder, "--var", "DATA=/other", "--json")
    report: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (report["summary"], report["ok"]) == ("0 events match, 1 differs", False)
    (difference,) = report["differences"]
    assert (difference["key"], difference["path"], difference["expected"], difference["actual"]) == (
        KEY,
        "run.v",
        "/other/x",
        "/abs/x",
    )


def test_json_shows_matchers_as_objects(folder):
    """A matcher in JSON output has the form that a JSON expected file uses."""
    (folder / "expected.yaml").write_text(f'{KEY}:\n  run: {{v: !number ">= 1", w: 1}}\n')
    first, second = json.loads(run(folder, "--json").stdout)["differences"]
    assert first["expected"] == {"$match": "number", "value": ">= 1"}
    assert "actual" not in second


def test_folders(folder):
    """Expected files and events may both be folders."""
    (folder / "in").mkdir()
    (folder / "in" / "ol-1.json").write_text(json.dumps(EVENT, indent=2))
    result = run(folder, "--var", "DATA=/abs", expected=".", events="in")
    assert result.exit_code == 0


def test_no_events(folder):
    """Nothing emitted is a failure with its likely causes, not bad input."""
    (folder / "events.jsonl").write_text("")
    result = run(folder, "--var", "DATA=/abs")
    assert result.exit_code == 1
    assert "No events at all" in result.stdout
    report = json.loads(run(folder, "--var", "DATA=/abs", "--json").stdout)
    assert (report["emitted"], report["causes"]) == (0, list(LIKELY_CAUSES))


def test_a_place_without_events_has_likely_causes(folder):
    """If not even a file was written, the causes are the same, and are listed too."""
    result = run(folder, "--events", "nowhere.jsonl", "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert all(cause in result.stderr for cause in LIKELY_CAUSES)


def test_events_have_no_causes(folder):
    """With events present, no cause of missing events is printed."""
    assert json.loads(run(folder, "--var", "DATA=/abs", "--json").stdout)["causes"] == []


def test_a_torn_line_is_bad_input(folder):
    """A torn event is named and makes exit code 2 where all else matches; a difference still makes it 1."""
    with (folder / "events.jsonl").open("a") as file:
        file.write('{"eventType": "COMP')
    result = run(folder, "--var", "DATA=/abs")
    assert result.exit_code == 2
    assert "events.jsonl, line 2" in result.stdout
    assert result.stdout.endswith("1 event matches, 0 differ\n")
    assert run(folder, "--var", "DATA=/other").exit_code == 1


def test_nothing_readable_is_bad_input(folder):
    """A file that holds no event at all is the wrong file, not a run without events."""
    (folder / "events.jsonl").write_text("hello\n")
    assert run(folder, "--var", "DATA=/abs").exit_code == 2


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, [], "expected.yaml: no such file"),
        ("a: }\n", [], "expected.yaml, line 1: not YAML"),
        (
            f"{KEY}:\n  run: !uudi\n",
            [],
            "unknown matcher `uudi`; did you mean `uuid`?",
        ),
        (f"{KEY}: {{run: '${{X}}'}}\n", [], "the variable ${X} has no value"),
        (f"{KEY}: {{}}\n", ["--var", "DATA"], "--var DATA: not NAME=VALUE"),
        (f"{KEY}: {{}}\n", ["--events", "/nowhere/at/all"], "/nowhere/at/all: no such file or folder"),
    ],
)
def test_bad_input(folder, content, arguments, message):
    """Exit code 2 and one sentence that names file and cause; no traceback, nothing on standard output."""
    (folder / "expected.yaml").unlink()
    if content is not None:
        (folder / "expected.yaml").write_text(content)
    result = run(folder, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_colour_on_a_terminal(folder):
    """A person at a terminal sees colours; the words are the same."""
    leader, follower = pty.openpty()
    code = "from airflow_provider_spark_lineage.cli import main; main()"
    command = [sys.executable, "-c", code, "compare", "--expected", str(folder / "expected.yaml")]
    command += ["--events", str(folder / "events.jsonl"), "--var", "DATA=/other"]
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.run(command, stdout=follower, env=environment, check=False)
    os.close(follower)
    output = os.read(leader, 65536).decode()
    os.close(leader)
    assert process.returncode == 1
    assert "\x1b[" in output
    assert "0 events match, 1 differs" in output


def test_needs_neither_airflow_nor_spark(folder):
    """Comparing is reading JSON: it starts fast because it imports nothing heavy."""
    code = (
        "import sys\n"
        "from airflow_provider_spark_lineage.cli import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    heavy = {'airflow', 'pyspark', 'openlineage', 'rich', 'pytest'} & set(sys.modules)\n"
        "    assert not heavy, heavy\n"
    )
    command = [sys.executable, "-c", code, "compare", "--expected", str(folder / "expected.yaml")]
    command += ["--events", str(folder / "events.jsonl"), "--var", "DATA=/abs"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout) == (0, "1 event matches, 0 differ\n"), process.stderr


def test_rules_can_be_turned_off(folder):
    """`--without` leaves out one relation by name; an unknown name is bad input."""
    (folder / "events.jsonl").write_text(json.dumps({**EVENT, "eventTime": "yesterday"}))
    assert run(folder, "--var", "DATA=/abs").exit_code == 1
    assert run(folder, "--var", "DATA=/abs", "--without", "schemas", "--without", "parents").exit_code == 0
    result = run(folder, "--var", "DATA=/abs", "--without", "schema")
    assert result.exit_code == 2
    assert "did you mean `schemas`?" in result.stderr


def test_scope_of_keys(folder):
    """One instance of a mapped task is compared alone, and the summary names the others."""
    events = [mapped("START", 0), mapped("START", 1), mapped("COMPLETE", 1)]
    (folder / "events.jsonl").write_text("\n".join(map(json.dumps, events)))
    (folder / "expected.yaml").write_text(
        "dag.task[1].event.start: {}\ndag.task[1].event.complete:\n  outputs: [{name: !regex 'x+', v: 1}]\n"
    )
    without = ["--without", "parents", "--without", "schemas"]
    result = run(folder, "--scope", "keys", *without)
    assert (result.exit_code, result.stdout.splitlines()[1:]) == (
        1,
        [
            '  outputs[!regex "x+"] is not in the list',
            "    expected  {name: !regex 'x+', v: 1}",
            "    actual    (absent)",
            "",
            "1 event of keys with no expectation, not compared: dag.task[0]#1.event.start",
            "1 event matches, 1 differs",
        ],
    )


def mapped(kind: str, index: int) -> dict[str, Any]:
    """Return an event of one instance of a mapped task."""
    instance = {"map_index": index, "try_number": 1}
    facet = {"dag": {"dag_id": "dag"}, "task": {"task_id": "task"}, "taskInstance": instance}
    run_ = {"runId": f"018f3a5e-7d2b-7c43-8f6a-00000000000{index}", "facets": {"airflow": facet}}
    return {**EVENT, "eventType": kind, "run": run_, "outputs": []}


def test_versions_are_given(folder):
    """`--version` answers `when:`."""
    (folder / "expected.yaml").write_text(f"{KEY}:\n  when: {{spark: '>=4'}}\n  run: {{v: /abs/x}}\n")
    assert run(folder, "--version", "spark=4.1").exit_code == 0
    assert run(folder, "--version", "spark=3.5").exit_code == 2
    assert "--version spark: not NAME=VALUE" in run(folder, "--version", "spark").stderr


def test_exit_codes_are_documented():
    """`--help` has the exit codes that CI relies on, and the names of the rules."""
    text = CliRunner().invoke(main, ["compare", "--help"]).output
    for line in ("0  all events match", "1  some differ", "2  bad input", "unique_keys"):
        assert line in text
