"""What the names of a script stand for: all that is assigned to them in their scope, in no order."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.plan.python.values import Module, Value

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.AsyncFor, ast.For, ast.While)
INNER = (ast.ClassDef, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.ListComp, ast.SetComp)
"""Nodes with names of their own, besides functions."""

_NO_PARTS = frozenset(
    {"arg", "attr", "conversion", "ctx", "id", "kind", "level", "op", "ops", "type_comment"}
)
_PARTS: dict[type, tuple[str, ...]] = {ast.Constant: ()}
"""Kind of a node -> the fields that have expressions or statements."""

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


_BINDING = (ast.stmt, ast.Name, ast.NamedExpr, ast.ExceptHandler, ast.MatchAs)


def table(statements: Iterable[ast.AST], parameters: Iterable[str] = ()) -> Table:
    """Return the names that statements bind, besides parameters."""
    found: dict[str, list[Binding]] = {name: [None] for name in parameters}
    targets: set[ast.AST] = set()
    for node in _own(statements):
        for name, binding in _bindings(node, targets) if isinstance(node, _BINDING) else ():
            found.setdefault(name, []).append(binding)
    if any(isinstance(one, Module) and not _FUNCTIONS_OF_SPARK.match(one.name) for one in found.get("*", ())):
        for bindings in found.values():
            # The other module may have the same name.
            if any(isinstance(one, _TEXTS) for one in bindings):
                bindings.append(None)
    return found


_FUNCTIONS_OF_SPARK = re.compile(r"pyspark\.")
_TEXTS = (ast.BinOp, ast.Constant, ast.JoinedStr)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below a node, without those that have nothing to read."""
    kind = type(node)
    if kind not in _PARTS:
        _PARTS[kind] = tuple(name for name in node._fields if name not in _NO_PARTS)
    found: list[ast.AST] = []
    for name in _PARTS[kind]:
        below = getattr(node, name, None)
        if type(below) is list:
            found += [one for one in below if isinstance(one, ast.AST)]
        elif isinstance(below, ast.AST) and type(below) is not ast.Constant:
            found.append(below)
    return found


def walk(nodes: Iterable[ast.AST], besides: tuple[type, ...] = ()) -> Iterator[ast.AST]:
    """Yield nodes and all below them, in no order; of a kind that is left out, only what is below no such."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, besides):
            stack += children(node)


_FIRST = {
    **dict.fromkeys((ast.Attribute, ast.Await, ast.FormattedValue, ast.NamedExpr, ast.Subscript), "value"),
    ast.BinOp: "left",
    ast.Call: "func",
}


def first(node: Binding) -> ast.expr | None:
    """Return the expression that another begins with: `a` of `a.b`, `a + b`, `a[b]` and `a.b()`."""
    name = _FIRST.get(type(node))
    inner: ast.expr | None = getattr(node, name) if name else None
    return inner.value if name == "func" and isinstance(inner, ast.Attribute) else inner


def _own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in walk(nodes, (*FUNCTIONS, *INNER)):
        if not isinstance(node, INNER):
            yield node
            continue
        # A walrus in a comprehension binds outside of it.
        yield from (one for one in walk([node]) if one is node or isinstance(one, ast.NamedExpr))


def _bindings(node: ast.AST, targets: set[ast.AST]) -> Iterator[tuple[str, Binding]]:
    match node:
        case ast.Assign(value=value):
            for target in node.targets:
                yield from _assigned(target, value, targets)
        case ast.AnnAssign(target=ast.Name() as target, value=None):
            targets.add(target)
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
                yield alias.asname or alias.name, Module(f"{'.' * node.level}{node.module}.{alias.name}")
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


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the full names of what other packages give."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def changed(nodes: Sequence[ast.AST]) -> tuple[set[str], set[str]]:
    """Return the names that other scopes assign, and those whose lists and options may change."""
    shared: set[str] = set()
    uses: Counter[str] = Counter()
    reads: Counter[str] = Counter()
    for node in nodes:
        if isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
        elif isinstance(node, ast.Attribute | ast.Subscript):
            owner = node.value
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            is_read = isinstance(node, ast.Subscript) or node.attr in READS
            if isinstance(owner, ast.Name):
                is_change = not isinstance(node.ctx, ast.Load) or (owner is not node.value and not is_read)
                shared |= {owner.id} if is_change else set()
                reads[owner.id] += is_read and owner is node.value
        elif isinstance(node, ast.Name):
            uses[node.id] += isinstance(node.ctx, ast.Load)
        for part in ("iter", "value") if isinstance(node, _ITERATES) else ():
            reads[getattr(getattr(node, part, None), "id", "")] += 1
    # A list may be changed, or given another name, by another use than the one that reads it.
    return shared, {name for name in uses if uses[name] > 1 and uses[name] > reads[name]}


READS = ("get", "items", "keys", "values")
_ITERATES = (ast.AsyncFor, ast.For, ast.Starred, ast.comprehension)
"""Uses of a list or a dict that change nothing; `**` of a call is not among them."""
