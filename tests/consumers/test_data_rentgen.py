"""Data.Rentgen's consumer, from PyPI and in an environment of its own, reads our events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from consumers.every_event import every_event

# `airflow` keeps the module out of `make unit`.
pytestmark = [pytest.mark.airflow, pytest.mark.installs]

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the consumer would store of all events."""
    folder = tmp_path_factory.mktemp("data-rentgen")
    python = str(folder / "environment" / "bin" / "python")
    # The project is not installed there, so its modules may not be found there, either.
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    events = folder / "events.jsonl"
    events.write_text("".join(f"{json.dumps(pair)}\n" for pair in every_event().items()), encoding="utf-8")
    install = [python, "-m", "pip", "install", "--quiet", "--no-input", "-r", str(HERE / "data_rentgen.txt")]
    printed = ""
    for command in (
        [sys.executable, "-m", "venv", str(folder / "environment")],
        install,
        [python, str(HERE / "data_rentgen_reader.py"), str(events)],
    ):
        done = subprocess.run(command, env=clean, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        printed = done.stdout
    return json.loads(printed)


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
