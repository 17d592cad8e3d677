"""The agent in a command: the words that Spark's command gets, and what stays as the user wrote it."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from servers.commands import write_command, write_commands
from servers.driver import driver

from airflow_provider_spark_lineage.launch.shell.armed import Armed
from airflow_provider_spark_lineage.launch.shell.shim import Shims, is_running, remove_ended
from airflow_provider_spark_lineage.submitted.records_folder import RecordsFolder

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

SETTINGS = {"spark.lineage.sqlText": "full"}
ADDED = 6
"""Number of words that are added: `--py-files` and two properties."""

# The calls that Spark's command gets without us are the expectation: here is only their number, and what the
# shape is about. A file `a.py` is in the folder.
SHAPES = {
    "plain": (1, "spark-submit a.py x 'y z' \"\" '*' \"it's\" $'tab\\t' 'new\nline'"),
    "options": (
        1,
        "OPTIONS='--name n --verbose'; spark-submit $OPTIONS --conf 'spark.a=b c' a.py $(echo 1 2)",
    ),
    "two": (2, "spark-submit a.py 1; spark-submit a.py 2"),
    "lists": (2, "false || spark-submit a.py 1 && ! spark-submit a.py 2"),
    "function": (1, 'run() { spark-submit "$@" a.py; }; run --name "a b"'),
    "function that runs its words": (2, 'twice() { "$@"; "$@"; }; twice spark-submit a.py'),
    "loop": (3, "for day in 1 2 3; do spark-submit a.py $day; done"),
    "while": (2, "printf '1\\n2\\n' | while read -r day; do spark-submit a.py $day </dev/null; done"),
    "condition": (1, "if spark-submit a.py; then echo yes; else echo no; fi"),
    "case": (1, "case x in x) spark-submit a.py;; esac"),
    "subshell": (1, "(cd / && spark-submit a.py); pwd >/dev/null"),
    "bash -c": (1, "bash -c 'spark-submit a.py \"$1\"' name 'a b'"),
    "sh -c": (1, "sh -ec 'spark-submit a.py; echo after'"),
    "eval": (1, "JOB='spark-submit a.py'; eval \"$JOB\" x"),
    "xargs": (2, "printf '1\\n2\\n' | xargs -n 1 spark-submit a.py"),
    "substitution": (1, 'OUT=$(spark-submit a.py); echo "got $OUT"'),
    "process substitution": (1, "cat <(spark-submit a.py 2>&1)"),
    "pipe": (1, "set -o pipefail; spark-submit a.py 2>&1 | tr a-z A-Z"),
    "standard input": (1, "spark-submit a.py <<'END'\nline of input\nEND"),
    "environment": (1, "env -u NOTHING DAY=1 timeout 60 nice spark-submit a.py"),
    "exec": (1, "exec spark-submit a.py"),
    "nohup": (1, "nohup spark-submit a.py 2>&1 </dev/null"),
    "background": (1, "spark-submit a.py & wait $!; echo $?"),
    "trap": (1, "trap 'spark-submit a.py' EXIT"),
    "trace": (1, "set -eux; spark-submit a.py"),
    "exit code": (1, "CODE=7 spark-submit a.py; echo $?; exit 8"),
    "set -e": (1, "set -e; CODE=7 spark-submit a.py; echo never"),
    "heredoc to a shell": (1, "bash -s <<'END'\nspark-submit a.py\nEND"),
    "a script in a file": (1, "echo 'spark-submit a.py' >run.sh; sh run.sh"),
    "find": (1, "find . -name a.py -exec spark-submit {} ';'"),
    "python": (1, 'python3 -c \'import subprocess as s; s.run(["spark-submit", "a.py"])\''),
    "own PATH": (1, 'PATH="$HOME/bin:$PATH"\nset -x; spark-submit a.py'),
    "path": (1, "<bin>/spark-submit a.py"),
    "path in quotes": (1, "set -x; \"<bin>\"/spark-submit a.py; '<bin>/spark-submit' --version"),
    "path by a variable": (1, '"$SPARK_BIN"/spark-submit a.py'),
    "path by a variable of its own": (1, "DIR='<bin>'; $DIR/spark-submit a.py"),
    "path in a condition": (1, "if <bin>/spark-submit a.py 2>&1 | grep -q out; then echo yes; fi"),
    "tested": (1, "command -v spark-submit >/dev/null && type spark-submit &>/dev/null && spark-submit a.py"),
    "ends like a file": (1, "spark-submit a.py run.sh"),
    "bash with a name": (1, "bash spark-submit a.py"),
    "hash": (2, "hash spark-submit; spark-submit a.py; hash -r; spark-submit a.py"),
    "symlink": (1, "mkdir s; ln -s ../bin/spark-submit s/; PATH=s:$PATH; spark-submit a.py; rm -r s"),
    "setsid": (1, "setsid -w spark-submit a.py; echo $?"),
    "variables of bash": (1, "POSIXLY_CORRECT=1 IFS=, SHLVL=7 spark-submit a.py"),
    "no Spark": (1, "spark-submit a.py; PATH=/usr/bin:/bin; command -v spark-submit >/dev/null; echo $?"),
    "nothing": (0, "spark-submit --version; spark-submit --help; spark-submit --kill d-1"),
}

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


@pytest.mark.parametrize("shape", SHAPES)
def test_a_script_runs_as_without_us_and_each_call_has_the_agent(shape, home, tmp_path):
    """The same exit code, output and environment, and the same words but for the agent's."""
    count, script = SHAPES[shape]
    script = script.replace("<bin>", str(home / "bin"))
    results = []
    for is_armed in (False, True):
        task = Bash(script, home)
        collector = armed(task, tmp_path / "records", agent="AGENT") if is_armed else None
        result = task.execute()
        calls, environment = task.calls, (home / "environment").read_text()
        for name in ("words", "environment", "run.sh", "env.sh"):
            (home / name).unlink(missing_ok=True)
        if collector is not None:
            collector.stop()
            given = [call for call in calls if "--py-files" in call]
            assert len(given) == count
            calls = [without_ours(call) if call in given else call for call in calls]
            shown = [each.shown for each in collector.launch.applications if each.main in ("a.py", "./a.py")]
            assert len(shown) == count or not count
            assert task.bash_command == script
        results.append((result, calls, environment))
    assert results[1] == results[0]
    assert not os.listdir(tempfile.gettempdir())


