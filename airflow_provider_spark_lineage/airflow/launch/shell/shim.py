"""Shims: programs with the names of Spark's commands, in folders in front of a shell's `PATH`.

A shim (`shims/`) sees the words of a command after all expansions, has `add_agent` add the agent to them, and
becomes the real command, whose environment has nothing of ours. Shims are files of this package, because a
shell may know their paths (`hash`) when the task has ended; without the folder of the task, they add nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shlex
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.shell.add_agent import CALLS, SETTINGS
from airflow_provider_spark_lineage.spark import write_agent

NAMES = ("spark-submit", "spark3-submit")

_SHIMS = Path(__file__).with_name("shims")
_ENDED = "calls.ended"
"""Name of the folder of calls when the task has ended."""

_PREFIX = "spark-lineage-shim-"

_FUNCTION = """{name}() {{
{{ local - && set +x; }} 2>/dev/null
if [ -x {shim} ] && type -P {name} >/dev/null; then
{real}{shim} "$@"; else command {name} "$@"; fi || return; }}
"""
"""Function of bash for a command; `local -` (bash 4.4) keeps its body out of `set -x`.

`|| return` keeps its body from a trap on ERR: after it, the trap is the caller's.
"""


class Shims:
    """Folder of one task: the agent, what `add_agent` needs, and the calls that the shims have written.

    `records` is the local folder of the try's records, if it may be removed after its last job.
    """

    def __init__(self, settings: Mapping[str, Any], records: Path | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        owner = {"machine": _machine(), "process": os.getpid(), "records": records and str(records)}
        try:
            agent = settings["agent"] or str(self.folder / "spark_lineage_agent.zip")
            (self.folder / SETTINGS).write_text(json.dumps({**settings, **owner, "agent": agent}))
            (self.folder / "python").write_text(f"{sys.executable}\n")
            if not settings["agent"]:
                _check(self.folder)
                write_agent(Path(agent))
            (self.folder / CALLS).mkdir()
        except OSError:
            self.remove()
            raise

    def environment(
        self, environment: Mapping[str, str], paths: Iterable[str] = (), names: Iterable[str] = ()
    ) -> dict[str, str]:
        """Return the environment with the shims of commands that a shell would find without us.

        In bash, commands with these `paths` and `names` become functions: those that the script calls by
        a path, and those that it may find by a `PATH` of its own.
        """
        folders = [str(_shim(name).parent) for name in NAMES if has_program(name, environment)]
        functions = {each: f"SPARK_LINEAGE_REAL={each} " for each in paths} | dict.fromkeys(names, "")
        result = dict(environment)
        if folders or functions:
            result["SPARK_LINEAGE_TASK"] = str(self.folder)
        if folders and "PATH" in environment:
            result["PATH"] = os.pathsep.join([*folders, environment["PATH"]])
        if functions:
            result["BASH_ENV"] = str(self.folder / "functions.bash")
            text = "".join(_function(name, real) for name, real in functions.items())
            # Only in the script itself: the scripts that it runs may start commands in the background.
            Path(result["BASH_ENV"]).write_text(f"unset BASH_ENV\n{text}")
        return result

    def end(self) -> list[dict[str, Any]]:
        """Return the calls so far in their order; later calls stay as they are."""
        # Renamed first, so that a call is either read here or has no files of ours.
        (self.folder / CALLS).rename(self.folder / _ENDED)
        return _calls(self.folder / _ENDED)

    def remove(self) -> None:
        """Remove the folder with all of its files."""
        shutil.rmtree(self.folder, ignore_errors=True)


def obstacle(environment: Mapping[str, str]) -> str:
    """Return the reason why no shim can be used in an environment, half a sentence; empty if there is none.

    bash passes its environment on unchanged; dash drops variables whose names have a dot or a dash.
    """
    files = [Path("/bin/bash"), *map(_shim, NAMES)]
    if not all(os.access(file, os.X_OK) for file in files):
        return "`/bin/bash` or the files of this package cannot be run"
    if os.pathsep in str(_SHIMS) or re.search(r"(?:^|:)~", environment.get("PATH", "")):
        return "its `PATH` has an entry with `~`, or this package is in a folder with `:`"
    if {"SHELLOPTS", "BASHOPTS"} & {*environment}:
        return "options of the shell are in its environment, which must not change"
    return ""


def has_program(name: str, environment: Mapping[str, str]) -> bool:
    """Return whether a shell with this environment finds a command that does not need this very shell."""
    file = shutil.which(name, path=environment.get("PATH", "/usr/local/bin:/usr/bin:/bin"))
    if file is None:
        return False
    with contextlib.suppress(OSError), open(file, "rb") as program:
        # A shell runs a file without `#!` itself, with all that it knows.
        return program.read(4).startswith((b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe"))
    return False


def remove_ended() -> None:
    """Remove the folders of earlier tasks of this user whose jobs, and whose own processes, have ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            # Another user's folder may have files that cannot be read to their end.
            files = (folder.lstat(), (folder / SETTINGS).lstat())
            if any(file.st_uid != os.getuid() or stat.S_ISFIFO(file.st_mode) for file in files):
                continue
            settings = json.loads((folder / SETTINGS).read_bytes())
            calls = [*_calls(folder / _ENDED), *_calls(folder / CALLS)]
            # A task that has ended its calls may still read their records.
            has_ended = settings["process"] == os.getpid() and (folder / _ENDED).exists()
            owners = [] if has_ended else [settings["process"]]
            if settings["machine"] != _machine() or any(
                map(is_running, [*owners, *(call["process"] for call in calls)])
            ):
                continue
            if settings["records"]:
                records = Path(settings["records"])
                shutil.rmtree(records, ignore_errors=True)
                with contextlib.suppress(OSError):
                    # Fails if other tries or tasks have records there.
                    records.parent.rmdir()
                    records.parent.parent.rmdir()
            shutil.rmtree(folder, ignore_errors=True)


def is_running(process: int, patience: float = 0) -> bool:
    """Return whether a process still runs after so many seconds; a zombie does not.

    >>> is_running(os.getpid())
    True
    """
    end = time.monotonic() + patience
    while time.monotonic() < end and is_running(process):
        time.sleep(0.02)
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat")
        return not state.exists() or state.read_text(errors="replace").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError, IndexError):
        return False
    except PermissionError:
        return True


def _calls(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(file.read_bytes()) for file in sorted(folder.glob("*.json"))]


def _machine() -> str:
    """Return the name of this machine and of its process ids: a container with the same folder has others."""
    with contextlib.suppress(OSError):
        return f"{platform.node()} {os.readlink('/proc/self/ns/pid')}"
    return platform.node()


def _check(folder: Path) -> None:
    """Raise OSError for a folder whose files Spark does not find: `--py-files` is a list of patterns."""
    if not re.fullmatch(r"[\w./ @=+~-]+", str(folder)):
        raise OSError("the name of the temporary folder has characters with a meaning for Spark")


def _function(name: str, real: str) -> str:
    return _FUNCTION.format(name=name, real=real, shim=shlex.quote(str(_shim(Path(name).name))))


def _shim(name: str) -> Path:
    # In a folder `bin`: if a script takes it for Spark's, `$SPARK_HOME/bin/spark-submit` is the shim, too.
    return _SHIMS / name / "bin" / name
