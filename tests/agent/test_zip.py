"""The zip that travels with a job: its files, and that Python behaves as without it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.spark.agent.zipped import PACKAGE, write_agent

LARGEST_BYTES = 300_000


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_agent(tmp_path_factory.mktemp("agent with space") / "agent.zip")


def python(
    code: str, *path: Path, interpreter: str = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter whose PYTHONPATH is `path`."""
    own = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    joined = os.pathsep.join(map(str, path))
    return subprocess.run(
        [interpreter, "-c", code],
        env={**own, "PYTHONPATH": joined, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def oldest_python() -> str:
    """Return Python 3.9 if it is installed, else this interpreter."""
    oldest = shutil.which("python3.9")
    # A shim of pyenv may point to a version that is not selected.
    if oldest is None or subprocess.run([oldest, "-V"], capture_output=True, check=False).returncode:
        return sys.executable
    return oldest


def test_the_zip_is_small_and_has_no_package_of_the_worker(agent: Path):
    """It travels with every job, and must not hide the package where that is installed, too."""
    assert agent.stat().st_size < LARGEST_BYTES
    with zipfile.ZipFile(agent) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
        texts = b"".join(archive.read(name) for name in archive.namelist())
    assert tops == {"sitecustomize.py", PACKAGE}
    assert b"airflow_provider_spark_lineage" not in texts


def test_the_same_sources_give_the_same_zip(agent: Path, tmp_path: Path):
    """A cluster that caches files by their content caches the agent."""
    assert write_agent(tmp_path / "again.zip").read_bytes() == agent.read_bytes()


def test_everything_in_the_zip_can_be_imported_from_it_alone(agent: Path):
    """A driver has no other package of ours, and may have the oldest Python that Spark supports."""
    code = (
        "import pkgutil, importlib, spark_lineage_agent as package\n"
        "for module in pkgutil.walk_packages(package.__path__, 'spark_lineage_agent.'):\n"
        "    importlib.import_module(module.name)\n"
        "print(package.__file__)"
    )
    done = python(code, agent, interpreter=oldest_python())
    assert done.returncode == 0, done.stderr
    assert str(agent) in done.stdout


def test_the_sitecustomize_behind_the_agents_runs_as_without_it(agent: Path, tmp_path: Path):
    """Python imports only the first one on the path: the agent must not take the place of the user's."""
    (tmp_path / "sitecustomize.py").write_text("VALUE = 'of the user'\nprint(__name__, __file__)")
    done = python("import sitecustomize; print(sitecustomize.VALUE)", agent, tmp_path)
    assert done.stdout.split("\n")[:2] == [f"sitecustomize {tmp_path}/sitecustomize.py", "of the user"]
    assert done.stderr == ""


def test_an_error_in_the_users_sitecustomize_is_shown_as_without_the_agent(agent: Path, tmp_path: Path):
    """Python reports it and goes on."""
    (tmp_path / "sitecustomize.py").write_text("raise ValueError('of the user')")
    with_agent = python("print('on')", agent, tmp_path)
    without = python("print('on')", tmp_path)
    assert with_agent.stdout == without.stdout == "on\n"
    assert with_agent.stderr == without.stderr != ""


@pytest.mark.parametrize("port", [{}, {"PYSPARK_GATEWAY_PORT": "1"}], ids=["no driver", "driver"])
def test_a_program_without_spark_pays_nothing(agent: Path, port: dict[str, str]):
    """Python workers have the zip on their path, too: nothing is imported before pyspark is."""
    code = "import sys; print([name for name in sys.modules if name.startswith(('pyspark', 'py4j'))])"
    done = python(code, agent, **port)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_damaged_zip_does_not_stop_the_program(agent: Path, tmp_path: Path):
    """One sentence, and the program runs."""
    damaged = tmp_path / "damaged.zip"
    with zipfile.ZipFile(agent) as archive, zipfile.ZipFile(damaged, "w") as copy:
        copy.writestr("sitecustomize.py", archive.read("sitecustomize.py"))
    done = python("print('on')", damaged, PYSPARK_GATEWAY_PORT="1")
    assert done.stdout == "on\n"
    assert done.stderr.startswith("Spark lineage: the agent cannot start: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("interpreter", dict.fromkeys([sys.executable, oldest_python()]))
def test_a_spark_in_a_zip_is_watched(agent: Path, tmp_path: Path, interpreter: str):
    """YARN gives the driver a zip of pyspark; modules of one zip share their loader."""
    with zipfile.ZipFile(tmp_path / "pyspark.zip", "w") as archive:
        archive.writestr("pyspark/__init__.py", "from pyspark.context import SparkContext\n")
        archive.writestr("pyspark/context.py", "class SparkContext:\n    def _do_init(self): pass\n")
        archive.writestr("pyspark/other.py", "")
    code = (
        "import pyspark, pyspark.other, os\n"
        "print(hasattr(pyspark.SparkContext._do_init, '__wrapped__'), os.path.basename(pyspark.__file__))"
    )
    done = python(code, agent, tmp_path / "pyspark.zip", interpreter=interpreter, PYSPARK_GATEWAY_PORT="1")
    assert (done.stdout, done.stderr) == ("True __init__.py\n", "")


def test_a_package_that_is_loaded_twice_is_watched_once(agent: Path, tmp_path: Path):
    """Libraries keep the spec that they asked for, and may load pyspark from it whenever they like."""
    package = tmp_path / "pyspark"
    package.mkdir()
    (package / "__init__.py").write_text("from pyspark.context import SparkContext\n")
    (package / "context.py").write_text("class SparkContext:\n    def _do_init(self): pass\n")
    code = (
        "import importlib.util as of\n"
        "early = of.find_spec('pyspark')\n"
        "import pyspark\n"
        "early.loader.exec_module(of.module_from_spec(early))\n"
        "watched = pyspark.SparkContext._do_init\n"
        "print(hasattr(watched, '__wrapped__'), hasattr(watched.__wrapped__, '__wrapped__'))"
    )
    done = python(code, agent, tmp_path, PYSPARK_GATEWAY_PORT="1")
    assert (done.stdout, done.stderr) == ("True False\n", "")