COLLECTED = [
    # A command, `spark.submit.pyFiles` of the settings that are read, and the files that Spark gets.
    ("spark-submit a.py", "", "AGENT"),
    ("spark-submit --py-files 'my lib.zip,b.py' a.py", "/libs/own.zip", "my lib.zip,b.py,AGENT"),
    ("spark-submit --py-files=b.zip a.py --py-files c.zip", "", "b.zip,AGENT"),
    ("FILES=b.zip; spark-submit --py-files $FILES a.py", "", "b.zip,AGENT"),
    ("spark-submit --py-files '' a.py", "", "AGENT"),
    ("spark-submit a.py", "/libs/own.zip", "/libs/own.zip,AGENT"),
    ("spark-submit --conf spark.submit.pyFiles=b.zip a.py", "/libs/own.zip", "b.zip,AGENT"),
    ("spark-submit --properties-file p.conf a.py", "/libs/own.zip", "/libs/p.zip,AGENT"),
    ("spark-submit --properties-file=q.conf a.py", "/libs/own.zip", "AGENT"),
    (
        "spark-submit --load-spark-defaults --properties-file q.conf a.py",
        "/libs/own.zip",
        "/libs/own.zip,AGENT",
    ),
    ("SPARK_CONF_DIR=other spark-submit a.py", "/libs/own.zip", "/libs/other.zip,AGENT"),
    ("export SPARK_HOME=$PWD/spark3\nspark-submit a.py", "/libs/own.zip", "/libs/home.zip,AGENT"),
]


@pytest.mark.parametrize(("script", "default", "files"), COLLECTED)
def test_python_files_of_the_user_stay(script, default, files, home, tmp_path):
    """`--py-files` replaces the property, also that of the file that this command reads."""
    for file, value in {
        "conf/spark-defaults.conf": default,
        "other/spark-defaults.conf": "/libs/other.zip",
        "spark3/conf/spark-defaults.conf": "/libs/home.zip",
        "p.conf": "/libs/p.zip",
        "q.conf": "",
    }.items():
        (home / file).parent.mkdir(parents=True, exist_ok=True)
        (home / file).write_text(f"spark.submit.pyFiles {value}\n" if value else "spark.app.name q\n")
    task = Bash(script, home)
    collector = armed(task, tmp_path / "records", agent="AGENT")
    task.execute()
    collector.stop()
    [call] = task.calls
    # Of two options, Spark takes the last before the application's file.
    options = call[: call.index("a.py")]
    at = len(options) - 1 - options[::-1].index("--py-files")
    assert options[at + 1] == files


@pytest.mark.parametrize("records", ["it's mine", "plain"])
def test_words_with_other_letters_arrive(records, home, tmp_path):
    """A folder with a quote in its name, and bytes that are not UTF-8."""
    odd = bytes(range(1, 256)).decode("latin-1")
    task = Bash("spark-submit a.py \"$ODD\" $'\\xff\\xfe' end", home)
    task.variables = {"ODD": odd}
    (home / "bin" / "spark-submit").write_text('#!/bin/sh\nprintf "%s\\0" "$@" >"$HOME/raw"\n')
    armed(task, tmp_path / records)
    assert task.execute() == (0, "")
    words = (home / "raw").read_bytes().split(b"\0")[:-1]
    assert words[-4:] == [b"a.py", odd.encode(), b"\xff\xfe", b"end"]
    assert words[3].startswith(f"spark.lineage.records={tmp_path}/{records}/d.t/".encode())


