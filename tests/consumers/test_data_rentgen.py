"""Data.Rentgen's consumer, from PyPI and in an environment of its own, reads our events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from consumers.every_event import every_event, failed_write

# `airflow` keeps the module out of `make unit`.
pytestmark = [pytest.mark.airflow, pytest.mark.installs]

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of an environment with the consumer."""
    environment = tmp_path_factory.mktemp("data-rentgen") / "environment"
    interpreter = str(environment / "bin" / "python")
    _printed([sys.executable, "-m", "venv", str(environment)])
    requirements = str(HERE / "data_rentgen.txt")
    _printed([interpreter, "-m", "pip", "install", "--quiet", "--no-input", "-r", requirements])
    return interpreter


@pytest.fixture(scope="module")
def told(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the consumer would store of all events."""
    return _stored(python, every_event(), tmp_path_factory.mktemp("all"))


def _stored(python: str, events: dict[str, dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return what the consumer would store of events."""
    path = folder / "events.jsonl"
    path.write_text("".join(f"{json.dumps(pair)}\n" for pair in events.items()), encoding="utf-8")
    stored: dict[str, Any] = json.loads(_printed([python, str(HERE / "data_rentgen_reader.py"), str(path)]))
    return stored


def _printed(command: list[str]) -> str:
    # The project is not installed there, so its modules may not be found there, either.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_event_is_refused(told: dict[str, Any]) -> None:
    """An event with one part that the models refuse is lost as a whole."""
    assert told["refused"] == {}


def test_tasks_are_runs_and_executions_are_operations(told: dict[str, Any]) -> None:
    """As docs/consumers.md says: the write of an execution is an output of its operation."""
    assert {"shop", "shop.revenue", "shop.ratio"} <= set(told["runs"])
    assert "revenue" in told["operations"]
    assert ["revenue", "/shop/revenue", "OVERWRITE"] in told["outputs"]
    # A write that failed is not there.
    assert not any(name == "/shop/ratio" for _, name, _ in told["outputs"])
    assert told["column_lineage"] > 100


@pytest.mark.parametrize(
    ("start_outputs", "outputs"), [(True, [["ratio", "/shop/ratio", "OVERWRITE"]]), (False, [])]
)
def test_a_failed_write_is_an_output_if_start_names_it(
    python: str, tmp_path: Path, start_outputs: bool, outputs: list[list[str]]
) -> None:
    """Events of a run are merged, and FAIL removes nothing: the setting is `start_outputs = False`."""
    events = failed_write(start_outputs=start_outputs)
    assert [event["eventType"] for event in events] == ["START", "FAIL"]
    stored = _stored(python, {event["eventType"]: event for event in events}, tmp_path)
    assert stored["refused"] == {}
    assert stored["outputs"] == outputs
