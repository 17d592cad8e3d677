"""The process that loads plugins for the doctor, and its report when something there does not end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.cli.doctor.model import Plugins
from airflow_provider_spark_lineage.cli.doctor.probe import TIMEOUT_SECONDS, probed

pytestmark = pytest.mark.airflow


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Plugins]:
    """Return a function that asks a new process with OpenLineage switched on, in an empty AIRFLOW_HOME."""
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "airflow"))
    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", json.dumps({"type": "console"}))
    # A package that is not installed is found by this.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))

    def run(extractor: str) -> Plugins:
        monkeypatch.setenv("AIRFLOW__OPENLINEAGE__EXTRACTORS", extractor)
        return probed(extractors=[extractor], operators=[], is_active=True)

    return run


def test_plugin_that_asks_a_person_gets_no_answer(ask, tmp_path):
    """A scheduler has no terminal: a plugin that waits for one would wait for ever."""
    (tmp_path / "asking.py").write_text("input('Which licence? ')\n")
    keyboard, other_end = os.pipe()
    before = os.dup(0)
    os.dup2(keyboard, 0)
    os.write(other_end, b"mine\n")
    try:
        answer = ask("asking.Extractor")
    finally:
        os.dup2(before, 0)
        for each in (before, keyboard, other_end):
            os.close(each)
    assert answer.extractors[0].error == "EOFError: EOF when reading a line"


def test_process_that_a_plugin_leaves_running_holds_nobody_up(ask, tmp_path):
    """It has the streams of the process that started it, and keeps them open."""
    (tmp_path / "leaving.py").write_text(
        "import pathlib, subprocess\n"
        "process = subprocess.Popen(['sleep', '900'])\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(process.pid))\n"
    )
    before = time.monotonic()
    try:
        answer = ask("leaving.Extractor")
        assert time.monotonic() - before < TIMEOUT_SECONDS
        assert answer.extractors[0].error == "ImportError: module leaving has no attribute Extractor"
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


ASK = """
import json, sys
from airflow_provider_spark_lineage.cli.doctor import probe
answer = probe.probed(extractors=[], operators=[], is_active=True)
print(json.dumps([probe.__file__, answer.error, answer.listener_error, answer.errors]))
"""


def test_own_plugins_load_from_a_wheel(tmp_path):
    """The doctor asks as Airflow asks: the folder of a wheel's installation is not searched twice."""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(root)], check=True)
    environment, others = tmp_path / "environment", tmp_path / "others"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (site,) = environment.glob("lib/python*/site-packages")
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        wheel.extractall(site)
    # All other packages of this environment; of this one, only the wheel.
    others.mkdir()
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if "airflow_provider_spark_lineage" not in each.name:
            (others / each.name).symlink_to(each)
    (site / "others.pth").write_text(f"{others}\n")
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps({"type": "console"}),
    }
    asked = [str(environment / "bin" / "python"), "-c", ASK]
    done = subprocess.run(asked, env=variables, cwd=tmp_path, capture_output=True, text=True, check=True)
    file, *errors = json.loads(done.stdout.splitlines()[-1])
    assert Path(file).is_relative_to(site)
    assert errors == ["", "", {}]
