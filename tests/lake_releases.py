"""Runs the live tests of Delta and Iceberg with every release for every Spark, and prints a line for each.

python tests/lake_releases.py            all: `make lakes`, an hour or two
python tests/lake_releases.py 3.5 4.0    those of some lines of Spark
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

from rich.console import Console
from spark_packages import LAKES

ROOT = Path(__file__).resolve().parents[1]
TESTS = tuple(f"tests/live/test_live_{name}.py" for name in ("delta", "delta_writes", "iceberg"))
console = Console(highlight=False)


def main(lines: list[str]) -> int:
    """Return the exit code: 1 where a test failed."""
    failed = False
    for line in lines or sorted(LAKES["delta"]):
        spark = installed(line)
        rounds = zip_longest(*(LAKES[name].get(line, ()) for name in LAKES))
        for number, releases in enumerate(rounds, 1):
            given = {
                f"{name.upper()}_RELEASE": release or ""
                for name, release in zip(LAKES, releases, strict=True)
            }
            log = spark / f"round-{number}.log"
            passed = run(spark, given, log)
            failed |= not passed
            names = " ".join(release for release in releases if release)
            console.print(f"{'[green]passed' if passed else '[red]FAILED'}[/] Spark {line} {names}")
            if not passed:
                console.print(f"  see {log.relative_to(ROOT)}")
    return int(failed)


def installed(line: str) -> Path:
    """Return the folder of a PySpark that takes precedence over the environment's."""
    folder = ROOT / ".spark" / line
    if not (folder / "pyspark").exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--target",
            str(folder),
            f"pyspark=={line}.*",
        ]
        subprocess.run(command, check=True)
    return folder


def run(spark: Path, releases: dict[str, str], log: Path) -> bool:
    """Run the tests with some releases; return whether all passed."""
    environment = {**os.environ, **releases, "PYTHONPATH": str(spark)}
    command = [sys.executable, "-m", "pytest", "-q", *TESTS]
    with log.open("w", encoding="utf-8") as out:
        return subprocess.call(command, cwd=ROOT, env=environment, stdout=out, stderr=out) == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
