"""Rules for all commands: the form of error messages, and the contents of their help."""

from __future__ import annotations

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


def test_agent_prints_its_files(tmp_path):
    """Path and size, and the command that uses it."""
    path = tmp_path / "agent.zip"
    first, command = lineage("agent", "--out", path).stdout.splitlines()
    assert first == f"{path} has {path.stat().st_size:,} bytes; use it:"
    assert command == f"spark-submit --py-files {path} --conf spark.lineage.records=URI app.py"
