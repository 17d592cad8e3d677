"""Limits of code on the cluster's driver: Python 3.9 syntax, and the standard library alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import airflow_provider_spark_lineage

ROOT = Path(airflow_provider_spark_lineage.__file__).parent / "spark"
OURS = "airflow_provider_spark_lineage"
FILES = sorted(
    [
        ROOT / "guard.py",
        *(ROOT / "gaps").rglob("*.py"),
        *(ROOT / "records").rglob("*.py"),
        *(ROOT / "agent").rglob("*.py"),
        *(ROOT / "sources").rglob("*.py"),
        *(ROOT / "capture").rglob("*.py"),
    ]
)
STANDARD = sys.stdlib_module_names - {"tomllib"}
"""The standard library of Python 3.9, whatever interpreter runs this test."""

LAZY = {"grpc", "pyarrow", "pyspark", "py4j"}
"""What `capture/` may import, inside functions only: a job that never opens a session must not pay for it.

The client of Spark Connect cannot be imported without grpc and pyarrow, so where it is they are."""


def _ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _imported(node: ast.AST) -> list[str]:
    """Return the top-level packages that one statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "absolute imports only"
        return [(node.module or "").partition(".")[0]]
    return []


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _module_level(tree: ast.AST) -> list[ast.AST]:
    """Return the statements that run at import: those in functions and for type checkers do not."""
    nodes: list[ast.AST] = []
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) or _is_for_types(child):
            continue
        nodes += [child, *_module_level(child)]
    return nodes


def _in_functions(tree: ast.AST) -> list[ast.AST]:
    return [
        inner
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for inner in ast.walk(node)
    ]


@pytest.mark.parametrize("path", FILES, ids=_ids)
def test_parses_as_python_3_9(path):
    """A `match` statement or `except*` here would break every driver that still runs Python 3.9."""
    ast.parse(path.read_text(encoding="utf-8"), filename=str(path), feature_version=(3, 9))


@pytest.mark.parametrize("path", FILES, ids=_ids)
def test_annotations_are_not_evaluated(path):
    """`str | None` parses on Python 3.9 and fails there at import, unless annotations stay text."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    futures = [
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    ]
    if [node for node in tree.body if not isinstance(node, ast.Expr)]:
        assert "annotations" in futures


@pytest.mark.parametrize("path", FILES, ids=_ids)
def test_imports_only_the_standard_library(path):
    """A cluster has Spark's packages and nothing that we would have to install there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_import = {name for node in _module_level(tree) for name in _imported(node)}
    assert at_import - STANDARD - {OURS} == set()
    later = {name for node in _in_functions(tree) for name in _imported(node)}
    allowed = LAZY if "capture" in path.relative_to(ROOT).parts else set()
    assert later - STANDARD - {OURS} - allowed == set()


def test_the_checks_detect_forbidden_code():
    """A check that cannot fail protects nothing: one file that breaks every rule."""
    tree = ast.parse(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import rich\n"
        "try:\n    import pyspark.sql\nexcept ImportError:\n    pass\n"
        "def capture():\n    from airflow.sdk import conf\n"
    )
    assert {name for node in _module_level(tree) for name in _imported(node)} == {"typing", "pyspark"}
    assert {name for node in _in_functions(tree) for name in _imported(node)} == {"airflow"}
    with pytest.raises(SyntaxError):
        ast.parse("match value:\n    case 1:\n        pass\n", feature_version=(3, 9))
