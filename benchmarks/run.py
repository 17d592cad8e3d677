"""Print all figures, one benchmark after the other; `make bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARKS = (
    "import_time",
    "testing",
    "stored",
    "lineage",
    "plan_sizes",
    "run_facets",
    "capture",
    "programs",
    "tpch",
    "nycflights",
    "submitted",
    "connect",
    "checks",
)


def main() -> int:
    here = Path(__file__).resolve().parent
    codes = []
    for name in BENCHMARKS:
        print(f"\n== {name}", flush=True)
        codes.append(subprocess.run([sys.executable, str(here / f"{name}.py")], check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    raise SystemExit(main())