def test_records_of_the_command_are_facts_and_are_removed(tmp_path, home):
    shutil.rmtree(home / "bin")
    write_commands(home / "bin")
    base = tmp_path / "records"
    task = Bash("spark-submit /no/such.py", home)
    collector = armed(task, base.as_uri())
    assert task.execute()[0] == 0
    collector.stop()
    assert collector.run().lineage.outputs[0].edges
    assert collector.run().problems == ()
    assert not os.listdir(tempfile.gettempdir())
    assert not [path for path in base.rglob("*") if path.is_file()]


def test_records_of_a_command_that_fails_are_read(tmp_path, home):
    shutil.rmtree(home / "bin")
    write_commands(home / "bin")
    task = Bash("spark-submit /a.py", home)

    def fail(command: list[str], env: Any = None, cwd: Any = None) -> None:
        task.run(command, env)
        raise ValueError("exit code 1")

    task.subprocess_hook.run_command = fail
    collector = armed(task, tmp_path.as_uri())
    with pytest.raises(ValueError, match="exit code 1"):
        task.execute()
    collector.stop()
    assert collector.run().lineage.outputs


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("spark-submit a.jar", "a driver that runs Python"),
        ("spark-submit --class org.A a.py", "a driver that runs Python"),
        ("spark-sql -e 'select 1'", "a driver that runs Python"),
        ("spark-submit --deploy-mode cluster a.py", "the driver runs on the cluster"),
        (
            "MODE=cluster; spark-submit --conf spark.submit.deployMode=$MODE a.py",
            "the driver runs on the cluster",
        ),
        # Nothing was called that a shim could see.
        ("false && spark-submit a.py", "was called by its name"),
        ("sh -c '<bin>/spark-submit a.py'", "was called by its name"),
        ("exec <bin>/spark-submit a.py", "was called by its name"),
        ("<bin>/spark-submit a.py & wait", "was called by its name"),
        ("cp bin/spark-submit submit; bin/spark-submit a.py", "was called by its name"),
        ("PATH=$SPARK_BIN:/usr/bin:/bin; spark-submit a.py & wait", "was called by its name"),
        ("env -i HOME=$HOME PATH=$SPARK_BIN:/usr/bin:/bin spark-submit a.py", "was called by its name"),
        # The shim's path would be seen.
        ("SPARK_HOME=$(dirname $(which spark-submit)); spark-submit a.py", "looks up the path"),
        ("command -v spark-submit; spark-submit a.py", "looks up the path"),
        ("spark-submit a.py; X=`type -p spark-submit`", "looks up the path"),
        ("for c in spark-submit java; do command -v $c; done; spark-submit a.py", "looks up the path"),
        ("bash ./find.sh; spark-submit a.py", "looks up the path"),
        ("export SHELLOPTS; spark-submit a.py", "options of the shell"),
        ('env -i "PATH=$PATH" "HOME=$HOME" spark-submit a.py', "was called by its name"),
        (f"spark-submit --properties-file {'p' * 5000} a.py", "its properties cannot be read"),
        ("spark-submit --properties-file <(cat a.py) a.py", "its properties cannot be read"),
        (". ./own.sh; command -v spark-submit >/dev/null && spark-submit a.py", "was called by its name"),
        ('cp -r bin "my bin"; "$PWD/my bin/spark-submit" a.py; rm -r my*', "was called by its name"),
        # A text that the reader of scripts does not understand, and that no shell would run.
        ("spark-submit 'a.py", "could not be read"),
    ],
)
def test_what_has_no_agent_says_why(command, reason, tmp_path, home, caplog):
    """One warning; the command runs as it is."""
    results = []
    command = command.replace("<bin>", str(home / "bin"))
    (home / "find.sh").write_text("dirname $(command -v spark-submit)")
    (home / "own.sh").write_text("PATH=$SPARK_BIN:/usr/bin:/bin")
    for is_armed in (False, True):
        task = Bash(command, home)
        collector = armed(task, tmp_path / "records") if is_armed else None
        results.append((task.execute(), task.calls, (home / "words").unlink(missing_ok=True)))
    collector.stop()
    assert results[1] == results[0]
    reasons = [problem for problem in collector.run().problems if reason in problem]
    assert len(reasons) == 1
    assert sum(reason in record.getMessage() for record in caplog.records) == 1


@pytest.mark.parametrize(
    "command",
    [
        "xargs grep -l spark-submit a.py </dev/null",
        "echo spark-submit a.py",
        "words=(\n spark-submit\n --py-files b.zip\n a.py\n)",
        "cat > run.sh <<\\EOF\nspark-submit a.py\nEOF\n",
        "echo $'it\\'s\nspark-submit a.py\n'",
        "ls",
    ],
)
def test_a_name_in_other_words_or_texts_is_no_command(command, tmp_path, home):
    """Neither called nor told: nothing is launched."""
    task = Bash(command, home)
    collector = armed(task, tmp_path / "records", agent="AGENT")
    task.execute()
    collector.stop()
    assert task.calls == []
    assert collector.run().problems == ()


