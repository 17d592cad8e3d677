"""Reads a PySpark script: a list of what its text says that it will read and write.

Every statement is read once, in the order of the text; functions where they are called.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence

from airflow_provider_spark_lineage.plan.planned import Program, Unread
from airflow_provider_spark_lineage.plan.python.evaluation import Evaluator
from airflow_provider_spark_lineage.plan.python.names import FUNCTIONS, INNER, Frame, Table, table
from airflow_provider_spark_lineage.plan.python.reading import Reading
from airflow_provider_spark_lineage.plan.python.values import (
    Arguments,
    Function,
    Items,
    Unknown,
    Value,
)
from airflow_provider_spark_lineage.plan.session import Session


def read_script(
    text: str, arguments: Sequence[str], variables: Mapping[str, str], conf: Mapping[str, str]
) -> Program:
    """Return what a script will read and write; one that is not Python is a program with one gap."""
    program = Program()
    try:
        with warnings.catch_warnings():
            # Python warns of invalid escapes in the script.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        problem = getattr(error, "msg", "it cannot be parsed")
        program.add([Unread(getattr(error, "lineno", 0) or 1, f"the script is not Python: {problem}")])
        return program
    reading = Reading(program, Session({}, conf))
    try:
        _Walk(reading, Evaluator(tree, arguments, variables)).script(tree)
    except RecursionError:
        reading.gap("the script is nested too deeply to be followed further")
    return program


_UNCERTAIN = (ast.BoolOp, ast.ExceptHandler, ast.If, ast.IfExp, ast.While, ast.match_case)
"""What is inside of these may not run."""


class _Walk:
    """Goes through a script."""

    def __init__(self, reading: Reading, evaluator: Evaluator) -> None:
        self._reading = reading
        self._evaluator = evaluator
        self._functions: dict[ast.AST, Function] = {}
        """Functions that nothing has called so far."""
        self._active: set[ast.AST] = set()

    def script(self, tree: ast.Module) -> None:
        """Read a whole script; last the functions that another module may call."""
        self._node(tree, Frame(table(tree.body)))
        while self._functions:
            self._reading.conditions = 1
            self._follow(next(iter(self._functions.values())), Arguments(is_complete=False))

    def _node(self, node: ast.AST, frame: Frame) -> None:
        # Inner ones first, as they run.
        if type(node) in _NODES:
            _NODES[type(node)](self, node, frame)
        else:
            is_main = isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"
            uncertain = isinstance(node, _UNCERTAIN) and not is_main
            self._nodes(ast.iter_child_nodes(node), frame, uncertain=uncertain)

    def _nodes(self, nodes: Iterable[ast.AST], frame: Frame, *, uncertain: bool) -> None:
        self._reading.conditions += uncertain
        for node in nodes:
            self._node(node, frame)
        self._reading.conditions -= uncertain

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        self._functions[node] = Function(node, frame)
        self._nodes([*node.decorator_list, node.args], frame, uncertain=False)

    def _for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
        self._node(node.iter, frame)
        targets = table([node.target]).keys() - table(node.body).keys()
        names: Table = {**frame.table, **table([], targets)}
        value = self._evaluator.value(node.iter, frame)
        items = value.items if isinstance(value, Items) else ()
        for item in items or (Unknown(),):
            bound = {**frame.bound, **_bound(node.target, item)}
            inside = self._evaluator.frame(names, frame.outer, bound)
            self._nodes(node.body, inside or frame, uncertain=not items)
            if inside is None:
                break
        self._nodes(node.orelse, frame, uncertain=True)

    def _inner(self, node: ast.AST, frame: Frame) -> None:
        """Read a class, a comprehension or a lambda, whose own names are not known."""
        stored = (one for one in ast.walk(node) if isinstance(getattr(one, "ctx", None), ast.Store))
        names = {one.id for one in stored if isinstance(one, ast.Name)}
        names |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
        self._nodes(ast.iter_child_nodes(node), Frame(table([], names), frame), uncertain=True)

    def _call(self, node: ast.Call, frame: Frame) -> None:
        self._nodes(ast.iter_child_nodes(node), frame, uncertain=False)
        self._reading.line = node.lineno
        arguments = self._evaluator.arguments(node, frame)
        if isinstance(node.func, ast.Attribute):
            self._reading.call(self._evaluator.value(node.func.value, frame), node.func.attr, arguments)
        elif isinstance(function := self._evaluator.value(node.func, frame), Function):
            self._follow(function, arguments)

    def _follow(self, function: Function, arguments: Arguments) -> None:
        self._functions.pop(function.node, None)
        inside = self._evaluator.called(function, arguments)
        if inside is None:
            self._reading.gap("the script has too many calls to be followed further")
        elif function.node not in self._active:
            self._active.add(function.node)
            self._nodes(function.node.body, inside, uncertain=False)
            self._active.discard(function.node)


def _bound(target: ast.expr, value: Value) -> dict[str, Value]:
    if isinstance(target, ast.Name):
        return {target.id: value}
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    items = value.items if isinstance(value, Items) and len(value.items) == len(parts) else ()
    return {part.id: item for part, item in zip(parts, items, strict=False) if isinstance(part, ast.Name)}


_NODES: Mapping[type, Callable[..., None]] = {
    ast.Call: _Walk._call,
    **dict.fromkeys((ast.AsyncFor, ast.For), _Walk._for),
    **dict.fromkeys(FUNCTIONS, _Walk._function),
    **dict.fromkeys(INNER, _Walk._inner),
}
