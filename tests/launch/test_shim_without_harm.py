"""A command with the shim in front of it behaves as without it, also where something is broken or slow."""

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
from typing import Any

import pytest
from armed_commands import Bash, armed, without_ours
from servers.commands import write_command

from airflow_provider_spark_lineage.airflow.launch.shell.shim import Shims, is_running, remove_ended

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


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

    monkeypatch.setattr("airflow_provider_spark_lineage.airflow.launch.shell.shim.write_agent", fail)
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