def test_a_command_on_a_cluster_needs_a_place_and_on_kubernetes_a_zip(tmp_path, home):
    shared, script = tmp_path.as_uri(), "spark-submit --deploy-mode cluster --master {} a.py"
    for records, agent, master, is_armed in (
        (shared, "", "yarn", True),
        (shared, "", "k8s://https://host", False),
        (shared, "AGENT", "k8s://https://host", True),
        (str(tmp_path), "AGENT", "yarn", False),
    ):
        task = Bash(script.format(master), home)
        collector = armed(task, records, agent=agent)
        task.execute()
        collector.stop()
        assert ("--py-files" in task.calls[-1]) is is_armed


def test_an_application_that_names_its_own_place_stays(tmp_path, home):
    """It is read there; and nothing is added to a command that has ours already."""
    task = Bash("spark-submit --conf spark.lineage.records=/own a.py", home)
    collector = armed(task, tmp_path / "records", agent="AGENT")
    task.execute()
    collector.stop()
    assert task.calls == [["--conf", "spark.lineage.records=/own", "a.py"]]
    assert collector.launch.applications[0].conf == {"spark.lineage.records": "/own"}


SECRET = "hunter2-of-ours"  # noqa: S105  not a secret


@pytest.mark.parametrize(
    ("script", "shown"),
    [
        ("spark-submit a.py etl $DB_PASSWORD x=$DB_PASSWORD", "etl *** x=***"),
        ("X=$DB_PASSWORD; spark-submit a.py jdbc:x:$X $DAY", "jdbc:x:*** monday"),
        ("spark-submit a.py --password 'a b' --token=x1", "--password *** --token=***"),
        # Not in the environment: the value is not known, so nothing is shown.
        ("MY_PASSWORD=hunter2-of-ours; spark-submit a.py $MY_PASSWORD $DAY", "*** ***"),
        ("spark-submit a.py $(echo $DB_PASSWORD) $(vault_token) $DAY", "*** *** ***"),
        ("read -r TOKEN <<<hunter2-of-ours; spark-submit --conf spark.a=$TOKEN a.py $TOKEN", "***"),
        ("DAY=tuesday; spark-submit a.py $DAY $(echo 1)", "tuesday 1"),
        ('spark-submit a.py "$(<token.txt)"', "***"),
        ("spark-submit a.py $(tr a-z a-z <token.txt)", "***"),
        ("read -r X <token.txt; spark-submit a.py $X", "***"),
        ("xargs spark-submit a.py <token.txt", "***"),
        ("true a.py spark-submit; bash run.sh", "***"),
        ("DB_PASSWORD= spark-submit a.py $DB_PASSWORD 1", "*** ***"),
        ("spark-submit a.py ${DB_PASSWORD%?}", "***"),
    ],
)
def test_arguments_are_the_true_ones_without_secrets(script, shown, tmp_path, home):
    """Secrets are neither in the files of calls nor in the event."""
    task = Bash(f"vault_token() {{ echo {SECRET}; }}; {script}", home)
    task.variables = {"DB_PASSWORD": SECRET, "DAY": "monday"}
    (home / "token.txt").write_text(SECRET)
    (home / "run.sh").write_text('spark-submit a.py "$(cat token.txt)"')
    collector = armed(task, tmp_path / "records", agent="AGENT")
    written: list[str] = []
    run = task.subprocess_hook.run_command

    def run_and_look(*args: Any, **kwargs: Any) -> Any:
        result = run(*args, **kwargs)
        files = [*Path(tempfile.gettempdir()).rglob("*"), *(tmp_path / "records").rglob("*")]
        written.extend(file.read_text() for file in files if file.is_file())
        return result

    task.subprocess_hook.run_command = run_and_look
    task.execute()
    collector.stop()
    assert len(written) >= 3
    assert not any(SECRET in text for text in written)
    [application] = collector.launch.applications
    assert " ".join(application.shown) == shown
    assert [word for word in application.arguments if word] == [w for w in shown.split() if "***" not in w]
    assert SECRET not in str(collector.launch)


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"SHELLOPTS": "errexit"}, "options of the shell"),
        ({"PATH": "~/bin:<path>"}, "an entry with `~`"),
        ({"BASH_ENV": "<home>/env.sh", "PATH": "<path>"}, ""),
    ],
)
def test_an_environment_that_must_not_change_stays(variables, reason, tmp_path, home):
    (home / "env.sh").write_text("echo env\n")
    places = {"<path>": os.environ["PATH"], "<home>": str(home)}
    results = []
    for is_armed in (False, True):
        task = Bash(f"{home / 'bin'}/spark-submit a.py", home)
        for name, value in variables.items():
            task.variables[name] = functools.reduce(
                lambda text, each: text.replace(*each), places.items(), value
            )
        collector = armed(task, tmp_path / "records", agent="AGENT") if is_armed else None
        results.append((task.execute(), task.calls, (home / "words").unlink()))
    collector.stop()
    assert results[1] == results[0]
    assert any(reason in problem for problem in collector.run().problems)


