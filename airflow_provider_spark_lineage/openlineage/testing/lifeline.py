"""Runs a program and kills it, with all its child processes, when the starting process ends.

    python lifeline.py LIFELINE_FD COMMAND...

LIFELINE_FD is the reading end of a pipe whose writing end only the starting process has. The system closes
that end however the process ends, also by SIGKILL. When it is closed, and when the command ends, every
process below this one is killed. `runs` starts this program; it is never imported.

A process group is not enough: Airflow creates a group for every task, and some operators create a session.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading

import psutil  # a requirement of Airflow

PR_SET_CHILD_SUBREAPER = 36
"""Option of Linux's prctl(2): become the parent of all descendants whose own parent ends."""


def main(lifeline: int, command: list[str]) -> int:
    """Run the command, and return its exit code when all of its processes have ended."""
    # Child processes must not inherit it.
    os.set_inheritable(lifeline, False)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Python ignores these signals; the command would inherit that.
    pid = os.posix_spawn(command[0], command, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    threading.Thread(target=_kill_at_end_of, args=[lifeline], daemon=True).start()
    while True:
        ended, status = os.wait()
        if ended == pid:
            break
    # Children of a killed process become children of this one: repeat until there are none.
    with contextlib.suppress(ChildProcessError):
        while True:
            _kill_all()
            os.wait()
    return os.waitstatus_to_exitcode(status)


def _kill_at_end_of(lifeline: int) -> None:
    os.read(lifeline, 1)
    _kill_all()


def _kill_all() -> None:
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            process.kill()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
