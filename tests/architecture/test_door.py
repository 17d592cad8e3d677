"""The door of the engine: few names, one module, and nothing that is heavy until it is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from airflow_provider_spark_lineage import spark

ROOT = Path(__file__).resolve().parents[2] / "airflow_provider_spark_lineage"
DOOR = "airflow_provider_spark_lineage.spark"
MOST_NAMES = 40
OF_CAPTURE = {"Arrival", "NewContexts"}


def asked_names(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the names that modules ask of the engine; a name behind the door has its module in front."""
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith(f"{DOOR}."):
                inner = node.module.removeprefix(DOOR)
                yield from ((file, f"{inner}.{alias.name}" if inner else alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((file, alias.name) for alias in node.names if alias.name.startswith(DOOR))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                # A name for `import_module`.
                yield from [(file, node.value)] if node.value.startswith(f"{DOOR}.") else ()


def test_airflows_floor_uses_the_names_of_the_door_and_no_others():
    """The engine may change behind its door. A name that nobody asks for is no part of it."""
    assert {name for _, name in asked_names(ROOT / "airflow")} == {*spark.__all__}


def test_the_door_is_narrow():
    """Where Airflow's floor needs several names for one thing, that thing is a function of the engine."""
    assert len(spark.__all__) <= MOST_NAMES


def test_capture_starts_from_the_plugin_only():
    """Other parts of Airflow's floor get their capture from `Captured`."""
    asked = {
        file.relative_to(ROOT).parts[1] for file, name in asked_names(ROOT / "airflow") if name in OF_CAPTURE
    }
    assert asked == {"plugins"}


def test_names_of_the_door_resolve():
    """The table, the types and `__all__` have the same names."""
    tree = ast.parse((ROOT / "spark" / "__init__.py").read_text(encoding="utf-8"))
    typed = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(DOOR)
        for alias in node.names
    }
    assert typed == {name: f"{DOOR}.{home}" for name, home in spark._HOMES.items()}
    assert typed.keys() == {*spark.__all__}
    assert all(getattr(spark, name) is not None for name in spark.__all__)


def test_the_door_imports_nothing_until_it_is_asked():
    """Each process of Airflow loads it, and so does a driver's `import` of a package below it."""
    program = (
        f"import sys; before = set(sys.modules); import {DOOR}; "
        f"print(*sorted(name for name in set(sys.modules) - before if name.startswith({DOOR!r} + '.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