@pytest.mark.parametrize("broken", ["/settings.json", "/calls", "/python", ""])
def test_a_failure_in_the_shim_leaves_the_command(broken, tmp_path, home):
    """Also when its folder is removed while the command runs."""
    folder = tempfile.gettempdir()
    task = Bash(f"rm -r {folder}/spark-lineage-shim-*{broken}; spark-submit a.py x; echo $?", home)
    collector = armed(task, tmp_path / "records", agent="AGENT")
    assert task.execute() == (0, "out\nerr\n0\n")
    assert task.calls == [["a.py", "x"]]
    collector.stop()
    assert not os.listdir(folder)


def test_a_python_that_cannot_start_leaves_the_command(tmp_path, home, monkeypatch):
    monkeypatch.setattr("sys.executable", "/no/such/python")
    task = Bash("spark-submit a.py x", home)
    armed(task, tmp_path / "records", agent="AGENT")
    assert task.execute() == (0, "out\nerr\n")
    assert task.calls == [["a.py", "x"]]


def test_a_failure_before_the_command_leaves_it(tmp_path, home, monkeypatch):
    def fail(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("airflow_provider_spark_lineage.launch.shell.shim.write_agent", fail)
    task = Bash("spark-submit a.py", home)
    collector = armed(task, tmp_path)
    task.execute()
    collector.stop()
    assert task.calls == [["a.py"]]
    assert any("disk full" in problem for problem in collector.run().problems)
    assert not os.listdir(tempfile.gettempdir())


def test_a_command_without_spark_on_the_path_is_not_found(tmp_path, home, monkeypatch):
    shutil.rmtree(home / "bin")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    task = Bash("spark-submit a.py", home)
    armed(task, tmp_path)
    code, output = task.execute()
    assert code == 127
    assert output.endswith("spark-submit: command not found\n")
    assert "spark-lineage" not in output


@pytest.mark.parametrize(
    ("variables", "is_armed"), [({"PATH": "<bin>:/usr/bin:/bin"}, True), ({"DAY": "1"}, False)]
)
def test_a_command_with_an_environment_of_its_own_has_its_path(variables, is_armed, tmp_path, home):
    """Without any, bash has a default, which has no Spark here: the message is bash's."""
    task = Bash("spark-submit a.py", home)
    task.env = {name: value.replace("<bin>", str(home / "bin")) for name, value in variables.items()}
    results = [task.execute()]
    collector = armed(task, tmp_path, agent="AGENT")
    results.append(task.execute())
    collector.stop()
    assert results[0] == results[1]
    assert ["--py-files" in call for call in task.calls] == ([False, True] if is_armed else [])


@pytest.mark.parametrize(
    ("command", "starts"),
    [
        ("exec <bin>/spark-submit b.py", ["nothing is captured of b.py"]),
        ("docker() { :; }; docker run image spark-submit b.py", ["nothing is captured of b.py: it runs in"]),
        ("false && spark-submit b.py", []),
    ],
)
def test_a_command_that_the_shim_does_not_see_is_a_gap_beside_others(command, starts, tmp_path, home):
    """Only if the script may have called it: nothing is said of a condition that is false."""
    task = Bash(f"spark-submit a.py; {command.replace('<bin>', str(home / 'bin'))}", home)
    collector = armed(task, tmp_path / "records", agent="AGENT")
    task.execute()
    collector.stop()
    reasons = [reason for reason in collector.run().problems if "b.py" in reason]
    assert [reason[: len(start)] for reason, start in zip(reasons, starts, strict=True)] == starts


def test_files_of_a_job_that_outlives_its_script_stay_until_it_ends(home):
    """Its driver may load the agent later: the next task with Spark on this machine removes them."""
    (home / "bin" / "spark-submit").write_text('#!/bin/sh\n# "$@"\necho started; exec cat "$HOME/pipe"\n')
    os.mkfifo(home / "pipe")
    task = Bash("mkfifo ready; spark-submit a.py >ready 2>&1 & read -r line <ready", home)
    collector = armed(task, "")
    temporary = Path(tempfile.gettempdir())
    assert task.execute() == (0, "")
    collector.stop()
    assert any("still runs in the background" in problem for problem in collector.run().problems)
    [folder] = temporary.glob("spark-lineage-shim-*")
    [call] = (folder / "calls.ended").iterdir()
    process = json.loads(call.read_text())["process"]
    records = Path(json.loads((folder / "settings.json").read_text())["records"])
    records.mkdir(parents=True)
    remove_ended()
    assert (folder / "spark_lineage_agent.zip").is_file()
    (home / "pipe").write_text("end")
    assert not is_running(process, 10)
    (home / "bin" / "spark-submit").write_text("#!/bin/sh\n")
    task = Bash("spark-submit --version >/dev/null", home)
    collector = armed(task, "")
    task.execute()
    collector.stop()
    assert not [path for path in temporary.rglob("*") if path.name != f"spark-lineage-{os.getuid()}"]


def test_folders_of_a_task_that_was_killed_are_removed_by_the_next(home):
    """Not those of a task that runs, or of a container with other process ids."""
    folders = [
        Path(tempfile.gettempdir(), f"spark-lineage-shim-{name}") for name in ("dead", "runs", "other")
    ]
    ended = subprocess.Popen(["true"])
    ended.wait()
    [settings] = [json.loads((Shims({"agent": "AGENT"}).folder / "settings.json").read_text())]
    differences = ({"process": ended.pid}, {}, {"process": ended.pid, "machine": "pod-1"})
    for folder, different in zip(folders, differences, strict=True):
        (folder / "calls").mkdir(parents=True)
        (folder / "settings.json").write_text(json.dumps({**settings, **different}))
    remove_ended()
    assert [folder.exists() for folder in folders] == [False, True, True]


def test_a_shell_that_outlives_the_task_finds_its_command(home, tmp_path):
    """bash keeps the path of a command that it has run (`hash`): the shim stays there, and adds nothing."""
    os.mkfifo(home / "pipe")
    later = '{ read -r line <"$HOME/pipe"; spark-submit a.py later; echo done >"$HOME/pipe"; }'
    task = Bash(f"spark-submit a.py; {later} >/dev/null 2>&1 &", home)
    collector = armed(task, tmp_path / "records")
    task.execute()
    collector.stop()
    assert not os.listdir(tempfile.gettempdir())
    (home / "pipe").write_text("go\n")
    assert (home / "pipe").read_text() == "done\n"
    assert "--py-files" in task.calls[0]
    assert task.calls[1:] == [["a.py", "later"]]


@pytest.mark.parametrize("path", [":<path>", "bin:/usr/bin:/bin", "<path>:", "none:./bin:/usr/bin:/bin"])
def test_a_path_with_relative_and_empty_entries_is_passed_on(path, tmp_path, home):
    results = []
    for is_armed in (False, True):
        task = Bash("spark-submit a.py x; cd bin; spark-submit a.py y", home)
        task.variables = {"PATH": path.replace("<path>", os.environ["PATH"])}
        collector = armed(task, tmp_path / "records", agent="AGENT") if is_armed else None
        result = task.execute()
        calls = [without_ours(call) if "--py-files" in call else call for call in task.calls]
        results.append((result, calls, (home / "environment").read_text()))
        for name in ("words", "environment"):
            (home / name).unlink()
        if collector:
            collector.stop()
    assert results[1] == results[0]


STATE = """
import os
import signal
print(sorted((k, v) for k, v in os.environb.items() if k not in (b"_", b"SHLVL")))
print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, signal.getsignal(signal.SIGHUP), os.getpgrp())
print(sorted(os.listdir("/proc/self/fd"))[:-1])
"""


@pytest.mark.parametrize(
    "script",
    [
        "spark-submit a.py",
        "sh -c 'nohup spark-submit a.py | cat'",
        "f() { :; }; export -f f; spark-submit a.py",
        "{ spark-submit a.py; } 3>&1 & wait",
        "spark-submit a.py <&-",
        "spark-submit a.py 2>&-",
    ],
)
def test_a_process_gets_what_it_gets_without_us(script, tmp_path, home):
    """Variables with odd names, functions, signals that are ignored, and open files."""
    write_command(home / "bin" / "spark-submit", STATE)
    results = []
    for is_armed in (False, True):
        task = Bash(script, home)
        task.variables = {"a.b-c": "1", "COLUMNS": "99", "BASH_FUNC_g%%": "() {  echo g\n}", "LC_ALL": "C"}
        if is_armed:
            armed(task, tmp_path / "records", agent="AGENT")
        code, output = task.execute()
        results.append((code, re.sub(r" \d+$", "", output, flags=re.MULTILINE)))
    assert results[0][0] == 0
    assert results[1] == results[0]


def test_a_program_without_an_interpreter_stays(tmp_path, home):
    """The shell itself runs it, with all that it knows: nothing is put in front of it."""
    (home / "bin" / "spark-submit").write_text('echo "$1" "$f"; type g\n')
    results = []
    for is_armed in (False, True):
        task = Bash("f=1; g() { :; }; export f; export -f g; spark-submit a.py", home)
        collector = armed(task, tmp_path / "records") if is_armed else None
        results.append(task.execute())
    collector.stop()
    assert results[1] == results[0]
    assert any("nothing is captured" in problem for problem in collector.run().problems)


@pytest.mark.parametrize("folder", ["/proc/none", "a,b", "a b"])
def test_a_temporary_folder_that_cannot_be_used(folder, tmp_path, home, monkeypatch):
    """Read-only, or with a letter that separates Python files; a blank is fine. It has no programs."""
    collector = armed(task := Bash("spark-submit a.py", home), tmp_path / "records")
    if not folder.startswith("/"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / folder))
    assert task.execute() == (0, "out\nerr\n")
    assert ("--py-files" in task.calls[0]) is (folder == "a b")
    collector.stop()
    assert folder.startswith("/") or not os.listdir(tmp_path / folder)
    reasons = [reason for reason in collector.run().problems if "could not be added" in reason]
    assert len(reasons) == (folder != "a b")


