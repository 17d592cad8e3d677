"""`docs/warehouse.md` lists the tables that the package has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "warehouse_page.py"


def test_the_reference_is_that_of_the_tables():
    """`python tools/warehouse_page.py` writes it."""
    done = subprocess.run([sys.executable, str(TOOL), "--check"], check=False)
    assert done.returncode == 0
