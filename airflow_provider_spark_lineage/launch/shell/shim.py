"""Shims: small programs with the names of Spark's commands, in a folder in front of a shell's `PATH`.

A shim sees the words of a command after all expansions, has `add_agent` add the agent to them, and becomes
the real command. It changes nothing if that fails. The command's environment does not have the folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.agent.zipped import write_agent
from airflow_provider_spark_lineage.launch.shell.add_agent import CALLS, SETTINGS

NAMES = tuple(f"spark{version}-{command}" for command in ("submit", "sql") for version in ("", "2", "3"))

# Variables of a shim have a prefix: a variable of the same name in its environment would be changed.
_SHIM = """#!{shell}
# Adds the agent of airflow-provider-spark-lineage to the words of {name}, for one Airflow task.
{{ set +aeux; set -f; }} 2>/dev/null
spark_lineage_real=${{SPARK_LINEAGE_REAL-}}
unset SPARK_LINEAGE_REAL
spark_lineage_rest=${{PATH-}}:
while [ -z "$spark_lineage_real" ] && [ -n "$spark_lineage_rest" ]; do
  spark_lineage_folder=${{spark_lineage_rest%%:*}}
  spark_lineage_rest=${{spark_lineage_rest#*:}}
  if [ "$spark_lineage_folder" != {bin} ]; then
    spark_lineage_file=${{spark_lineage_folder:-.}}/{name}
    [ -f "$spark_lineage_file" ] && [ -x "$spark_lineage_file" ] && spark_lineage_real=$spark_lineage_file
  fi
done
case :${{PATH-}}: in
  *:{bin}:*)
    spark_lineage_rest=:$PATH:
    spark_lineage_rest=${{spark_lineage_rest%%:{bin}:*}}:${{spark_lineage_rest#*:{bin}:}}
    spark_lineage_rest=${{spark_lineage_rest#:}}
    PATH=${{spark_lineage_rest%:}}
    ;;
esac
[ "${{BASH_ENV-}}" = {functions} ] && unset BASH_ENV
if [ -z "$spark_lineage_real" ]; then
  echo "{name}: command not found" >&2
  exit 127
fi
spark_lineage_words=$(
  exec 2>/dev/null </dev/null
  {python} -I -S -c {code} {folder} {name} "$spark_lineage_real" "$$" "$@"
  # Not the last command: the shell in front would say that a signal ended it.
  exit $?
) && [ -n "$spark_lineage_words" ] && eval "set -- $spark_lineage_words"
exec "$spark_lineage_real" "$@"
"""

_FUNCTION = """{name}() {{
{{ local - && set +x; }} 2>/dev/null
if [ -x {shim} ]; then {real}{shim} "$@"; else command {name} "$@"; fi || return; }}
"""
"""Function of bash for a command; `local -` (bash 4.4) keeps its body out of `set -x`.

`|| return` keeps its body from a trap on ERR: after it, the trap is the caller's. A process in the background
may call it when the folder is gone.
"""

_CODE = f"""import sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from {__package__}.add_agent import main
main(*sys.argv[1:])"""


class Shims:
    """Folder of the shims of one task; `settings` are what `add_agent` needs."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="spark-lineage-shim-"))
        self._bin = self._folder / "bin"
        # Not in `PATH`: the script may test whether there is a command.
        self._called = self._folder / "called"
        self._functions = self._folder / "functions.bash"
        try:
            self._bin.mkdir()
            self._called.mkdir()
            (self._folder / CALLS).mkdir()
            agent = settings["agent"] or str(write_agent(self._folder / "spark_lineage_agent.zip"))
            (self._folder / SETTINGS).write_text(json.dumps({**settings, "agent": agent}))
        except OSError:
            self.remove()
            raise

    def environment(
        self, environment: Mapping[str, str], paths: Iterable[str] = (), names: Iterable[str] = ()
    ) -> dict[str, str]:
        """Write the shims, and return the environment in which a shell finds them.

        In bash, commands with these `paths` and `names` become functions: those that the script calls by
        a path, and those that it may find by a `PATH` of its own.
        """
        path = environment.get("PATH")
        functions = {each: f"SPARK_LINEAGE_REAL={each} " for each in paths} | dict.fromkeys(names, "")
        in_path = [name for name in NAMES if shutil.which(name, path=path)]
        for name in in_path:
            self._write(self._bin / name)
        for name in {*map(os.path.basename, functions)}:
            self._write(self._called / name)
        result = dict(environment)
        if path is not None and in_path:
            result["PATH"] = f"{self._bin}{os.pathsep}{path}"
        if functions:
            self._functions.write_text("".join(self._function(*each) for each in functions.items()))
            result["BASH_ENV"] = str(self._functions)
        return result

    def _function(self, name: str, real: str) -> str:
        return _FUNCTION.format(name=name, real=real, shim=shlex.quote(str(self._called / Path(name).name)))

    def _write(self, file: Path) -> None:
        words: dict[str, object] = {"folder": self._folder, "bin": self._bin, "functions": self._functions}
        words |= {"python": sys.executable, "code": _CODE}
        quoted = {key: shlex.quote(str(word)) for key, word in words.items()}
        file.write_text(_SHIM.format(name=file.name, shell=_shell(), **quoted))
        file.chmod(0o755)
        if not os.access(file, os.X_OK):
            raise PermissionError(f"programs in {tempfile.gettempdir()} cannot be run")

    def end(self) -> list[dict[str, Any]]:
        """Return the calls so far in their order; later calls stay as they are."""
        calls = self._folder / CALLS
        # Renamed first, so that a call is either read here or has no files of ours.
        ended = calls.rename(calls.with_suffix(".ended"))
        return [json.loads(file.read_bytes()) for file in sorted(ended.glob("*.json"))]

    def remove(self) -> None:
        """Remove the folder with all of its files."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _shell() -> str:
    """Return the shell of a shim.

    dash drops exported functions, and variables whose names have a dot or a dash; it also runs a command
    without `#!` as its own script. bash does not; `-p` keeps it from `BASH_ENV`.
    """
    bash = shutil.which("bash") or ""
    return f"{bash} -p" if re.fullmatch(r"/[\w./+-]+", bash) else "/bin/sh"


def is_running(process: int, patience: float = 0) -> bool:
    """Return whether the process of a call still runs after so many seconds; a zombie does not.

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


def has_processes(group: int, patience: float = 0) -> bool:
    """Return whether a process group still has processes after so many seconds; zombies do not count."""
    end = time.monotonic() + patience
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        fields = [_fields(stat) for stat in Path("/proc").glob("[0-9]*/stat")]
        if fields and not any(each[0] != "Z" and each[2] == str(group) for each in fields if each):
            return False
        if time.monotonic() >= end:
            return True
        time.sleep(0.02)


def _fields(stat: Path) -> list[str]:
    try:
        return stat.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