@pytest.mark.parametrize(
    "text", ["in ", "+/", "/", "{", "{,", "$(", "$'", "bash -l", "which ", "=a.py", "`", "l", "a ", "$a"]
)
def test_a_long_text_takes_no_long_time(text, tmp_path, home):
    """A value of 30,000 letters."""
    long = text * (30_000 // len(text))
    task = Bash(f"X=\"{long}\"; spark-submit a.py '{long}'; : {long}", home)
    # Not run: bash itself is slow here.
    task.subprocess_hook.run_command = lambda *command, **options: (0, "")
    start = time.process_time()
    collector = armed(task, tmp_path / "records", agent="AGENT")
    task.execute()
    collector.stop()
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    "script",
    [". ~/env.sh; spark-submit a.py", "cd conf; . ./more.sh; cd ..; spark-submit a.py", "bash outer.sh"],
)
def test_a_file_that_looks_up_the_path_of_the_command_gets_the_real_one(script, tmp_path, home):
    """Also in the home folder, after `cd`, and in a file that another file runs."""
    (home / "env.sh").write_text('export SPARK_HOME=$(dirname "$(dirname "$(which spark-submit)")")\n')
    (home / "conf").mkdir()
    (home / "conf" / "more.sh").write_text(". ../env.sh\n")
    (home / "outer.sh").write_text(". ~/env.sh; spark-submit a.py\n")
    collector = armed(
        task := Bash(f'{script}; "$SPARK_HOME"/bin/spark-submit b.py', home), tmp_path / "records"
    )
    task.env = {**os.environ, "HOME": str(home), "SPARK_HOME": str(home)}
    assert task.execute() == (0, "out\nerr\nout\nerr\n")
    assert f"SPARK_HOME={home}\n" in (home / "environment").read_text()
    collector.stop()
    assert any("looks up the path" in problem for problem in collector.run().problems)


