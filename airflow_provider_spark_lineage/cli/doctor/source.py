"""Static reading of an extractor's module: the imports of Airflow at its top."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_HARMLESS = ("airflow.providers.openlineage.extractors", "airflow.providers.common.compat.openlineage")
"""Modules that define an extractor's base; OpenLineage's plugin has imported them before."""


def airflow_imports(text: str) -> list[str]:
    """Return the modules of Airflow that are imported when the module is, sorted.

    >>> airflow_imports("from airflow.models import DAG")
    ['airflow.models']
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    names = {name for node in _executed(tree) for name in _imported(node)}
    return sorted(
        name for name in names if f"{name}.".startswith("airflow.") and not name.startswith(_HARMLESS)
    )


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run on import: not inside functions, nor under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from _executed(ast.Module(node.orelse, []))
            continue
        yield node
        yield from _executed(node)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module]
    return []
