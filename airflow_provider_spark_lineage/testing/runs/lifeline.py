"""Runs a program that ends with whoever started it, together with all that it started itself.

    python lifeline.py LIFELINE_FD COMMAND...

LIFELINE_FD is the end for reading of a pipe, of which only the starting process has the end for writing. The
system closes that however the process ends, by SIGKILL too, and closing it is also how the process ends a run
that takes too long. When it is closed, and when the command ends, every process below this one is killed.
Started by `processes`, never imported.

A process group would not do: Airflow gives every task one of its own, and some operators a session.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading

import psutil  # Airflow requires it

PR_SET_CHILD_SUBREAPER = 36
"""Of Linux's prctl(2)."""


def main(lifeline: int, command: list[str]) -> int:
    """Run the command, and return its exit code when nothing of it is left."""
    # Nobody else may read it, and the end for writing was never here.
    os.set_inheritable(lifeline, False)
    _adopt_orphans()
    # Python ignores these signals, which a program would inherit.
    pid = os.posix_spawn(command[0], command, os.environ, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])
    threading.Thread(target=_wait_for_the_end_of, args=[lifeline], daemon=True).start()
    while True:
        ended, status = os.wait()
        if ended == pid:
            break
    _end_all()
    return os.waitstatus_to_exitcode(status)


def _adopt_orphans() -> None:
    """On Linux, be the parent of every process below whose own parent ends, so that none gets away."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for_the_end_of(lifeline: int) -> None:
    os.read(lifeline, 1)
    # With the command among them, so the main thread goes on to end what was started meanwhile.
    _kill_all()


def _kill_all() -> None:
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            process.kill()


def _end_all() -> None:
    """Kill until there is no child left: those of a process that has just died are children by now."""
    with contextlib.suppress(ChildProcessError):
        while True:
            _kill_all()
            os.wait()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
