"""What the names of a script stand for: all that is assigned to them in their scope, in no order."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.plan.python.values import Module, Value

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
INNER = (ast.ClassDef, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.ListComp, ast.SetComp)
"""Nodes with names of their own, besides functions."""

Binding = ast.AST | Module | None
"""An expression, a function, what is imported; None for what is not known."""
Table = Mapping[str, list[Binding]]


@dataclass(eq=False)
class Frame:
    """The names that are visible at a place: those of a module, a function's call, or a turn of a loop."""

    table: Table
    outer: Frame | None = None
    bound: Mapping[str, Value] = field(default_factory=dict)
    """Parameters, and the targets of a loop."""

    values: dict[object, Value] = field(default_factory=dict)
    """Expression, or name -> its value here."""

    def owner(self, name: str) -> Frame | None:
        """Return where a name is bound."""
        if name in self.table:
            return self
        return self.outer.owner(name) if self.outer else None


def table(statements: Iterable[ast.AST], parameters: Iterable[str] = ()) -> Table:
    """Return the names that statements bind, besides parameters."""
    found: dict[str, list[Binding]] = {name: [None] for name in parameters}
    targets: set[ast.AST] = set()
    for node in _own(statements):
        for name, binding in _bindings(node, targets):
            found.setdefault(name, []).append(binding)
    return found


def _own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield node
        if not isinstance(node, (*FUNCTIONS, *INNER)):
            yield from _own(ast.iter_child_nodes(node))
        elif isinstance(node, INNER):
            # A walrus in a comprehension binds outside of it.
            yield from (one for one in ast.walk(node) if isinstance(one, ast.NamedExpr))


def _bindings(node: ast.AST, targets: set[ast.AST]) -> Iterator[tuple[str, Binding]]:
    match node:
        case ast.Assign(value=value):
            for target in node.targets:
                yield from _assigned(target, value, targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target, value):
            yield from _assigned(target, value, targets)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name, node
        case ast.Import():
            for alias in node.names:
                first = alias.name.partition(".")[0]
                yield alias.asname or first, Module(alias.name if alias.asname else first)
        case ast.ImportFrom():
            for alias in node.names:
                yield alias.asname or alias.name, Module(f"{node.module}.{alias.name}")
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if node not in targets:
            yield name, None
        case ast.ClassDef(name=str(name)) | ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name, None


def _assigned(target: ast.expr, value: ast.expr, targets: set[ast.AST]) -> Iterator[tuple[str, Binding]]:
    if isinstance(target, ast.Name):
        targets.add(target)
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List) and not any(
        isinstance(t, ast.Starred) for t in target.elts
    ):
        for number, part in enumerate(target.elts):
            yield from _assigned(part, ast.Subscript(value, ast.Constant(number), ast.Load()), targets)


def changed(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the names that other scopes assign, and those whose lists and options may change."""
    nodes = list(ast.walk(tree))
    shared = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            shared |= {node.value.id} if isinstance(node.value, ast.Name) else set()
    uses = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    # A list may be changed, or given another name, by another use than the one that reads it.
    return shared, {name for name in uses if uses[name] > 1}
