"""Reads a PySpark script: a list of what its text says that it will read and write.

Every statement is read once, in the order of the text; functions where they are called.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from airflow_provider_spark_lineage.plan.planned import Program, Unread
from airflow_provider_spark_lineage.plan.python.evaluation import Evaluator
from airflow_provider_spark_lineage.plan.python.flow import ALWAYS, BREAK, RETURN, Flow
from airflow_provider_spark_lineage.plan.python.methods import matters
from airflow_provider_spark_lineage.plan.python.names import (
    FUNCTIONS,
    INNER,
    Frame,
    Table,
    children,
    first,
    table,
    walk,
)
from airflow_provider_spark_lineage.plan.python.reading import Reading
from airflow_provider_spark_lineage.plan.python.values import (
    Arguments,
    Function,
    Items,
    Known,
    Method,
    Module,
    Unknown,
    Value,
    constant,
    items_of,
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
    _Walk(reading, Evaluator(tree, arguments, variables)).script(tree)
    return program


MAX_STEPS = 50_000
"""Limit of the parts of statements that are read: some seconds of work."""


class _TooLongError(Exception):
    """The limit is reached."""


_UNCERTAIN = (ast.BoolOp, ast.ExceptHandler, ast.IfExp, ast.match_case)
"""What is inside of these may not run."""


class _Walk:
    """Goes through a script."""

    def __init__(self, reading: Reading, evaluator: Evaluator) -> None:
        self._reading = reading
        self._evaluator = evaluator
        self._functions: dict[ast.AST, Function] = {}
        """Functions that nothing has called so far."""
        self._active: Counter[ast.AST] = Counter()
        self._flow = Flow()
        self._steps = 0

    def script(self, tree: ast.Module) -> None:
        """Read a whole script; last the functions that another module may call."""
        try:
            self._block(tree.body, Frame(table(tree.body)))
            while self._functions:
                self._reading.conditions = 1
                self._follow(next(iter(self._functions.values())), Arguments(is_complete=False))
        except _TooLongError:
            self._reading.gap("the script does too much to be followed further")

    def _block(self, statements: Sequence[ast.stmt], frame: Frame, *, uncertain: bool = False) -> None:
        """Read statements up to one that always leaves; those after one that may leave may not run."""
        before = self._reading.conditions
        now = before + uncertain
        for statement in statements:
            self._reading.conditions = now
            try:
                self._node(statement, frame)
                ways = self._flow.ways(statement)
            except RecursionError:
                self._reading.line, ways = statement.lineno, frozenset()
                self._reading.gap("the script is nested too deeply to be followed here")
            if ALWAYS in ways:
                break
            now += bool(ways)
        self._reading.conditions = before

    def _node(self, node: ast.AST, frame: Frame) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise _TooLongError
        # Inner ones first, as they run; without recursion where a chain of methods begins.
        chain = []
        while (begin := first(node)) is not None:
            chain.append(node)
            node = begin
        if type(node) in _NODES:
            _NODES[type(node)](self, node, frame)
        elif type(node) is not ast.Name:
            self._below(node, frame, uncertain=isinstance(node, _UNCERTAIN))
        for one in reversed(chain):
            for part in children(one):
                if part is not node and part is not getattr(one, "func", None):
                    self._node(part, frame)
            if isinstance(one, ast.Call):
                self._call(one, frame)
            node = one

    def _below(self, node: ast.AST, frame: Frame, *, uncertain: bool = False) -> None:
        """Read everything inside of a node."""
        before = self._reading.conditions
        self._reading.conditions += uncertain
        is_compound = isinstance(getattr(node, "body", None), list)
        for one in children(node):
            if not is_compound or not isinstance(one, ast.stmt | ast.ExceptHandler):
                self._node(one, frame)
        for name in ("body", "handlers", "orelse", "finalbody") if is_compound else ():
            self._block(getattr(node, name, ()), frame)
        self._reading.conditions = before

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> None:
        self._functions[node] = Function(node, frame)
        for part in (*node.decorator_list, node.args):
            self._node(part, frame)

    def _if(self, node: ast.If | ast.While, frame: Frame) -> None:
        self._node(node.test, frame)
        is_main = isinstance(node.test, ast.Compare) and ast.unparse(node.test) == "__name__ == '__main__'"
        test = Known(True) if is_main else constant(self._evaluator.value(node.test, frame))
        if test is None or test.value:
            self._block(node.body, frame, uncertain=test is None)
        if test is None or not test.value or isinstance(node, ast.While):
            self._block(node.orelse, frame, uncertain=test is None)

    def _for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> None:
        self._node(node.iter, frame)
        targets = table([node.target]).keys() - table(node.body).keys()
        names: Table = {**frame.table, **table([], targets)}
        items = items_of(self._evaluator.value(node.iter, frame))
        ends = any(isinstance(one, ast.Break | ast.Raise | ast.Return) for one in node.body)
        may_end = bool(self._flow.of_block(node.body) & {BREAK, RETURN})
        for number, item in enumerate(items[: 1 if ends else None] or (Unknown(),)):
            bound = {**frame.bound, **_bound(node.target, item)}
            inside = self._evaluator.frame(names, frame.outer, bound)
            self._block(node.body, inside or frame, uncertain=not items or (number > 0 and may_end))
            if inside is None:
                break
        self._block(node.orelse, frame, uncertain=may_end)

    def _inner(self, node: ast.AST, frame: Frame) -> None:
        """Read a class, a comprehension or a lambda, whose own names are not known."""
        nodes = list(walk([node]))
        names = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        names |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        self._below(node, Frame(table([], names), frame), uncertain=True)

    def _call(self, node: ast.Call, frame: Frame) -> None:
        """Read a call; its parts are read before."""
        self._reading.line = node.lineno
        arguments = self._evaluator.arguments(node, frame)
        self._reading.passed(arguments)
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            receiver = self._evaluator.value(node.func.value, frame)
            if matters(name):
                self._reading.call(receiver, name, arguments)
            elif isinstance(receiver, Module):
                self._reading.of_module(f"{receiver.name}.{name}", arguments)
            return
        function = self._evaluator.value(node.func, frame)
        if isinstance(function, Function):
            self._follow(function, arguments)
        elif isinstance(function, Method):
            self._reading.call(function.receiver, function.name, arguments)
        elif isinstance(function, Module):
            self._reading.of_module(function.name, arguments)

    def _follow(self, function: Function, arguments: Arguments) -> None:
        self._functions.pop(function.node, None)
        depth = self._active[function.node]
        if depth > 1:
            return
        # Inside of itself a function is read once more, for any arguments.
        inside = self._evaluator.called(function, Arguments(is_complete=False) if depth else arguments)
        if inside is None:
            self._reading.gap("the script has too many calls to be followed further")
            return
        self._active[function.node] += 1
        try:
            self._block(function.node.body, inside, uncertain=depth > 0)
        finally:
            self._active[function.node] -= 1


def _bound(target: ast.expr, value: Value) -> dict[str, Value]:
    if isinstance(target, ast.Name):
        return {target.id: value}
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    items = value.items if isinstance(value, Items) and len(value.items) == len(parts) else ()
    return {part.id: item for part, item in zip(parts, items, strict=False) if isinstance(part, ast.Name)}


_NODES: Mapping[type, Callable[..., None]] = {
    **dict.fromkeys((ast.If, ast.While), _Walk._if),
    **dict.fromkeys((ast.AsyncFor, ast.For), _Walk._for),
    **dict.fromkeys(FUNCTIONS, _Walk._function),
    **dict.fromkeys(INNER, _Walk._inner),
}
