"""Scopes of a script: the value of each name at a place, and the names that unread code may change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from airflow_provider_spark_lineage.planned.python.values import SEVERAL, Value, merged

READS = ("copy", "count", "get", "index", "items", "keys", "values")
"""Methods of a list or a dict that do not change it."""


@dataclass(eq=False)
class Scope:
    """The names of a module, of one call of a function, of a class or of a comprehension."""

    values: dict[str, Value] = field(default_factory=dict)
    outer: Scope | None = None
    is_class: bool = False
    past: dict[str, Value] = field(default_factory=dict)
    """Name -> its value if it never had another value."""

    def find(self, name: str) -> Value | None:
        """Return the value of a name; None if the script does not bind it."""
        scope: Scope | None = self
        while scope and name not in scope.values:
            scope = scope.outer
        return scope.values[name] if scope else None

    def bind(self, name: str, value: Value) -> None:
        """Assign a value to a name."""
        self.values[name] = value
        self.past[name] = merged((self.past.get(name, value), value))

    def forget(self, names: Iterable[str]) -> None:
        """Note that code that may not run, or ran before, assigns these names."""
        for name in names:
            self.bind(name, SEVERAL)

    def forget_order(self) -> None:
        """Keep only values that names have at any time, for functions whose calls are not in the text."""
        scope: Scope | None = self
        while scope:
            scope.values = scope.past
            scope = scope.outer


def joined_branches(branches: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """Merge the names of alternative branches.

    A branch that does not bind a name is ignored: a use after it would fail.
    """
    names = dict.fromkeys(name for branch in branches for name in branch)
    return {name: merged(branch[name] for branch in branches if name in branch) for name in names}


def has(nodes: Iterable[ast.AST], *kinds: type) -> bool:
    """Return whether any of these kinds is among nodes and the nodes below them."""
    return any(isinstance(node, kinds) for node in chain.from_iterable(map(ast.walk, nodes)))


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements may assign."""
    names = set()
    for node in chain.from_iterable(map(ast.walk, nodes)):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                names.add(name)
            case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)) | ast.MatchMapping(rest=str(name)):
                names.add(name)
    return names


@dataclass(frozen=True)
class Unsafe:
    """Names whose values may change at places that the reader does not follow."""

    shared: frozenset[str]
    """Names that functions assign in the scopes around them, or `:=` inside expressions."""

    changed: frozenset[str]
    """Names of lists or dicts that some statement changes."""

    identifiers: frozenset[str]
    """All names."""


def unsafe(nodes: Sequence[ast.AST]) -> Unsafe:
    """Return the names that are not safe anywhere in a script."""
    shared: set[str] = set()
    changed: set[str] = set()
    for node in nodes:
        match node:
            case ast.Global(names) | ast.Nonlocal(names):
                shared.update(names)
            case ast.NamedExpr(ast.Name(name)):
                shared.add(name)
            case ast.Call(ast.Attribute(owner, name)) if name not in READS:
                changed.add(_word(owner))
            case (
                ast.AugAssign(owner)
                | ast.Subscript(owner, _, ast.Store() | ast.Del())
                | ast.Attribute(owner, _, ast.Store() | ast.Del())
            ):
                changed.add(_word(owner))
    words = {getattr(node, "id", getattr(node, "arg", None)) or "" for node in nodes}
    return Unsafe(frozenset(shared), frozenset(changed), frozenset(words))


def _word(owner: ast.expr) -> str:
    """Return the name of a list or dict that a statement changes: `a` of `a[0]["b"]` and of `x.a`."""
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
