"""`docs/testing.md` is run as it is: its files are written, its commands run, their output compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from providers import needs_airflow

from airflow_provider_spark_lineage.testing import run_dag, tail

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
PLUGIN = "airflow_provider_spark_lineage.pytest_plugin"
INSTALLED = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))

FILE = re.compile(r"`(\w+\.\w+)`[^`]*(?:`\w+`[^`]*)*:\n\n```(?:python|yaml)\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Every command of the page with the patterns of the lines that it prints, in their order."""
    for block in CONSOLE.findall(text):
        for command in block.split("$ ")[1:]:
            first, *lines = command.splitlines()
            yield first, lines


def missing_line(patterns: list[str], output: str) -> str | None:
    """The first pattern, with `*` for anything, that no line fits after those of the patterns before it."""
    lines = iter(output.splitlines())
    for pattern in patterns:
        fits = re.compile(".*".join(map(re.escape, pattern.split("*")))).fullmatch
        if not any(map(fits, lines)):
            return pattern
    return None


@needs_airflow("3.3", "`dag.test()` ends without the event of its DAG run's end")
@pytest.mark.airflow
def test_the_page_takes_a_newcomer_to_a_passing_and_a_failing_test(tmp_path: Path) -> None:
    """Typing the page's commands gives the page's screens."""
    text = PAGE.read_text()
    files = dict(FILE.findall(text))
    assert list(files) == [
        *("copying.py", "copying_lineage.py", "copies.py", "copies.yaml", "test_copies.py"),
        "checked_copies.py",
    ]
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTEST_ADDOPTS": "" if INSTALLED else f"-p {PLUGIN}",
        # Two files that are written in the same second have the same age, which is all that Python looks at.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = list(commands(text))
    assert [command for command, _ in run].count("pytest") == 2
    for command, patterns in run:
        shell = ["bash", "-c", command]
        done = subprocess.run(
            shell, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert missing_line(patterns, done.stdout) is None, done.stdout + done.stderr


@pytest.mark.airflow
def test_the_check_in_the_dag_passes_as_it_stands(tmp_path: Path, airflow_metadata: Path) -> None:
    """The expected file of the page serves the DAG that checks itself, too."""
    for name, content in FILE.findall(PAGE.read_text()):
        (tmp_path / name).write_text(content)
    (tmp_path / "orders.csv").write_text("id\n1\n")
    settings = {
        "DATA": str(tmp_path),
        "AIRFLOW__OPENLINEAGE__EXTRACTORS": "copying_lineage.CopyExtractor",
    }
    dag = tmp_path / "checked_copies.py"
    run = run_dag(dag, home=tmp_path / "home", metadata=airflow_metadata, settings=settings)
    assert run.state == "success", tail(run.log)
