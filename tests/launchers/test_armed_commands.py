"""The agent in a command: the script that the shell gets, and what stays as the user wrote it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from servers.commands import write_command
from servers.driver import driver

from airflow_provider_spark_lineage.launchers.armed import Armed
from airflow_provider_spark_lineage.submitted.place import Place

SETTINGS = {"spark.lineage.sqlText": "full"}

# A script, and below `=>` the same with the agent: `+P` is `--py-files AGENT`, `+C` the properties.
CASES = """
spark-submit /a.py x
=> spark-submit +P +C /a.py x
----
cd /jobs && /opt/spark/bin/spark-submit --name 'a b' a.py | tee log
=> cd /jobs && /opt/spark/bin/spark-submit +P +C --name 'a b' a.py | tee log
----
spark-submit --py-files "$HOME/my lib.zip" a.py
=> spark-submit +C --py-files "$HOME/my lib.zip",AGENT a.py
----
spark-submit --py-files=a.zip a.py; sudo -u spark spark-submit \\
  b.py
=> spark-submit +C --py-files=a.zip,AGENT a.py; sudo -u spark spark-submit +P +C \\
  b.py
----
spark-submit --conf spark.submit.pyFiles=lib.zip a.py
=> spark-submit --py-files lib.zip,AGENT +C --conf spark.submit.pyFiles=lib.zip a.py
----
cat > a.py <<'EOF' && echo 'written' # spark-submit
import pyspark
spark-submit c.py
EOF
if true; then spark-submit a.py; fi
=> cat > a.py <<'EOF' && echo 'written' # spark-submit
import pyspark
spark-submit c.py
EOF
if true; then spark-submit +P +C a.py; fi
----
spark-submit --conf spark.lineage.records=/own a.py
=> spark-submit --conf spark.lineage.records=/own a.py
----
spark-submit --class org.A a.jar; spark-sql -e 'select 1'; bash -c 'spark-submit a.py'; docker run x spark-submit a.py
=> spark-submit --class org.A a.jar; spark-sql -e 'select 1'; bash -c 'spark-submit a.py'; docker run x spark-submit a.py
----
spark-submit 'a.py
=> spark-submit 'a.py
""".strip().split("\n----\n")  # noqa: E501


class Instance(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1)


class Bash:
    """As Airflow's: the command goes to a hook."""

    def __init__(self, bash_command: str) -> None:
        self.bash_command = bash_command
        self.env = self.cwd = None
        self.given: list[str] = []
        self.subprocess_hook = SimpleNamespace(run_command=self.run)

    def run(self, command: list[str], env: Any = None) -> int:
        self.given = command
        return driver(command[-1])

    def execute(self) -> bool:
        return self.subprocess_hook.run_command(command=["/bin/bash", "-c", self.bash_command], env={})


class SSH(Bash):
    def __init__(self, command: str) -> None:
        self.command = command
        self.environment = None

    def run_ssh_client_command(self, ssh_client: object, command: str, context: object = None) -> bool:
        self.given = [command]
        return driver(command)

    def execute(self) -> bool:
        return self.run_ssh_client_command(object(), self.command, context={})


Bash.__name__, SSH.__name__ = "BashOperator", "SSHOperator"


