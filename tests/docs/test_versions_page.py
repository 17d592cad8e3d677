"""`docs/versions.md` is made from `tools/matrix.json`, and the versions of `pyproject.toml` were tried."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def matrix() -> ModuleType:
    spec = importlib.util.spec_from_file_location("matrix", ROOT / "tools" / "matrix.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["matrix"] = module
    spec.loader.exec_module(module)
    return module


def test_page_matches_the_results(matrix: ModuleType) -> None:
    """The page is made by `python tools/matrix.py --page`, never by hand."""
    assert matrix.PAGE.read_text() == matrix.page(matrix.read_results())


def test_floors_are_versions_that_passed(matrix: ModuleType) -> None:
    """A lower bound is a promise: the row `lowest` installs that version."""
    versions = {
        name.lower(): version for name, version in matrix.read_results()["lowest"]["versions"].items()
    }
    lines = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]
    lines += PROJECT["optional-dependencies"]["testing"]
    for line in lines:
        name, floor = re.match(r"([\w.-]+)>=([\d.]+)", line).groups()
        assert f"{versions[name.lower()]}.".startswith(f"{floor}."), line


def test_every_run_of_the_page_passed(matrix: ModuleType) -> None:
    """A failing row is fixed, or its version is not declared any more."""
    assert [name for name, result in matrix.read_results().items() if not matrix.passed(result)] == []


def test_every_row_ran_all_its_suites(matrix: ModuleType) -> None:
    """Each row of `ROWS` has a result for each of its suites, and no other row has results."""
    tried = {name: set(result["suites"]) for name, result in matrix.read_results().items()}
    assert tried == {row.name: set(row.suites) for row in matrix.ROWS}


def test_every_extra_for_spark_has_a_row(matrix: ModuleType) -> None:
    """With the tests of this checkout, not only with a first task."""
    rows = {extra for row in matrix.ROWS if "unit" in row.suites for extra in row.extras.split(",")}
    assert {name for name in PROJECT["optional-dependencies"] if name.startswith("spark-")} <= rows
