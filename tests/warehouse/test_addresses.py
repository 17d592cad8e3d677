"""Addresses where a path of a warehouse or of events is expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.warehouse.invariants import findings_of
from airflow_provider_spark_lineage.openlineage.warehouse.load import load
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables, publish

UNKNOWN = "ftp://key:word@host/lineage?secret=word"

POLICY = "rules:\n  - {name: one writer, datasets: '*', writers: 1}\n"

COMMANDS = (
    "impact orders --warehouse {}",
    "impact orders --events {}",
    "policy policy.yml --warehouse {}",
    "diff a.sql b.sql --production {}",
    "diff {} b.sql",
    "show {}",
    "show --warehouse {}",
    "changes 2026-01-01 2026-01-02 --warehouse {}",
    "explain {}",
    "explain --events {}",
    "expect --events {}",
    "warehouse load --events a.sql --warehouse {}",
    *(f"warehouse {name} --warehouse {{}}" for name in ("retain", "compact", "check", "views")),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_address_that_cannot_be_used_is_one_sentence(tmp_path, monkeypatch, command):
    """It is not taken for a folder `ftp:`, and keys in it are not repeated."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.sql", "b.sql"):
        (tmp_path / name).write_text("INSERT INTO a SELECT x FROM b")
    (tmp_path / "policy.yml").write_text(POLICY)
    before = {*tmp_path.rglob("*")}
    done = CliRunner().invoke(main, [word.format(UNKNOWN) for word in command.split()])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "ftp://host/lineage is not a path of this machine: " in done.stderr
    assert "word" not in done.stderr
    assert {*tmp_path.rglob("*")} == before


@pytest.mark.parametrize("place", [UNKNOWN, Path(UNKNOWN)])
def test_functions_refuse_such_an_address(tmp_path, monkeypatch, place):
    """Also as a `Path`, which has one slash less."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "events.jsonl").write_text("{}")
    for call in (
        lambda: load(None, tmp_path / "events.jsonl", place),
        lambda: load(None, place, tmp_path / "w"),
        lambda: read_events(place),
    ):
        with pytest.raises(BadInputError, match="is not a path of this machine"):
            call()
    assert [each.name for each in tmp_path.iterdir()] == ["events.jsonl"]


@pytest.mark.parametrize("address", ["file://{}", "file:{}"])
def test_an_address_of_a_file_is_its_path(tmp_path, address):
    """Spark takes a folder by either."""
    (tmp_path / "a w").mkdir()
    publish(StoredTables(tmp_path / "a w", "20260101"))
    assert findings_of(address.format(tmp_path / "a%20w")) == []