@pytest.mark.parametrize("is_known", [True, False])
def test_a_file_that_sets_path_does_not_hide_the_command(is_known, tmp_path, home, monkeypatch):
    """As `activate` of a virtual environment: without it, there may be no command."""
    (home / "venv").mkdir()
    shutil.copytree(home / "bin", home / "venv" / "bin")
    (home / "venv" / "bin" / "activate").write_text('PATH="$PWD/venv/bin:$PATH"; hash -r 2>/dev/null\n')
    if not is_known:
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
    task = Bash("set -eu; source venv/bin/activate && spark-submit a.py && CODE=7 spark-submit a.py", home)
    collector = armed(task, tmp_path / "records", agent="AGENT")
    assert task.execute() == (7, "out\nerr\n" * 2)
    collector.stop()
    assert [without_ours(call) for call in task.calls] == [["a.py"]] * 2


def test_an_application_that_speaks_of_lookups_is_no_script(tmp_path, home):
    (home / "a.py").write_text("# type: ignore  # see which $ to pay, and: which spark-submit\n")
    collector = armed(task := Bash("spark-submit a.py", home), tmp_path / "records", agent="AGENT")
    task.execute()
    collector.stop()
    assert [without_ours(call) for call in task.calls] == [["a.py"]]


def test_many_words_take_no_long_time(tmp_path, home):
    """0.2 seconds of the processor; a shell that reads the words itself takes some seconds."""
    task = Bash("spark-submit a.py {1..20000}", home)
    collector = armed(task, tmp_path / "records", agent="AGENT")
    start = os.times()
    task.execute()
    end = os.times()
    assert end.children_user + end.children_system - start.children_user - start.children_system < 2
    collector.stop()
    assert without_ours(task.calls[0]) == ["a.py", *map(str, range(1, 20001))]


def test_a_lookup_that_nobody_saw_gives_a_home_that_works(tmp_path, home):
    """The folder of the shim has a `bin` with the command, as Spark's has, and the job does not get it."""
    (home / "env.sh").write_text('export SPARK_HOME=$(dirname "$(dirname "$(which spark-submit)")")\n')
    script = '. "./$(echo e)nv.sh"; spark-submit a.py; "$SPARK_HOME/bin/spark-submit" b.py'
    collector = armed(task := Bash(script, home), tmp_path / "records")
    assert task.execute() == (0, "out\nerr\nout\nerr\n")
    assert "SPARK_HOME" not in (home / "environment").read_text()
    collector.stop()
    assert [each.main for each in collector.launch.applications] == ["a.py", "b.py"]


