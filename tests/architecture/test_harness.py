"""The harness is for every OpenLineage producer: it knows nothing of Spark, and no lineage imports it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "airflow_provider_spark_lineage"
HARNESS = ("openlineage/events", "openlineage/testing", "openlineage/transports")
TOOLS = (
    *(
        "cli",
        "openlineage/graph",
        "openlineage/policy",
        "openlineage/viewer",
        "openlineage/warehouse",
        "airflow/ui",
        "airflow/draft_rules.py",
        "pytest_plugin.py",
    ),
    *("testing", "transports"),
)
"""What calls the harness, or reads events with it; none of it runs in a task."""

OWN_FACETS = ("facts.py", "flows.py", "runs.py")
"""Modules of `events` that read run facets of any producer by their names, ours, too."""

OUR_NAMES = re.compile(r"airflow[-_]provider[-_]spark[-_]lineage|spark-lineage|SparkLineageError")


def modules(*parts: str) -> list[Path]:
    roots = [PACKAGE / part for part in parts]
    assert all(root.exists() for root in roots)
    return sorted(file for root in roots for file in ([root] if root.is_file() else root.rglob("*.py")))


GENERAL = [file for file in modules(*HARNESS) if file.name not in OWN_FACETS]


@pytest.mark.parametrize("file", GENERAL, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_the_harness_does_not_mention_spark(file):
    """Rules about our events are an argument (`draft_rules`), so that others can use the harness."""
    text = OUR_NAMES.sub("", file.read_text(encoding="utf-8"))
    assert re.findall(r"(?i).*spark.*", text) == []


def imported(file: Path) -> set[str]:
    """Every name that a module imports, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    return names


def test_only_tools_import_the_harness():
    """Lineage runs in every task, where the harness and its libraries need not be installed."""
    theirs = {*modules(*HARNESS), *modules(*TOOLS)}
    parts = (*HARNESS, "airflow/draft_rules", "pytest_plugin", "testing", "transports")
    harness = tuple(f"{PACKAGE.name}.{part.replace('/', '.')}" for part in parts)
    importing = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if file not in theirs
        and any(f"{name}.".startswith(f"{part}.") for name in imported(file) for part in harness)
    }
    assert importing == set()
