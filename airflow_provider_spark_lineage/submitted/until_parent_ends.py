"""Runs a command that ends, at the latest, with the process that started it.

    python until_parent_ends.py COMMAND...

Standard input is a pipe whose writing end only the starting process has; the system closes that end however
the process ends, by SIGKILL too. A program that `file_system` starts; it is never imported.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


def main(command: list[str]) -> int:
    """Run the command, and return its exit code."""
    # A script of Spark starts processes of its own: a session has all of them.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
    threading.Thread(target=_kill_at_end_of_input, args=[process.pid], daemon=True).start()
    return process.wait()


def _kill_at_end_of_input(session: int) -> None:
    os.read(0, 1)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
