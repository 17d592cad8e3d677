"""The examples of `report_assertions` in docs/checks.md, with libraries from PyPI in a new environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# `airflow` keeps the module out of `make unit`.
pytestmark = [pytest.mark.airflow, pytest.mark.installs]

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The events of a program that checks a table with each library, and reports by the examples."""
    folder = tmp_path_factory.mktemp("reporting")
    page = (CHECKOUT / "docs" / "checks.md").read_text(encoding="utf-8")
    examples = folder / "examples.py"
    found = [text for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def report_" in text]
    examples.write_text("\n".join(found), encoding="utf-8")
    python = str(folder / "environment" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--no-input"]
    printed = ""
    for command in (
        [sys.executable, "-m", "venv", str(folder / "environment")],
        [*install, "-r", str(HERE / "reporting_libraries.txt")],
        [python, str(HERE / "reporting_program.py"), str(examples), str(folder)],
    ):
        # The checkout, but neither Airflow nor the PySpark of this environment.
        clean = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
        done = subprocess.run(command, env=clean, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        printed = done.stdout
    return json.loads(printed.rpartition("EVENTS ")[2])


def asserted(events: list[dict[str, Any]], name: str) -> list[tuple[Any, ...]]:
    """Return the assertions at a dataset of the run's last event."""
    [dataset] = [
        dataset
        for dataset in (*events[-1]["inputs"], *events[-1]["outputs"])
        if dataset["name"].endswith(f"/{name}")
    ]
    fields = ("column", "assertion", "success", "expected", "actual")
    assertions = dataset["facets"]["dataQualityAssertions"]["assertions"]
    return sorted(tuple(each.get(field) for field in fields) for each in assertions)


def test_results_of_cuallee_stand_at_the_dataset_that_was_read(events: list[dict[str, Any]]) -> None:
    """With the share of rows that pass, and the share that must."""
    assert [(*each[:4], round(float(each[4]), 2)) for each in asserted(events, "orders")] == [
        ("amount", "is_greater_or_equal_than", True, ">= 1.0", 1.0),
        ("id", "is_complete", False, ">= 1.0", 0.67),
        ("status", "is_complete", True, ">= 0.9", 1.0),
        ("status", "is_contained_in", False, ">= 1.0", 0.33),
    ]


def test_results_of_pandera_stand_at_the_dataset_that_was_written(events: list[dict[str, Any]]) -> None:
    """Checks that passed, too; a missing column has one result."""
    assert [each[:3] for each in asserted(events, "copy")] == [
        ("amount", "greater_than_or_equal_to", False),
        ("amount", "less_than_or_equal_to", True),
        ("country", "column_in_dataframe", False),
        ("id", "greater_than_or_equal_to", True),
        ("id", "not_nullable", False),
        ("status", "isin", False),
        ("status", "not_nullable", True),
    ]


def test_no_event_has_a_value_of_a_row_or_of_a_check(events: list[dict[str, Any]]) -> None:
    """Messages of the libraries quote both, so the examples do not report them."""
    assert "planted" not in json.dumps(events)
