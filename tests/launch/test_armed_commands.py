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

from airflow_provider_spark_lineage.launch.shell.armed import Armed
from airflow_provider_spark_lineage.submitted.records_folder import RecordsFolder

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
spark-submit --py-files=a.zip a.py; timeout -k 9 5m nice -n 5 spark-submit \\
  b.py
=> spark-submit +C --py-files=a.zip,AGENT a.py; timeout -k 9 5m nice -n 5 spark-submit +P +C \\
  b.py
----
nohup spark-submit a.py >log 2>&1 </dev/null |& tee log
=> nohup spark-submit +P +C a.py >log 2>&1 </dev/null |& tee log
----
serve & spark-submit a.py; flock /lock spark-submit b.py
=> serve & spark-submit +P +C a.py; flock /lock spark-submit +P +C b.py
----
OPTIONS='--name n'
spark-submit $OPTIONS a.py "$(date)" *.csv
=> OPTIONS='--name n'
spark-submit +P +C $OPTIONS a.py "$(date)" *.csv
----
cat > a.sh <<END-OF-IT <<"B C"
spark-submit b.py
END
END-OF-IT
EOF
it's
B C
spark-submit a.py
=> cat > a.sh <<END-OF-IT <<"B C"
spark-submit b.py
END
END-OF-IT
EOF
it's
B C
spark-submit +P +C a.py
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

    is_dry = False

    def __init__(self, bash_command: str) -> None:
        self.bash_command = bash_command
        self.env: dict[str, str] | None = None
        self.append_env = False
        self.cwd = None
        self.given: list[str] = []
        self.subprocess_hook = SimpleNamespace(run_command=self.run)

    def run(self, command: list[str], env: Any = None) -> int:
        self.given = command
        return 0 if self.is_dry else driver(command[-1])

    def execute(self) -> bool:
        return self.subprocess_hook.run_command(command=["/bin/bash", "-c", self.bash_command], env={})

    def script_of_the_shell(self) -> str:
        """Return the script that the shell would get; nothing is run."""
        self.is_dry = True
        self.execute()
        return self.given[-1]


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
        RecordsFolder(str(base), Instance()),
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


def test_a_command_with_an_environment_of_its_own_is_read_by_that(tmp_path, monkeypatch):
    """What the worker's variables name does not run there."""
    monkeypatch.setenv("MORE", "spark-submit b.py")
    task = Bash('spark-submit a.py; eval "$MORE"')
    task.env = {"DAY": "1"}
    collector = armed(task, tmp_path, agent="AGENT")
    assert "--py-files AGENT" in task.script_of_the_shell()
    assert not [problem for problem in collector.run().problems if "could not" in problem]


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
    collector.stop()
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
    collector.stop()
    assert collector.run().lineage.outputs


