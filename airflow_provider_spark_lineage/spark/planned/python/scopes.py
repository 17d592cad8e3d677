"""Scopes of a script: the value of each name at a place, and the names that unread code may change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from airflow_provider_spark_lineage.spark.planned.python.values import SEVERAL, Value, merged

SELF = "self"
SUPER = "super()"
"""Name in the scope of a method for the result of `super()`."""

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


def walked(*nodes: ast.AST) -> list[ast.AST]:
    """Return nodes and all nodes below them: as `ast.walk`, but much faster."""
    below = list(nodes)
    for node in below:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                below += [item for item in value if isinstance(item, ast.AST)]
            elif name != "ctx" and isinstance(value, ast.AST):
                below.append(value)
    return below


def has(nodes: Iterable[ast.AST], *kinds: type) -> bool:
    """Return whether any of these kinds of statements is among statements and the blocks inside."""
    return any(not _statements(node).isdisjoint(kinds) for node in nodes)


def _statements(node: ast.AST) -> frozenset[type]:
    """Return the kinds of a statement and of all statements inside; each is asked at each of its runs."""
    kinds: frozenset[type] | None = vars(node).get("_statements")
    if kinds is None:
        blocks = (getattr(node, name, ()) for name in ("body", "orelse", "finalbody", "handlers", "cases"))
        inner = chain.from_iterable(block for block in blocks if isinstance(block, list))
        kinds = frozenset({type(node)}).union(*map(_statements, inner))
        vars(node)["_statements"] = kinds
    return kinds


def yields(node: ast.AST) -> bool:
    """Return whether a function is a generator."""
    if "_yields" not in vars(node):
        vars(node)["_yields"] = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in walked(node))
    return bool(vars(node)["_yields"])


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that statements may assign."""
    names = set()
    for node in walked(*nodes):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                names.add(name)
            case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)) | ast.MatchMapping(rest=str(name)):
                names.add(name)
    return names


@dataclass
class Unsafe:
    """Names whose values may change at places that the reader does not follow."""

    shared: set[str] = field(default_factory=set)
    """Names that functions assign in the scopes around them, other modules, or `:=` inside expressions."""

    changed: set[str] = field(default_factory=set)
    """Names of lists or dicts that some statement changes."""

    attributes: set[str] = field(default_factory=set)
    """Attributes that are assigned from outside of their object."""

    has_setattr: bool = False
    """Any attribute may be assigned."""

    def add(self, nodes: Sequence[ast.AST]) -> None:
        """Note the names that are not safe in a module: other modules may use the same objects."""
        modules = {name for node in nodes for name in _imported(node)}
        for node in nodes:
            if isinstance(node, ast.Name):
                self.has_setattr |= node.id == "setattr"
            elif isinstance(node, ast.Attribute):
                self.has_setattr |= node.attr in ("__dict__", "__setattr__")
                if not isinstance(node.ctx, ast.Load):
                    owner = _word(node.value)
                    self.changed.add(owner)
                    self.attributes.update([node.attr] if owner != SELF else [])
                    self.shared.update([node.attr] if owner in modules else [])
            elif isinstance(node, ast.Global | ast.Nonlocal):
                self.shared.update(node.names)
            elif isinstance(node, ast.NamedExpr):
                self.shared.add(node.target.id)
            elif isinstance(node, ast.Call):
                if isinstance(node.func, ast.Attribute) and node.func.attr not in READS:
                    self.changed.add(_word(node.func.value))
            elif isinstance(node, ast.AugAssign):
                self.changed.add(_word(node.target))
            elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                self.changed.add(_word(node.value))


def identifiers(nodes: Iterable[ast.AST]) -> set[str]:
    """Return all names of variables and parameters."""
    return {
        node.id if isinstance(node, ast.Name) else node.arg
        for node in nodes
        if isinstance(node, ast.Name | ast.arg)
    }


def _word(owner: ast.expr) -> str:
    """Return the name of a list or dict that a statement changes: `a` of `a[0]["b"]` and of `x.a`."""
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    name = getattr(owner, "attr", getattr(owner, "id", ""))
    return name if isinstance(name, str) else ""


def stored(node: ast.ClassDef) -> dict[str, bool]:
    """Return the attributes that methods assign to `self`, and whether only `__init__` does, by `=`."""
    if "_stored" not in vars(node):
        vars(node)["_stored"] = _stored(node)
    attributes: dict[str, bool] = vars(node)["_stored"]
    return attributes


def _stored(node: ast.ClassDef) -> dict[str, bool]:
    plain: set[ast.AST] = set()
    for method in node.body:
        if getattr(method, "name", "") in ("__init__", "__post_init__"):
            for statement in walked(method):
                if isinstance(statement, ast.Assign | ast.AnnAssign):
                    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    plain.update(walked(*targets))
    attributes: dict[str, bool] = {}
    for part in walked(node):
        if not isinstance(part, ast.Attribute) or isinstance(part.ctx, ast.Load):
            continue
        if getattr(part.value, "id", "") == SELF:
            attributes[part.attr] = attributes.get(part.attr, True) and part in plain
    return attributes


def _imported(node: ast.AST) -> Iterable[str]:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return ()
    return (alias.asname or alias.name.partition(".")[0] for alias in node.names)


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the full names of imports."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
