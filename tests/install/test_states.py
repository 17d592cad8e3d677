"""The commands of docs/install.md, one for each state of an environment: PySpark works after each of them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytestmark = [pytest.mark.airflow, pytest.mark.installs]

CHECKOUT = Path(__file__).resolve().parents[2]
NAME = "airflow-provider-spark-lineage"
SPARK = "4.1.4"
ROW = re.compile(r"^\| ([^|]+) \| `pip install ([^`|]+)` \|", re.MULTILINE)
COMMANDS = dict(ROW.findall((CHECKOUT / "docs" / "install.md").read_text(encoding="utf-8")))
THERE = {
    "no PySpark": [],
    "PySpark, and Airflow's Spark provider 5.5 or newer": [
        f"pyspark=={SPARK}",
        "apache-airflow-providers-apache-spark==5.6.0",
    ],
    "PySpark, without that provider": [f"pyspark=={SPARK}"],
}
"""State, as the page calls it -> the packages installed before the command."""


def closure(*names: str) -> list[str]:
    """Return the pinned names of distributions of this environment and of all that they need."""
    pinned: dict[str, str] = {}
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue  # For another platform.
        if name not in pinned:
            pinned[name] = version
            needed = map(Requirement, metadata.requires(name) or ())
            waiting += [
                requirement.name
                for requirement in needed
                if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            ]
    return [f"{name}=={version}" for name, version in sorted(pinned.items())]


def pip(environment: Path, *arguments: str) -> None:
    """Install into an environment."""
    command = [
        str(environment / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(CHECKOUT)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def with_airflow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with Airflow and its OpenLineage provider; the tests copy it."""
    environment = tmp_path_factory.mktemp("airflow") / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    pip(environment, "--no-deps", *closure("apache-airflow", "apache-airflow-providers-openlineage"))
    return environment


def test_the_page_has_a_command_for_each_state() -> None:
    """These are all states that there are."""
    assert COMMANDS.keys() == THERE.keys()
    assert all(command.strip('"').startswith(NAME) for command in COMMANDS.values())


@pytest.mark.parametrize("state", THERE)
def test_pyspark_works_after_the_command(state: str, with_airflow: Path, wheel: Path, tmp_path: Path) -> None:
    """An installed one has the same version as before, and all of its files belong to that version."""
    environment = tmp_path / "environment"
    shutil.copytree(with_airflow, environment, symlinks=True)
    if THERE[state]:
        pip(environment, *THERE[state])
    pip(environment, *(word.replace(NAME, str(wheel)) for word in shlex.split(COMMANDS[state])))
    program = (
        "import pyspark\n"
        "from importlib import metadata\n"
        "from pyspark.sql import SparkSession, functions\n"
        "from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator\n"
        "print(pyspark.__version__, metadata.version('pyspark'), SparkSession.builder is not None)\n"
    )
    home = {"AIRFLOW_HOME": str(tmp_path / "airflow"), "PATH": str(environment / "bin")}
    done = subprocess.run(
        [str(environment / "bin" / "python"), "-c", program],
        env=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    imported, listed, _ = done.stdout.splitlines()[-1].split()
    assert imported == listed
    if THERE[state]:
        assert imported == SPARK
