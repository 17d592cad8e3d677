"""Rules for all commands: the form of error messages, and the contents of their help."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from airflow_provider_spark_lineage.cli import COMMANDS, main


def lineage(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["explain", "--foo"], "--foo"),
        (["explain", "nowhere"], "nowhere does not exist"),
        (["events"], "Missing argument 'DIRECTORY': see `main events --help`"),
        (["planned"], "Missing argument 'FILE'"),
        (["planned", "nowhere.py"], "nowhere.py does not exist"),
        (["run"], "Missing argument 'SCRIPT'"),
        (["run", "nowhere.py"], "nowhere.py does not exist"),
        (["run", "."], ". is a folder: give the path of a PySpark script"),
        (["agent", "--out", "gone/agent.zip"], "the folder gone does not exist; create it first"),
        (["agent", "--out", "agent"], "must end with .zip"),
        (["compare", "--expected", "a", "--events", "b"], "a: no such file"),
        (["compare"], "Missing option '--expected'"),
        (["expect", "--events", "b"], "b: no such file"),
        (["doctor", "--foo"], "--foo"),
        (["nothing"], "No such command 'nothing'"),
        (["shwo"], "No such command 'shwo'; did you mean `show`? See `main --help`"),
        (["show", "text.jsonl"], "text.jsonl: no such file"),
        (["--foo"], "--foo"),
    ],
)
def test_every_mistake_is_one_sentence_that_begins_alike(tmp_path, monkeypatch, arguments, sentence):
    """One word finds all of our errors in a log; exit code 2, and nothing on standard output."""
    monkeypatch.chdir(tmp_path)
    result = lineage(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("spark-lineage: ")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_an_example(command):
    """An example is read first."""
    assert f"Example: spark-lineage {command}" in lineage(*command.split(), "--help").stdout


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_an_example_can_be_copied(command):
    """In a narrow terminal, too, it is one line: a broken one does not run."""
    narrow = CliRunner().invoke(main, [*command.split(), "--help"], terminal_width=50)
    wide = CliRunner().invoke(main, [*command.split(), "--help"], terminal_width=300)
    (example,) = [line for line in wide.stdout.splitlines() if "Example: " in line]
    assert example in narrow.stdout.splitlines()


@pytest.mark.parametrize("place", ["text.jsonl", "."])
@pytest.mark.parametrize("arguments", [["show"], ["explain"], ["explain", "--events"], ["events"]])
def test_a_text_is_told_what_it_is_not(tmp_path, arguments, place):
    """Not "the file ends in the middle of an event": what it is not, and what it could be."""
    (tmp_path / "text.jsonl").write_text("Dear reader,\nthis is a letter.\n")
    if place == ".":
        (tmp_path / "data.parquet").write_bytes(b"PAR1\xff\x00PAR1")
        (tmp_path / "other.json").write_text('{"level": "info"}')
    result = lineage(*arguments, tmp_path / place)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has neither OpenLineage events, nor records, nor a Spark event log: give a file" in result.stderr
    assert result.stderr.count("\n") == 1


def test_events_that_are_given_to_events_are_told_so(tmp_path):
    """The command makes events of records; its input has some already."""
    event = {
        "eventTime": "2026-01-01T00:00:00Z",
        "eventType": "START",
        "run": {"runId": "1"},
        "job": {"name": "a.b"},
    }
    (tmp_path / "events.jsonl").write_text(json.dumps(event))
    result = lineage("events", tmp_path / "events.jsonl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "events.jsonl has OpenLineage events already: `spark-lineage explain" in result.stderr


def test_agent_prints_its_files(tmp_path):
    """Path and size, and the command that uses it."""
    path = tmp_path / "agent.zip"
    first, command = lineage("agent", "--out", path).stdout.splitlines()
    assert first == f"{path} has {path.stat().st_size:,} bytes; use it:"
    assert command == f"spark-submit --py-files {path} --conf spark.lineage.records=URI app.py"
