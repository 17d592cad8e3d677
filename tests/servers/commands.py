"""Commands of Spark that act as a driver with the agent, and do nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[1]


def write_command(path: Path, code: str) -> None:
    """Write a command in Python. Its first line names no interpreter: the path of ours may hold a space."""
    path.write_text(f"#!/bin/sh\n'''exec' '{sys.executable}' \"$0\" \"$@\"\n' '''\n{code}")
    path.chmod(0o755)


def write_commands(folder: Path) -> Path:
    """Write `spark-submit` and `spark-sql`; return their folder, for a PATH."""
    folder.mkdir()
    for name in ("spark-submit", "spark-sql"):
        write_command(
            folder / name,
            f"import sys\nsys.path[:0] = {[str(_TESTS), str(_TESTS.parent)]!r}\n"
            "from servers.driver import driver\nsys.exit(not driver(' '.join(sys.argv)))\n",
        )
    return folder
