"""The agent in a command: the words that Spark's command gets, the records, and reasons without them."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from armed_commands import Bash, armed, without_ours
from servers.commands import write_command, write_commands
from servers.driver import driver

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

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
