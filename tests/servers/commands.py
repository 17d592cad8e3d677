"""Commands of Spark that do what a driver with the agent does, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[1]


def write_commands(folder: Path) -> Path:
    """Write `spark-submit` and `spark-sql`; return their folder, for a PATH."""
    folder.mkdir()
    for name in ("spark-submit", "spark-sql"):
        command = folder / name
        command.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path[:0] = {[str(_TESTS), str(_TESTS.parent)]!r}\n"
            "from servers.driver import driver\nsys.exit(not driver(' '.join(sys.argv)))\n"
        )
        command.chmod(0o755)
    return folder
