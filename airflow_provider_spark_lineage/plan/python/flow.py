"""How statements are left: which of those behind them do not run, or may not."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from airflow_provider_spark_lineage.plan.python.names import FUNCTIONS, LOOPS, children

ALWAYS, BREAK, CONTINUE, RETURN = "always", "break", "continue", "return"
"""Nothing behind a statement runs; it may go on with another statement, without an error."""

_WAYS: Mapping[type, frozenset[str]] = {
    ast.Break: frozenset({ALWAYS, BREAK}),
    ast.Continue: frozenset({ALWAYS, CONTINUE}),
    ast.Raise: frozenset({ALWAYS}),
    ast.Return: frozenset({ALWAYS, RETURN}),
}
_EXITS = frozenset({"_exit", "exit", "quit"})


class Flow:
    """Knows the ways in which the statements of a script are left."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, frozenset[str]] = {}

    def ways(self, node: ast.AST) -> frozenset[str]:
        """Return the ways in which a statement may be left, besides its end and errors."""
        if node not in self._known:
            self._known[node] = _WAYS.get(type(node)) or self._ways(node)
        return self._known[node]

    def of_block(self, statements: Iterable[ast.AST]) -> frozenset[str]:
        """Return the same for several statements."""
        return frozenset().union(*map(self.ways, statements))

    def _ways(self, node: ast.AST) -> frozenset[str]:
        if isinstance(node, ast.Expr):
            return _of_call(node.value)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            return frozenset()
        if isinstance(node, ast.If):
            body, otherwise = self.of_block(node.body), self.of_block(node.orelse)
            return (body | otherwise) - ({ALWAYS} - (body & otherwise))
        blocks = (ast.stmt, ast.ExceptHandler, ast.match_case)
        ways = self.of_block(one for one in children(node) if isinstance(one, blocks))
        return ways - ({ALWAYS, BREAK, CONTINUE} if isinstance(node, LOOPS) else {ALWAYS})


def _of_call(node: ast.expr) -> frozenset[str]:
    """Return how `sys.exit()` is left; with a code, it fails the job."""
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or getattr(function, "attr", getattr(function, "id", "")) not in _EXITS:
        return frozenset()
    succeeds = not node.args or (isinstance(node.args[0], ast.Constant) and not node.args[0].value)
    return _WAYS[ast.Return] if succeeds else _WAYS[ast.Raise]
