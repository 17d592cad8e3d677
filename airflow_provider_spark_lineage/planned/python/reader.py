"""Reader of a PySpark script: collects the reads and writes in its text.

Statements are read in the order in which they run, functions at their calls, and both branches of a condition
that is not constant.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from airflow_provider_spark_lineage.planned.program import Program, Unread
from airflow_provider_spark_lineage.planned.python.expressions import Expressions, TooLongError
from airflow_provider_spark_lineage.planned.python.methods import CHANGE_THEMSELVES
from airflow_provider_spark_lineage.planned.python.objects import is_spark, result_of
from airflow_provider_spark_lineage.planned.python.reading import Reading
from airflow_provider_spark_lineage.planned.python.scopes import Scope, assigned, has, joined_branches
from airflow_provider_spark_lineage.planned.python.values import (
    Arguments,
    Chain,
    Function,
    Known,
    Module,
    Unknown,
    Value,
    constant,
    items_of,
    merged,
)
from airflow_provider_spark_lineage.planned.session import Session

NOT_PYTHON = "the script is not Python: "
"""Beginning of the reason of the only gap of such a text."""

MAX_DEPTH = 2
"""Limit of calls inside calls: `main()` calls functions that read and write."""


def read_script(
    text: str, arguments: Sequence[str], variables: Mapping[str, str], conf: Mapping[str, str]
) -> Program:
    """Return the reads and writes of a script; a text that is not Python gives a program with one gap."""
    program = Program()
    try:
        with warnings.catch_warnings():
            # Python warns about invalid escapes in the script.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        problem = getattr(error, "msg", "it cannot be parsed")
        program.add([Unread(getattr(error, "lineno", 0) or 1, f"{NOT_PYTHON}{problem}")])
    else:
        reading = Reading(program, Session({}, conf))
        _Walk(reading, Expressions(tree, arguments, variables, reading)).script(tree)
    return program


@dataclass(frozen=True)
class _Waiting:
    """A function that is read at the end, and the gap for it if it reads or writes."""

    function: Function
    line: int = 0
    gap: str = ""


class _Walk:
    """Goes through a script; a statement's method returns True if the next statement never runs."""

    def __init__(self, reading: Reading, expressions: Expressions) -> None:
        self._reading = reading
        self._expressions = expressions
        expressions.follow, expressions.later = self._follow, self._later
        self._waiting: dict[ast.AST, _Waiting] = {}
        """Functions to read at the end: those that are not called, and those that other code may call."""

        self._finished: set[ast.AST] = set()
        """Functions that were read at the end."""

        self._passed: set[ast.AST] = set()
        """Functions that code that is not followed may call."""

        self._active: list[ast.AST] = []
        """The functions that are being read, the innermost last."""

        self._returned: list[list[Value]] = [[]]
        """Return values so far of each of them."""

    def script(self, tree: ast.Module) -> None:
        """Read a whole script, and at last the functions that it does not call."""
        try:
            self._block(tree.body, Scope({"__name__": Known("__main__")}))
            while self._waiting:
                self._read_uncalled(self._waiting.pop(next(iter(self._waiting))))
        except TooLongError:
            self._reading.gap("the script has too many steps to be followed further")

    def _read_uncalled(self, waiting: _Waiting) -> None:
        function = waiting.function
        self._finished.add(function.node)
        function.scope.forget_order()
        before = self._reading.accesses
        with self._reading.below(object()):
            self._read(function, Arguments(is_complete=False))
        if waiting.gap and function.node not in self._passed and self._reading.accesses > before:
            self._reading.line = waiting.line
            self._reading.gap(waiting.gap)

    def _block(self, statements: Sequence[ast.stmt], scope: Scope, *, uncertain: bool = False) -> bool:
        """Read statements; return whether the end of the block is never reached."""
        conditions = [object()] if uncertain else []
        is_sure = True
        for statement in statements:
            with self._reading.below(*conditions):
                if self._statement(statement, scope):
                    return True
            if is_sure and _may_leave(statement):
                conditions.append(object())
                is_sure = False
        return False

    def _statement(self, statement: ast.stmt, scope: Scope) -> bool:
        self._expressions.step()
        try:
            return _STATEMENTS.get(type(statement), _Walk._other)(self, statement, scope) is True
        except RecursionError:
            self._reading.line = statement.lineno
            self._reading.gap("the script is nested too deeply to be followed here")
            scope.forget(assigned([statement]))
            return False

    def _other(self, node: ast.AST, scope: Scope) -> None:
        """Read any other statement: its blocks may not run, and the names that it assigns are not known."""
        scope.forget(assigned([node]))
        is_sure = isinstance(node, ast.stmt)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                (self._expressions.value if is_sure else self._expressions.uncertain)(child, scope)
            elif isinstance(child, ast.stmt):
                self._block([child], scope, uncertain=True)
            else:
                self._other(child, scope)
        scope.forget(assigned([node]))

    # --- Statements with blocks

    def _branches(self, blocks: Iterable[Sequence[ast.stmt]], scope: Scope) -> bool:
        """Read alternative blocks: one of them runs."""
        before, ends = scope.values, []
        for block in blocks:
            scope.values = dict(before)
            if not self._block(block, scope, uncertain=True):
                ends.append(scope.values)
        scope.values = joined_branches(ends or [before])
        return not ends

    def _if(self, node: ast.If, scope: Scope) -> bool:
        test = constant(self._expressions.value(node.test, scope))
        if test is None:
            return self._branches((node.body, node.orelse), scope)
        return self._block(node.body if test.value else node.orelse, scope)

    def _for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        items = items_of(self._expressions.value(node.iter, scope))
        leaves, continues = has(node.body, ast.Break, ast.Return), has(node.body, ast.Continue)
        is_unknown = not items
        for item in items or (Unknown(),):
            if is_unknown:
                # An earlier iteration may have assigned the names.
                scope.forget(assigned([node]))
            self._expressions.assign(node.target, item, scope)
            ended = self._block(node.body, scope, uncertain=not items or (leaves and is_unknown))
            is_unknown |= leaves or continues
            if ended and not continues:
                break
        self._block(node.orelse, scope, uncertain=leaves)
        if is_unknown:
            scope.forget(assigned([node]))

    def _while(self, node: ast.While, scope: Scope) -> bool:
        test = constant(self._expressions.value(node.test, scope))
        if test and not test.value:
            return self._block(node.orelse, scope)
        leaves = has(node.body, ast.Break, ast.Return)
        scope.forget(assigned([node]))
        self._block(node.body, scope, uncertain=test is None)
        self._block(node.orelse, scope, uncertain=leaves)
        scope.forget(assigned([node]))
        return test is not None and not leaves

    def _try(self, node: ast.Try, scope: Scope) -> bool:
        before = Scope(dict(scope.values))
        before.forget(assigned(node.body))
        ended = self._block([*node.body, *node.orelse], scope)
        ends = [] if ended else [scope.values]
        for handler in node.handlers:
            scope.values = dict(before.values)
            self._expressions.uncertain(handler.type, scope)
            if handler.name:
                scope.bind(handler.name, Unknown())
            if not self._block(handler.body, scope, uncertain=True):
                ends.append(scope.values)
        scope.values = joined_branches(ends or [before.values])
        return self._block(node.finalbody, scope) or not ends

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        for item in node.items:
            value = self._expressions.value(item.context_expr, scope)
            if item.optional_vars:
                entered = value if isinstance(value, Chain) else Unknown()
                self._expressions.assign(item.optional_vars, entered, scope)
        ended = self._block(node.body, scope)
        suppresses = any("suppress(" in ast.unparse(item.context_expr) for item in node.items)
        scope.forget(assigned(node.body) if suppresses else ())
        return ended and not suppresses

    # --- Statements that leave

    def _expression(self, node: ast.Expr, scope: Scope) -> bool:
        value = self._expressions.value(node.value, scope)
        if isinstance(value, Chain) and value.kind in CHANGE_THEMSELVES:
            owner: ast.AST = node.value
            while isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute):
                owner = owner.func.value
            if isinstance(owner, ast.Name) and owner.id in scope.values:
                scope.bind(owner.id, value)
        return _ends_program(node.value)

    def _leave(self, node: ast.stmt, scope: Scope) -> bool:
        self._other(node, scope)
        return True

    def _return(self, node: ast.Return, scope: Scope) -> bool:
        value = self._expressions.value(node.value, scope) if node.value else Known(None)
        self._returned[-1].append(value)
        return True

    # --- Statements that bind names

    def _assign(self, node: ast.Assign | ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            value = self._expressions.value(node.value, scope)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._expressions.assign(target, value, scope)

    def _import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            scope.bind(alias.asname or top, Module(alias.name if alias.asname else top))

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        for alias in node.names:
            name = f"{'.' * node.level}{node.module or ''}.{alias.name}"
            if alias.name != "*":
                scope.bind(alias.asname or alias.name, self._expressions.imported(name))
            elif not is_spark(node.module or ""):
                # The other module may define the same names.
                scope.forget([name for name, value in scope.values.items() if constant(value)])

    # --- Functions and classes

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        for part in node.decorator_list:
            self._expressions.value(part, scope)
        function = self._expressions.function(node, scope)
        gap = f"the script does not call `{node.name}`: it may or may not run"
        self._waiting[node] = _Waiting(function, node.lineno, gap)
        # A decorator may call the function with other arguments, and give other results.
        scope.bind(node.name, Unknown() if node.decorator_list else function)
        self._passed.update([node] if node.decorator_list else [])

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self._expressions.value(part, scope)
        self._block(node.body, Scope(outer=scope, is_class=True))
        gap = f"the objects of the class `{node.name}` are not followed: its methods may or may not run"
        for method in self._waiting.keys() & set(node.body):
            self._waiting[method] = _Waiting(self._waiting[method].function, node.lineno, gap)
            self._passed.discard(method)
        scope.bind(node.name, Unknown())

    def _later(self, function: Function) -> None:
        if function.node not in self._finished:
            self._waiting[function.node] = _Waiting(function)
            self._passed.add(function.node)

    def _follow(self, function: Function, arguments: Arguments) -> Value:
        """Read a called function, and return its result."""
        node = function.node
        if node in self._active or len(self._active) >= MAX_DEPTH:
            self._later(function)
            return result_of(getattr(node, "name", ""))
        if node not in self._passed:
            self._waiting.pop(node, None)
        return self._read(function, arguments)

    def _read(self, function: Function, arguments: Arguments) -> Value:
        node, line = function.node, self._reading.line
        scope = Scope(outer=function.scope)
        for parameter, value in self._expressions.parameters(function, arguments):
            self._expressions.bind(parameter, value, scope)
        self._active.append(node)
        self._returned.append([])
        try:
            if isinstance(node, ast.Lambda):
                return self._expressions.value(node.body, scope)
            ended = self._block(node.body, scope)
        finally:
            self._active.pop()
            returned = self._returned.pop()
            self._reading.line = line
        returned += [] if ended else [Known(None)]
        if isinstance(node, ast.AsyncFunctionDef) or has(node.body, ast.Yield, ast.YieldFrom):
            returned = []
        value = merged(returned) if returned else Unknown()
        return result_of(node.name) if isinstance(value, Unknown) else value


_LOOPS = (ast.AsyncFor, ast.For, ast.While)
_DEFINITIONS = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef)


