"""Runs a program that ends with the process that started it, together with all that it started itself.

    python lifeline.py LIFELINE_FD COMMAND...

LIFELINE_FD is the reading end of a pipe whose writing end only the starting process has. The system closes
that end however the process ends, by SIGKILL too. When it is closed, and when the command ends, every process
below this one is killed. A program that `runs` starts; it is never imported.

A process group is not enough: Airflow gives every task a group of its own, and some operators a session.
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
"""Of Linux's prctl(2): become the parent of every process below whose own parent ends."""


def main(lifeline: int, command: list[str]) -> int:
    """Run the command, and return its exit code when none of its processes is left."""
    # No other process may read it.
    os.set_inheritable(lifeline, False)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Python ignores these signals, and the command would inherit that.
    pid = os.posix_spawn(command[0], command, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    threading.Thread(target=_kill_at_end_of, args=[lifeline], daemon=True).start()
    while True:
        ended, status = os.wait()
        if ended == pid:
            break
    # Children of a process that has just died are children of this one now: kill until there is none.
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
