"""Commands for the agent: operators like Airflow's whose Spark command writes down its words."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.shell.armed import Armed
from airflow_provider_spark_lineage.airflow.submitted.records_folder import RecordsFolder

SETTINGS = {"spark.lineage.sqlText": "full"}
ADDED = 6
"""Number of words that are added: `--py-files` and two properties."""


# What Spark's command does here: it writes its words and its environment, prints, and fails if it is told to.
SUBMIT = """#!/bin/sh
{ printf '%s\\0' "$@"; printf '\\1'; } >>"$HOME/words"
env | grep -v -e '^_=' -e '^SHLVL=' | sort >>"$HOME/environment"
cat | sed 's/^/read: /'
echo out; echo err >&2
exit ${CODE:-0}
"""


class Instance(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1)


class Bash:
    """As Airflow's: the command goes to a hook, which runs it."""

    def __init__(self, bash_command: str, home: Path) -> None:
        self.bash_command = bash_command
        self.env: dict[str, str] | None = None
        self.append_env = False
        self.cwd = None
        self.home = home
        self.variables: dict[str, str] = {}
        self.subprocess_hook = SimpleNamespace(run_command=self.run)

    def run(self, command: list[str], env: Any = None, cwd: Any = None) -> tuple[int, str]:
        done = subprocess.run(
            command,
            env=env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def execute(self) -> tuple[int, str]:
        given = self.env if self.env is not None else dict(os.environ)
        given = {**given, "HOME": str(self.home), "SPARK_BIN": str(self.home / "bin"), **self.variables}
        command = ["/bin/bash", "-c", self.bash_command]
        if self.bash_command.endswith(".sh"):
            # As Airflow does.
            (self.home / "rendered.sh").write_text(self.bash_command)
            command = ["/bin/bash", "rendered.sh"]
        return self.subprocess_hook.run_command(command=command, env=given, cwd=str(self.home))

    @property
    def calls(self) -> list[list[str]]:
        """Words of the calls so far, each without the last, empty one."""
        file = self.home / "words"
        calls = file.read_bytes().decode().split("\1")[:-1] if file.exists() else []
        return [call.split("\0")[:-1] for call in calls]


class SSH(Bash):
    def __init__(self, command: str, home: Path) -> None:
        super().__init__(command, home)
        self.command = self.__dict__.pop("bash_command")
        self.shell = "bash"
        self.environment = None

    def run_ssh_client_command(
        self, ssh_client: object, command: str, context: object = None
    ) -> tuple[int, str]:
        environment = {**os.environ, "HOME": str(self.home), "SHELL": "/bin/bash", **self.variables}
        return self.run([self.shell, "-c", command], env=environment)

    def execute(self) -> tuple[int, str]:
        return self.run_ssh_client_command(object(), self.command, context={})


Bash.__name__, SSH.__name__ = "BashOperator", "SSHOperator"


def home_of(folder: Path) -> Path:
    """Return a home with a command of Spark's, and one that is found first."""
    (folder / "bin").mkdir(parents=True)
    (folder / "a.py").touch()
    for name in ("spark-submit", "spark-sql"):
        (folder / "bin" / name).write_text(SUBMIT)
        (folder / "bin" / name).chmod(0o755)
    return folder


def armed(task: Bash, base: Path | str, **options: Any) -> Armed:
    collector = Armed(
        task,
        RecordsFolder(str(base), Instance()),
        settings=SETTINGS,
        base=str(base),
        since=None,
        **options,
    )
    collector.start()
    return collector


def without_ours(words: list[str]) -> list[str]:
    """Return the words without the added ones, which must be there."""
    at = words.index("--py-files")
    assert words[at + 1] == "AGENT"
    assert words[at + 3].startswith("spark.lineage.records=")
    assert words[at + 5] == "spark.lineage.sqlText=full"
    return words[:at] + words[at + ADDED :]
