"""Static reading of an extractor's module: imports of Airflow at its top, names of older packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_HARMLESS = ("airflow.providers.openlineage.extractors", "airflow.providers.common.compat.openlineage")
"""Modules that define an extractor's base; OpenLineage's plugin has imported them before."""

_LEGACY = ("TaskMetadata", "openlineage.airflow")
"""The result of an extractor in the package `openlineage-airflow`, and its modules."""


def airflow_imports(text: str) -> list[str]:
    """Return the modules of Airflow that are imported when the module is, sorted.

    >>> airflow_imports("from airflow.models import DAG")
    ['airflow.models']
    """
    names = [name for node in _executed(_parsed(text)) for name in _imported(node)]
    return sorted({name for name in names if _is_airflow(name) and not name.startswith(_HARMLESS)})


def legacy_names(text: str) -> list[str]:
    """Return the names of `openlineage-airflow` that a module uses."""
    nodes = list(ast.walk(_parsed(text)))
    names = {name for node in nodes for name in _imported(node)}
    names |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    names |= {node.id for node in nodes if isinstance(node, ast.Name)}
    return [legacy for legacy in _LEGACY if any(f"{name}.".startswith(f"{legacy}.") for name in names)]


def _parsed(text: str) -> ast.AST:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run on import: not inside functions, nor under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from _executed(ast.Module([other], []))
            continue
        yield node
        yield from _executed(node)


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module


def _is_airflow(name: str) -> bool:
    return name == "airflow" or name.startswith("airflow.")
