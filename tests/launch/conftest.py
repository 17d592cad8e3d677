"""The folder of commands for tests of the agent in commands."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from armed_commands import home_of


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """Return the commands' folder, with Spark's commands in `PATH`, and no others' settings."""
    folder = home_of(tmp_path / "home")
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    (tmp_path / "tmp").mkdir()
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "BASH_ENV"):
        monkeypatch.delenv(name, raising=False)
    return folder