def _may_leave(statement: ast.stmt) -> bool:
    """Return whether the statements after this one may not run, although those after the block do."""
    jumps = () if isinstance(statement, _LOOPS) else (ast.Break, ast.Continue)
    return has([statement], ast.Return, *jumps) and not isinstance(statement, _DEFINITIONS)


_EXITS = frozenset({("", "_exit"), ("", "exit"), ("", "quit"), ("os", "_exit"), ("sys", "exit")})
"""Functions that end the program, with their module: other objects have methods of the same names."""


def _ends_program(node: ast.AST) -> bool:
    match node:
        case ast.Call(ast.Name(name)):
            return ("", name) in _EXITS
        case ast.Call(ast.Attribute(ast.Name(module), name)):
            return (module, name) in _EXITS
    return False


_STATEMENTS: Mapping[type, Callable[..., bool | None]] = {
    ast.ClassDef: _Walk._class,
    ast.Expr: _Walk._expression,
    ast.If: _Walk._if,
    ast.Import: _Walk._import,
    ast.ImportFrom: _Walk._import_from,
    ast.Return: _Walk._return,
    ast.While: _Walk._while,
    **dict.fromkeys((ast.AnnAssign, ast.Assign), _Walk._assign),
    **dict.fromkeys((ast.AsyncFor, ast.For), _Walk._for),
    **dict.fromkeys((ast.AsyncFunctionDef, ast.FunctionDef), _Walk._function),
    **dict.fromkeys((ast.AsyncWith, ast.With), _Walk._with),
    **dict.fromkeys((ast.Break, ast.Continue, ast.Raise), _Walk._leave),
    **dict.fromkeys((ast.Try, getattr(ast, "TryStar", ast.Try)), _Walk._try),
}
