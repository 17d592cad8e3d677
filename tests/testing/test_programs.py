"""Processes of a run end with the process that started it, however that ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from testing.blocked import BLOCKS, Pipe, are_gone

from airflow_provider_spark_lineage.openlineage.testing.runs import ProgramRun

FAMILY = f"""
import os, subprocess, sys

def start(code, **options):
    return subprocess.Popen([sys.executable, "-c", code, *sys.argv[1:]], **options)

# As Airflow starts tasks, as operators start commands, and a daemon whose parent has ended.
family = [
    os.getpid(),
    start("{BLOCKS}", preexec_fn=os.setpgrp).pid,
    start("{BLOCKS}", start_new_session=True).pid,
]
parent = start(
    "import subprocess, sys;"
    "print(subprocess.Popen([sys.executable, '-c', '{BLOCKS}'], stdout=2, start_new_session=True).pid)",
    stdout=subprocess.PIPE,
)
family.append(int(parent.communicate()[0]))
with open(sys.argv[1], "w") as told:
    print(*family, file=told)
"""
"""Starts processes that block, and writes their ids."""

RUNNER = """
import os, signal, subprocess, sys
from pathlib import Path
from airflow_provider_spark_lineage.openlineage.testing.runs import ProgramRun

# As in a terminal: whoever runs the tests in the background has them ignored, and so would this program.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
command, place, home = sys.argv[1:]
arguments = [sys.executable, "-c", command, place]
with ProgramRun(arguments, os.environ, Path(home), subprocess.DEVNULL) as program:
    program.process.wait()
"""


def family(pipe: Pipe) -> list[psutil.Process]:
    """Return the program and its children, as far as they have not ended already."""
    pids = [int(pid) for pid in pipe.read().split()]
    assert len(pids) == 4
    processes = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            processes.append(psutil.Process(pid))
    return processes


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_nothing_outlives_who_started_it(tmp_path: Path, pipe: Pipe, sent: signal.Signals) -> None:
    """Not even processes with a group or session of their own, and whose parent is long gone."""
    command = [sys.executable, "-c", RUNNER, FAMILY + BLOCKS, str(pipe.path), str(tmp_path)]
    # A terminal sends Ctrl-C to a group of its own.
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE) as runner:
        processes = [*family(pipe), *psutil.Process(runner.pid).children(recursive=True)]
        os.killpg(runner.pid, sent)
        assert are_gone(processes)
        assert (b"KeyboardInterrupt" in runner.communicate()[1]) == (sent == signal.SIGINT)


def test_nothing_outlives_the_program(tmp_path: Path, pipe: Pipe) -> None:
    """A program that ends by itself has its exit code, and its leftover children are ended."""
    command = [sys.executable, "-c", f"{FAMILY}\nsys.exit(3)", str(pipe.path)]
    with ProgramRun(command, os.environ, tmp_path, subprocess.DEVNULL) as program:
        processes = family(pipe)
        assert program.process.wait() == 3
        assert are_gone(processes)


def test_a_program_is_ended_when_asked(tmp_path: Path, pipe: Pipe) -> None:
    """As a run that takes too long is; to ask twice does no harm."""
    command = [sys.executable, "-c", FAMILY + BLOCKS, str(pipe.path)]
    with ProgramRun(command, os.environ, tmp_path, subprocess.DEVNULL) as program:
        processes = family(pipe)
        program.end()
        program.end()
        program.process.wait()
        assert are_gone(processes)


def test_a_program_has_the_signals_of_a_shell(tmp_path: Path) -> None:
    """Python ignores a broken pipe for itself; `yes | head` of a task must end all the same."""
    out = tmp_path / "out"
    code = "import signal; print(signal.getsignal(signal.SIGPIPE))"
    # Python's own start hides the environment that it was started with.
    shell = ["/bin/sh", "-c", f"kill -PIPE $$; {sys.executable} -c '{code}'"]
    with out.open("w") as file, ProgramRun(shell, os.environ, tmp_path, file) as program:
        assert program.process.wait() != 0
    assert out.read_text() == ""