def test_records_stay_until_their_task_has_read_them(tmp_path, home):
    """Another task may clean up in between; a folder that is not one of a task's does not stop it."""
    folder = tmp_path / "tmp" / "spark-lineage-shim-other"
    folder.mkdir()
    os.mkfifo(folder / "settings.json")
    records = tmp_path / "records"
    records.mkdir()
    shims = Shims({"agent": "AGENT"}, records)
    settings = shims.folder / "settings.json"
    running = subprocess.Popen(["sleep", "600"])
    try:
        settings.write_text(json.dumps({**json.loads(settings.read_text()), "process": running.pid}))
        shims.end()
        remove_ended()
        assert records.exists()
    finally:
        running.kill()
        running.wait()
    remove_ended()
    assert not records.exists()


@pytest.mark.parametrize("runs", [".", "bash"])
def test_a_file_with_background_jobs_has_no_functions(runs, tmp_path, home):
    """A function instead of the command would be another process than `$!`."""
    (home / "run.sh").write_text('"$SPARK_BIN"/spark-submit a.py & wait $!')
    task = Bash(f'"$SPARK_BIN"/spark-submit b.py; {runs} ./run.sh', home)
    collector = armed(task, tmp_path / "records")
    task.execute()
    collector.stop()
    assert ["--py-files" in call for call in task.calls] == [False, False]
    assert any("was called by its name" in problem for problem in collector.run().problems)


def test_the_signal_of_airflow_ends_the_command(tmp_path, home):
    """It goes to the process group of the shell."""
    (home / "bin" / "spark-submit").write_text('#!/bin/sh\n# "$@"\necho ready >"$HOME/pipe"; exec sleep 60\n')
    os.mkfifo(home / "pipe")
    task = Bash("spark-submit a.py; echo never", home)

    def run(command: list[str], env: Any = None, cwd: Any = None) -> int:
        process = subprocess.Popen(command, env=env, cwd=home, start_new_session=True)
        assert (home / "pipe").read_text() == "ready\n"
        os.killpg(process.pid, signal.SIGTERM)
        return process.wait(timeout=10)

    task.subprocess_hook.run_command = run
    collector = armed(task, tmp_path / "records")
    assert task.execute() == -signal.SIGTERM
    collector.stop()
    assert not os.listdir(tempfile.gettempdir())


FETCH = """import shutil, sys
*_, command, source, target = sys.argv
if command == "-get":
    assert source.startswith("s3a://lake/records/d.t/"), sys.argv
    shutil.copytree({store!r}, target, dirs_exist_ok=True)
"""


def test_records_that_only_spark_reads_are_fetched_by_spark_submit(tmp_path, home):
    """That of the command."""
    store = tmp_path / "store"
    driver(f"spark.lineage.records={store.as_uri()}")
    write_command(home / "bin" / "spark-submit", FETCH.format(store=str(store)))
    task = Bash("spark-submit a.py one two three", home)
    collector = armed(task, "s3a://lake/records")
    task.execute()
    collector.stop()
    assert collector.run().lineage.outputs[0].edges
    assert collector.run().problems == ()


# ---- Another machine ---------------------------------------------------------------------------------------

ELSEWHERE = {
    "plain": (1, "spark-submit a.py 'y z' \"\" $'tab\\t'"),
    "no Python": (0, "spark-submit a.jar; spark-submit --version; spark-submit"),
    "options": (1, "spark-submit -v --conf spark.a=b --name='x y' --supervise a.py --py-files z"),
    "bash -c": (1, "set -eux; bash -c 'spark-submit a.py'"),
    "function": (2, 'twice() { "$@"; "$@"; }; twice spark-submit a.py'),
    "path": (1, "<bin>/spark-submit a.py"),
    "exit code": (1, "CODE=7 spark-submit a.py; echo $?; exit 8"),
    "input": (1, "echo line | spark-submit a.py"),
    "line numbers": (1, "spark-submit a.py\nno-such-command"),
    "condition": (1, "if ! CODE=2 spark-submit a.py; then echo no; fi"),
    "trap": (1, "set -e; trap 'echo $?' ERR; CODE=2 spark-submit a.py"),
    "trap of functions": (1, "set -E; trap 'echo $?' ERR; CODE=2 spark-submit a.py; exit 3"),
    "own": (0, "spark-submit a.py --x; spark-submit --conf spark.lineage.records=/own a.py"),
}


@pytest.mark.parametrize("shape", ELSEWHERE)
def test_a_command_on_another_machine_runs_as_without_us(shape, home, tmp_path):
    count, script = ELSEWHERE[shape]
    results = []
    for is_armed in (False, True):
        task = SSH(script.replace("<bin>", str(home / "bin")), home)
        if is_armed:
            armed(task, tmp_path.as_uri(), agent="AGENT")
        result = task.execute()
        calls = task.calls
        (home / "words").unlink()
        if is_armed and count:
            given = [call for call in calls if "AGENT" in call]
            assert len(given) == count
            calls = [without_ours(call) if call in given else call for call in calls]
        results.append((result, calls))
    if count:
        assert results[1] == results[0]
