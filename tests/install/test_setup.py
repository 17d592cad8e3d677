"""Errors of set-up without the network: one sentence with the cure."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from servers import jars

CHECKOUT = Path(__file__).resolve().parents[2]
NOWHERE = "http://127.0.0.1:9"
"""No program listens at this port."""


def test_without_a_package_index_set_up_names_the_index(tmp_path: Path) -> None:
    """Pip's own retries and guesses stay in the log."""
    venv = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    (site / "pip_of_tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    pins = tmp_path / "pins.txt"
    pins.write_text("a-package-that-nobody-has==1.0\n")
    done = subprocess.run(
        ["bash", str(CHECKOUT / "scripts" / "setup.sh"), str(venv), str(pins)],
        env={**os.environ, "PIP_INDEX_URL": NOWHERE, "PIP_RETRIES": "1", "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "make setup: no package index answered pip; connect this machine to one (pip reads pip.conf and"
        f" PIP_INDEX_URL) and try again. What was tried is in {venv}/setup.log.\n"
    )


def test_half_a_jar_is_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetch that was cut off leaves one; a jar that is whole stays."""
    monkeypatch.setattr(jars, "FOLDER", tmp_path)
    whole, half = tmp_path / "ivy" / "whole.jar", tmp_path / "ivy" / "half.jar"
    whole.parent.mkdir()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("a", "a" * 10_000)
    half.write_bytes(whole.read_bytes()[:5_000])
    jars.remove_broken()
    assert (whole.exists(), half.exists()) == (True, False)


@pytest.mark.spark
def test_without_maven_the_sentence_names_the_jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ivy's attempts are in a log."""
    monkeypatch.setattr(jars, "FOLDER", tmp_path)
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(
        f'<ivysettings><resolvers><ibiblio name="central" root="{NOWHERE}"/></resolvers></ivysettings>'
    )
    monkeypatch.setattr(jars, "ivy_settings", lambda: settings)
    with pytest.raises(jars.JarsError) as caught:
        jars.jars(["org.nobody:nothing:1.0"])
    (log,) = tmp_path.glob("*.log")
    assert str(caught.value) == (
        "the jars of nothing could not be fetched from Maven Central; connect this machine to it and try"
        f" again. What was tried is in {log}."
    )
