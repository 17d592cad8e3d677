"""Runs a command that ends, at the latest, with the process that started it.

    python until_parent_ends.py COMMAND...

Standard input is a pipe whose writing end only the starting process has: the system closes it when that
process ends, even by SIGKILL. `file_system` starts this program; it is never imported.
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
    # Spark's scripts start more processes: a new session contains all of them.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603
    threading.Thread(target=_kill_at_end_of_input, args=[process.pid], daemon=True).start()
    return process.wait()


def _kill_at_end_of_input(session: int) -> None:
    os.read(0, 1)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
