"""Scopes of a script: the value of each name at a place, and the names that unread code may change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.planned.python.values import Value, merged

FUNCTIONS = (ast.AsyncFunctionDef, ast.FunctionDef, ast.Lambda)

SUPER = "super()"
"""Name of the result of `super()`, in the scope of a call of a method."""

READS = ("copy", "count", "get", "index", "items", "keys", "values")
"""Methods of a list or a dict that do not change it."""


@dataclass(eq=False)
class Scope:
    """The names of a module, of one call of a function, of a class or of a comprehension."""

    values: dict[str, Value] = field(default_factory=dict)
    outer: Scope | None = None
    is_class: bool = False
    is_comprehension: bool = False
    past: dict[str, Value] = field(default_factory=dict)
    """Name -> its value if it never had another value; otherwise all its values merged."""

    def find(self, name: str) -> Value | None:
        """Return the value of a name; None if the script does not bind it."""
        scope: Scope | None = self
        while scope and name not in scope.values:
            scope = scope.outer
        return scope.values[name] if scope else None

    def bind(self, name: str, value: Value) -> None:
        """Assign a value to a name."""
        self.values[name] = value
        before = self.past.get(name)
        self.past[name] = value if before in (None, value) else merged((before, value), exactly=False)

    def forget_order(self) -> None:
        """Keep only values that names have at any time, for functions whose calls are not in the text."""
        scope: Scope | None = self
        while scope:
            scope.values = scope.past
            scope = scope.outer


def joined_branches(branches: Sequence[Mapping[str, Value]], *, exactly: bool = True) -> dict[str, Value]:
    """Merge the variables of alternative branches."""
    first, *others = branches
    values = dict(first)
    for name in {name for branch in others for name in branch}:
        several = [branch[name] for branch in branches if name in branch]
        if any(value is not several[0] for value in several):
            # A branch that does not bind the name is ignored: a use after it would fail.
            is_same = all(value == several[0] for value in several)
            values[name] = several[0] if is_same else merged(several, exactly=exactly)
        else:
            values[name] = several[0]
    return values


def children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes right below a node."""
    if not isinstance(node, ast.Constant | ast.Name):
        yield from ast.iter_child_nodes(node)


def walk(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes and all nodes below them, in no order and without recursion."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        stack += children(node)


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements may assign."""
    return {
        node.id for node in walk(nodes) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


_FIRST = {
    **dict.fromkeys((ast.Attribute, ast.Await, ast.FormattedValue, ast.Subscript), "value"),
    ast.BinOp: "left",
    ast.Call: "func",
}


def first(node: ast.AST) -> ast.expr | None:
    """Return the first part of an expression: `a` of `a.b`, `a + b`, `a[b]` and `a.b()`."""
    name = _FIRST.get(type(node))
    inner: ast.expr | None = getattr(node, name) if name else None
    return inner.value if name == "func" and isinstance(inner, ast.Attribute) else inner


@dataclass(frozen=True)
class Unsafe:
    """Names whose values may change without the reader's knowledge."""

    shared: frozenset[str]
    """Names that functions assign in the scopes around them."""

    changed: frozenset[str]
    """Names and attributes whose lists or dicts some statement changes."""

    set_late: frozenset[str]
    """Attributes that are assigned outside `__init__`."""

    identifiers: frozenset[str]


def unsafe(nodes: Sequence[ast.AST]) -> Unsafe:
    """Return the names that are not safe anywhere in a script."""
    shared: set[str] = set()
    changed: set[str] = set()
    early: set[ast.AST] = set()
    stored: list[ast.Attribute] = []
    for node in nodes:
        match node:
            case ast.Global(names) | ast.Nonlocal(names):
                shared.update(names)
            case ast.FunctionDef(name="__init__"):
                early.update(walk([node]))
            case ast.Call(ast.Attribute(owner, name)) if name not in READS:
                changed.add(_word(owner))
            case ast.AugAssign(target):
                changed.add(_word(target))
            case ast.Subscript(owner, _, ast.Store() | ast.Del()):
                changed.add(_word(owner))
            case ast.Attribute(owner, _, ast.Store() | ast.Del()):
                changed.add(_word(owner))
                stored.append(node)
    words = {getattr(node, "id", getattr(node, "arg", None)) or "" for node in nodes}
    is_hidden = not words.isdisjoint({"setattr", "vars"}) or any(
        isinstance(node, ast.Attribute) and node.attr == "__dict__" for node in nodes
    )
    late = {node.attr for node in stored if is_hidden or node not in early}
    return Unsafe(frozenset(shared), frozenset(changed), frozenset(late), frozenset(words))


def _word(owner: ast.expr) -> str:
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    name = getattr(owner, "attr", getattr(owner, "id", ""))
    return name if isinstance(name, str) else ""


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the full names of imports."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