def armed(task: Bash, base: Path | str, **options: Any) -> Armed:
    collector = Armed(
        task,
        Place(str(base), Instance()),
        settings=SETTINGS,
        base=str(base),
        since=None,
        **options,
    )
    collector.start()
    return collector


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.split("\n")[0][:50])
def test_a_script_gets_the_agent(case, tmp_path):
    """Where its words stand, and nowhere else; the operator keeps its own text."""
    script, _, expected = case.partition("\n=> ")
    task = Bash(script)
    armed(task, tmp_path, agent="AGENT")
    task.execute()
    given = re.sub(
        r"--conf spark\.lineage\.records=\S+ --conf spark\.lineage\.sqlText=full", "+C", task.given[-1]
    )
    assert given.replace("--py-files AGENT", "+P") == expected
    assert task.bash_command == script


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_shell_reads_what_was_added_as_words(tmp_path):
    """Also a folder with a space and a quote in its name."""
    base = tmp_path / "it's mine"
    task = Bash("spark-submit --py-files 'a b.zip' a.py")
    armed(task, base, agent=f"{base}/agent.zip")
    task.execute()
    echo = f'spark-submit() {{ printf "%s\\n" "$@"; }}\n{task.given[-1]}'
    words = subprocess.run(
        ["bash", "-c", echo], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert words[0] == "--conf"
    assert words[1].startswith(f"spark.lineage.records={base}/d.t/")
    assert words[-2:] == [f"a b.zip,{base}/agent.zip", "a.py"]


def test_records_of_the_command_are_facts_and_are_removed(tmp_path):
    base = tmp_path / "records"
    task = Bash("spark-submit /no/such.py")
    collector = armed(task, base.as_uri())
    task.execute()
    agent = Path(shlex.split(task.given[-1])[2])
    assert agent.is_file()
    collector.finish()
    assert collector.run().lineage.outputs[0].edges
    assert collector.run().problems == ()
    assert not agent.exists()
    assert not [path for path in base.rglob("*") if path.is_file()]


def test_records_of_a_command_that_fails_are_read(tmp_path):
    def fail(command: list[str], env: Any = None) -> None:
        driver(command[-1])
        raise ValueError("exit code 1")

    task = Bash("spark-submit /a.py")
    task.subprocess_hook.run_command = fail
    collector = armed(task, tmp_path.as_uri())
    with pytest.raises(ValueError, match="exit code 1"):
        task.execute()
    collector.finish()
    assert collector.run().lineage.outputs


def test_a_command_elsewhere_needs_a_place_and_a_zip_for_its_machine(tmp_path):
    for options in ({}, {"agent": "hdfs:///agent.zip"}):
        task = SSH("spark-submit /a.py")
        collector = armed(task, tmp_path / "local", **options)
        task.execute()
        assert task.given == ["spark-submit /a.py"]
        collector.finish()
        assert "runs on another machine" in collector.run().problems[0]
    task = SSH("spark-submit /a.py")
    collector = armed(task, tmp_path.as_uri(), agent="hdfs:///agent.zip")
    task.execute()
    assert "--py-files hdfs:///agent.zip" in task.given[0]
    collector.finish()
    assert collector.run().lineage.outputs


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("spark-submit a.jar", "a driver that runs Python"),
        ("sh -c 'spark-submit a.py'", "inside another one"),
        ("spark-submit --deploy-mode cluster a.py", "the driver runs on the cluster"),
        ("spark-submit 'a.py", "could not be read"),
    ],
)
def test_what_has_no_agent_says_why(command, said, tmp_path, caplog):
    """One warning; the command runs as it is."""
    task = Bash(command)
    collector = armed(task, tmp_path)
    task.execute()
    collector.finish()
    assert task.given[-1] == command
    reasons = [reason for reason in collector.run().problems if said in reason]
    assert len(reasons) == 1
    assert sum(said in record.getMessage() for record in caplog.records) == 1


def test_a_failure_of_ours_leaves_the_command(tmp_path, monkeypatch, caplog):
    def fail(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("airflow_provider_spark_lineage.launchers.armed.write_agent", fail)
    task = Bash("spark-submit a.py")
    collector = armed(task, tmp_path)
    task.execute()
    collector.finish()
    assert task.given[-1] == "spark-submit a.py"
    assert any("disk full" in problem for problem in collector.run().problems)


def test_a_text_that_becomes_a_file_stays(tmp_path):
    """The shell gets the name of the file."""
    task = Bash("spark-submit a.py run.sh")
    collector = armed(task, tmp_path)
    task.subprocess_hook.run_command(command=["/bin/bash", "tmp1.sh"])
    collector.finish()
    assert task.given == ["/bin/bash", "tmp1.sh"]
    assert "makes a file" in collector.run().problems[0]


FETCH = """import shutil, sys
*_, command, source, target = sys.argv
assert command == "-get" and source.startswith("s3a://lake/records/d.t/"), sys.argv
shutil.copytree({store!r}, target, dirs_exist_ok=True)
"""


def test_records_that_only_spark_reads_are_fetched_by_spark_submit(tmp_path, monkeypatch):
    """That of the worker, as the command would find it."""
    store, commands = tmp_path / "store", tmp_path / "bin"
    driver(f"spark.lineage.records={store.as_uri()}")
    commands.mkdir()
    write_command(commands / "spark-submit", FETCH.format(store=str(store)))
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    task = Bash("spark-submit a.py")
    collector = armed(task, "s3a://lake/records")
    task.execute()
    collector.finish()
    assert collector.run().lineage.outputs[0].edges
    assert collector.run().problems == ()