def test_a_command_elsewhere_needs_a_place_and_a_zip_for_its_machine(tmp_path):
    for options in ({}, {"agent": "hdfs:///agent.zip"}):
        task = SSH("spark-submit /a.py")
        collector = armed(task, tmp_path / "local", **options)
        task.execute()
        assert task.given == ["spark-submit /a.py"]
        collector.stop()
        assert "runs on another machine" in collector.run().problems[0]
    task = SSH("spark-submit /a.py")
    collector = armed(task, tmp_path.as_uri(), agent="hdfs:///agent.zip")
    task.execute()
    assert "--py-files hdfs:///agent.zip" in task.given[0]
    collector.stop()
    assert collector.run().lineage.outputs


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("spark-submit a.jar", "a driver that runs Python"),
        ("sh -c 'spark-submit a.py'", "inside another one"),
        ("spark-submit --deploy-mode cluster a.py", "the driver runs on the cluster"),
        ("spark-submit 'a.py", "could not be read"),
        # Who starts it does not wait.
        ("nohup spark-submit a.py >log 2>&1 &", "in the background"),
        ("cd /jobs && spark-submit a.py | tee log & wait", "in the background"),
        ("(cd /jobs; spark-submit a.py; ls) | tee log &", "in the background"),
        ("for x in 1 2; do spark-submit a.py; done &", "in the background"),
        ("f() { spark-submit a.py; }\nf & wait", "in the background"),
        ("setsid spark-submit a.py", "in the background"),
        # Another user cannot read the files of this one.
        ("sudo -u etl -- spark-submit a.py", "another user"),
        ("sudo -Eu etl timeout 5m spark-submit a.py", "another user"),
        ("doas -u etl spark-submit a.py", "another user"),
        ("runuser -u etl -- spark-submit a.py", "another user"),
        ("su - etl -c 'spark-submit a.py'", "inside another one"),
        # Python files that are not seen, which `--py-files` would replace.
        ("spark-submit --properties-file p.conf a.py", "--properties-file"),
        ("spark-submit --properties-file=p.conf a.py", "--properties-file"),
        ("SPARK_CONF_DIR=/conf spark-submit a.py", "SPARK_CONF_DIR"),
        ("export SPARK_HOME=/opt/spark3\nspark-submit a.py", "SPARK_HOME"),
        ("unset SPARK_CONF_DIR; spark-submit a.py", "SPARK_CONF_DIR"),
        ("env SPARK_HOME=/opt/spark3 spark-submit a.py", "SPARK_HOME"),
        ("source /no/such/env.sh; spark-submit a.py", "/no/such/env.sh"),
        ("PATH=/opt/spark3/bin:$PATH; spark-submit a.py", "in the script's PATH or folder"),
        ("bin/spark-submit a.py", "in the script's PATH or folder"),
        ("env -i spark-submit a.py", "another environment"),
        ('spark-submit --conf "spark.submit.pyFiles=$(cat f)" a.py', "not all of its options"),
        ("F=a; F=b; spark-submit --conf spark.submit.pyFiles=$F a.py", "not all of its options"),
        ('spark-submit --conf "$PAIR" a.py', "not all of its options"),
        ("spark-submit --py-files $FILES a.py", "not all of its options"),
        ('spark-submit --py-files "" a.py', "not all of its options"),
        ("spark-submit --py-files libs/*.zip a.py", "not all of its options"),
        ("spark-submit --py-files {a,b}.zip a.py", "not all of its options"),
        ("O='--py-files a.zip'; spark-submit $O a.py", "not all of its options"),
        # Words that are not known.
        ("spark-submit $OPTIONS a.py", "not all of its options"),
        ("spark-submit --name $UNKNOWN a.py", "not all of its options"),
        ('spark-submit --deploy-mode "$MODE" a.py', "not all of its options"),
        ('f() { spark-submit "$@"; }; f a.py', "not all of its options"),
        ("for f in *.py; do spark-submit $f; done", "of spark-submit: its command"),
        ("ls *.py | xargs -n 1 spark-submit a.py", "changes or repeats its words"),
        ("eval spark-submit a.py", "inside another one"),
        ("diff <(spark-submit a.py) f", "inside another one"),
        ('retry() { "$@"; }; retry spark-submit a.py', "changes or repeats its words"),
        ("alias spark-submit=echo; spark-submit a.py", "redefines spark-submit"),
        # Texts whose ends are not certain.
        ("cat <<EOF\nspark-submit a.py\n EOF", "has no end"),
        ("cat <<EOF\nspark-submit a.py\\\nEOF\n", "has no end"),
        ("echo $(cat <<EOF\n)\nEOF\n); spark-submit a.py", "not be found for certain"),
    ],
)
def test_what_has_no_agent_says_why(command, said, tmp_path, caplog, monkeypatch):
    """One warning; the command runs as it is."""
    for name in ("SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    task = Bash(command)
    collector = armed(task, tmp_path)
    task.execute()
    collector.stop()
    assert task.given[-1] == command
    reasons = [reason for reason in collector.run().problems if said in reason]
    assert len(reasons) == 1
    assert sum(said in record.getMessage() for record in caplog.records) == 1


@pytest.mark.parametrize(
    "command",
    [
        "xargs grep -l spark-submit run.py",
        "sudo cp spark-submit a.py",
        "timeout 9 echo spark-submit a.py",
        "nohup which spark-submit a.py",
        "nohup ./wrapper.sh spark-submit a.py",
        "words=(\n spark-submit\n --py-files b.zip\n a.py\n)",
        "cat > run.sh <<\\EOF\nspark-submit a.py\nEOF\n",
        "cat > run.sh <<!\nspark-submit a.py\n!\n",
        "cat > run.sh <<EOF\r\nspark-submit a.py\r\nEOF\r\n",
        "cat <<A <<B\nx\nA\nspark-submit a.py\nB\n",
        'x=$(echo ")"); echo "do\nspark-submit a.py\n"',
        "echo ${x:-'}'}; echo '\nspark-submit a.py\n'",
        "echo $'it\\'s\nspark-submit a.py\n'",
    ],
)
def test_a_name_in_other_words_or_texts_is_no_command(command, tmp_path):
    """Neither changed nor told: nothing is launched."""
    task = Bash(command)
    collector = armed(task, tmp_path, agent="AGENT")
    task.execute()
    assert task.given[-1] == command
    collector.stop()
    assert collector.run().problems == ()


@pytest.mark.parametrize(("records", "agent"), [("file:///mnt/records", ""), ("/records", "AGENT")])
def test_another_user_needs_a_place_and_a_zip_of_his(records, agent):
    for options, is_armed in (((records, agent), False), (("file:///mnt/records", "AGENT"), True)):
        task = Bash("sudo -u etl spark-submit a.py")
        armed(task, options[0], agent=options[1])
        assert ("--py-files" in task.script_of_the_shell()) is is_armed


def test_an_environment_with_other_settings_leaves_the_command(tmp_path, monkeypatch):
    """That of the operator, or one of which the worker's settings are no part."""
    monkeypatch.setenv("SPARK_CONF_DIR", "/conf")
    for env, append, is_armed in (
        ({"SPARK_CONF_DIR": "/other"}, True, False),
        ({"SPARK_CONF_DIR": "/conf"}, False, True),
        ({"A": "1"}, False, False),
        ({"A": "1"}, True, True),
        (None, False, True),
    ):
        task = Bash("spark-submit a.py")
        task.env, task.append_env = env, append
        armed(task, tmp_path, agent="AGENT")
        assert ("--py-files" in task.script_of_the_shell()) is is_armed, (env, append)


def test_python_files_in_the_settings_of_another_spark_stay(tmp_path, monkeypatch):
    """`/opt/spark3/bin/spark-submit` reads its own `conf`; a file that the shell sources may change that."""
    for name in ("SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    for folder in ("bin", "conf"):
        (tmp_path / "spark" / folder).mkdir(parents=True)
    write_command(tmp_path / "spark" / "bin" / "spark-submit", "")
    (tmp_path / "spark" / "conf" / "spark-defaults.conf").write_text("spark.submit.pyFiles /libs/own.zip\n")
    task = Bash(f"{tmp_path}/spark/bin/spark-submit a.py")
    armed(task, tmp_path, agent="AGENT")
    assert "--py-files /libs/own.zip,AGENT" in task.script_of_the_shell()
    for text, is_armed in (("export DAY=1", True), ("export SPARK_HOME=/opt/spark3", False)):
        (tmp_path / "env.sh").write_text(text)
        task = Bash(f". {tmp_path}/env.sh && spark-submit a.py")
        armed(task, tmp_path, agent="AGENT")
        assert ("--py-files" in task.script_of_the_shell()) is is_armed


def test_a_failure_of_ours_leaves_the_command(tmp_path, monkeypatch, caplog):
    def fail(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("airflow_provider_spark_lineage.launch.shell.armed.write_agent", fail)
    task = Bash("spark-submit a.py")
    collector = armed(task, tmp_path)
    task.execute()
    collector.stop()
    assert task.given[-1] == "spark-submit a.py"
    assert any("disk full" in problem for problem in collector.run().problems)


def test_a_text_that_becomes_a_file_stays(tmp_path):
    """The shell gets the name of the file."""
    task = Bash("spark-submit a.py run.sh")
    collector = armed(task, tmp_path)
    task.subprocess_hook.run_command(command=["/bin/bash", "tmp1.sh"])
    collector.stop()
    assert task.given == ["/bin/bash", "tmp1.sh"]
    assert "to a file" in collector.run().problems[0]


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
    collector.stop()
    assert collector.run().lineage.outputs[0].edges
    assert collector.run().problems == ()
