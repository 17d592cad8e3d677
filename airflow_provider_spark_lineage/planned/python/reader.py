"""Reader of a PySpark script: collects the reads and writes in its text.

Statements are read in the order in which they run, functions at their calls, and both branches of a condition
that is not constant.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from airflow_provider_spark_lineage.planned.program import Program, Unread
from airflow_provider_spark_lineage.planned.python import methods
from airflow_provider_spark_lineage.planned.python.classes import base_of, class_of
from airflow_provider_spark_lineage.planned.python.evaluation import Evaluator, TooLongError
from airflow_provider_spark_lineage.planned.python.reading import Reading
from airflow_provider_spark_lineage.planned.python.scopes import (
    SUPER,
    Scope,
    assigned,
    children,
    first,
    joined_branches,
    walk,
)
from airflow_provider_spark_lineage.planned.python.texts import OPERATORS, each
from airflow_provider_spark_lineage.planned.python.values import (
    SEVERAL,
    Arguments,
    Chain,
    Class,
    Container,
    Function,
    Known,
    Module,
    Unknown,
    Value,
    change,
    constant,
    items_of,
    merged,
)
from airflow_provider_spark_lineage.planned.session import Session


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
        program.add([Unread(getattr(error, "lineno", 0) or 1, f"the script is not Python: {problem}")])
        return program
    reading = Reading(program, Session({}, conf))
    _Walk(reading, Evaluator(tree, arguments, variables, reading)).script(tree)
    return program


MAX_TURNS = 5_000
"""Limit of calls and loop iterations that are read separately."""

Exits = frozenset[str]
"""Ways in which statements may end, other than by an error."""

END, BREAK, CONTINUE, RETURN = "end", "break", "continue", "return"
"""`END`: the statements after it never run. The others: how control may leave, always (with `END`) or not."""

_NOWHERE: Exits = frozenset()
_EXITS = frozenset({"_exit", "exit", "os._exit", "quit", "sys.exit"})
"""Functions that end the program, with their module: other objects have methods of the same names."""


class _Walk:
    """Goes through a script."""

    def __init__(self, reading: Reading, evaluator: Evaluator) -> None:
        self._reading = reading
        self._evaluator = evaluator
        evaluator.follow, evaluator.later = self._follow, self._later
        self._functions: dict[ast.AST, Function] = {}
        """Functions to read at the end: not called so far, or called only by code that is not followed."""

        self._elsewhere: set[ast.AST] = set()
        """Functions that code that is not followed may call."""

        self._active: Counter[ast.AST] = Counter()
        self._returned: list[list[Value]] = [[]]
        """Return values so far of each function that is being read, the innermost last."""

        self._turns = 0

    def script(self, tree: ast.Module) -> None:
        """Read a whole script, and at last the functions that another module may call."""
        try:
            self._block(tree.body, Scope({"__name__": Known("__main__")}))
            while self._functions:
                function = self._functions.pop(next(iter(self._functions)))
                function.scope.forget_order()
                before = self._reading.accesses
                with self._reading.below(object()):
                    self._follow(function, Arguments(is_complete=False))
                node = function.node
                if isinstance(node, ast.Lambda) or node in self._elsewhere:
                    continue
                if self._reading.accesses > before:
                    self._reading.line = node.lineno
                    self._reading.gap(f"the script does not call `{node.name}`: it may or may not run")
        except TooLongError:
            self._reading.gap("the script has too many steps to be followed further")

    def _block(self, statements: Sequence[ast.stmt], scope: Scope, *, uncertain: bool = False) -> Exits:
        """Read statements until one always ends the block; after one that may end it, they may not run."""
        exits = _NOWHERE
        conditions = [object()] if uncertain else []
        for statement in statements:
            with self._reading.below(*conditions):
                try:
                    self._evaluator.step()
                    read = _STATEMENTS.get(type(statement), _Walk._expressions)
                    left = read(self, statement, scope)
                except RecursionError:
                    left = _NOWHERE
                    self._reading.line = statement.lineno
                    self._reading.gap("the script is nested too deeply to be followed here")
            conditions += [object()] if left and not exits else []
            exits |= left
            if END in exits:
                break
        return exits

    def _branches(self, blocks: Iterable[Sequence[ast.stmt]], scope: Scope) -> Exits:
        """Read alternative blocks: one of them runs."""
        before, ends, exits = scope.values, [], _NOWHERE
        for block in blocks:
            scope.values = dict(before)
            left = self._block(block, scope, uncertain=True)
            ends += [] if END in left else [scope.values]
            exits |= left
        scope.values = joined_branches(ends or [before])
        return exits - {END} if ends else exits

    def _expressions(self, node: ast.stmt, scope: Scope) -> Exits:
        for part in children(node):
            self._evaluator.value(part, scope)
        return _NOWHERE

    def _expression(self, node: ast.Expr, scope: Scope) -> Exits:
        value = self._evaluator.value(node.value, scope)
        call = node.value
        if isinstance(value, Chain) and value.kind in methods.CHANGE_THEMSELVES:
            owner: ast.AST | None = call
            while isinstance(owner, ast.Call):
                owner = first(owner)
            if isinstance(owner, ast.Name) and owner.id in scope.values:
                scope.bind(owner.id, value)
        if not isinstance(call, ast.Call) or _called(call.func) not in _EXITS:
            return _NOWHERE
        # `sys.exit()` with a code fails the job.
        succeeds = not call.args or (isinstance(call.args[0], ast.Constant) and not call.args[0].value)
        return frozenset({END, RETURN} if succeeds else {END})

    def _if(self, node: ast.If, scope: Scope) -> Exits:
        test = constant(self._evaluator.value(node.test, scope))
        if test is None:
            return self._branches((node.body, node.orelse), scope)
        return self._block(node.body if test.value else node.orelse, scope)

    def _match(self, node: ast.Match, scope: Scope) -> Exits:
        self._evaluator.value(node.subject, scope)
        for case in node.cases:
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", getattr(part, "rest", None))
                scope.bind(name, Unknown()) if name else None
            self._evaluator.uncertain(case.guard, scope)
        return self._branches([*(case.body for case in node.cases), []], scope)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> Exits:
        target = None if isinstance(node, ast.While) else node.target
        value = self._evaluator.value(node.test if isinstance(node, ast.While) else node.iter, scope)
        test = None if target else constant(value)
        if test and not test.value:
            return self._block(node.orelse, scope)
        items = items_of(value) if target and self._turns < MAX_TURNS else ()
        names = assigned([node])
        exits = left = _NOWHERE
        if not items:
            # Names that an earlier iteration may have assigned have unknown values.
            scope.values = _forgotten(scope.values, names)
        for item in items or (Unknown(),):
            self._turns += 1
            if target:
                self._evaluator.assign(target, item, scope)
            may_not_run = not (items or test) or bool(exits & {BREAK, RETURN})
            left = self._block(node.body, scope, uncertain=may_not_run)
            exits |= left
            if left & {BREAK, CONTINUE}:
                scope.values = _forgotten(scope.values, names)
            if END in left and CONTINUE not in left:
                break
        self._block(node.orelse, scope, uncertain=bool(exits & {BREAK, RETURN}))
        if not items or BREAK in exits:
            scope.values = _forgotten(scope.values, names)
        never_ends = bool(items or test) and END in left and not exits & {BREAK, CONTINUE}
        return exits & {RETURN} | ({END} if never_ends else _NOWHERE)

    def _try(self, node: ast.Try, scope: Scope) -> Exits:
        before = _forgotten(scope.values, assigned(node.body))
        exits = self._block([*node.body, *node.orelse], scope)
        ends = [] if END in exits else [scope.values]
        for handler in node.handlers:
            scope.values = dict(before)
            self._evaluator.uncertain(handler.type, scope)
            if handler.name:
                scope.bind(handler.name, Unknown())
            left = self._block(handler.body, scope, uncertain=True)
            ends += [] if END in left else [scope.values]
            exits |= left - {END}
        scope.values = joined_branches(ends or [before], exactly=False)
        last = self._block(node.finalbody, scope)
        return (exits - {END} if ends else exits | {END}) | last

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> Exits:
        for item in node.items:
            value = self._evaluator.value(item.context_expr, scope)
            if item.optional_vars:
                entered = value if isinstance(value, Chain) else Unknown()
                self._evaluator.assign(item.optional_vars, entered, scope)
        exits = self._block(node.body, scope)
        if any("suppress(" in ast.unparse(item.context_expr) for item in node.items):
            scope.values = _forgotten(scope.values, assigned(node.body))
            return exits - {END}
        return exits

    def _leave(self, node: ast.stmt, scope: Scope) -> Exits:
        return frozenset({END, BREAK if isinstance(node, ast.Break) else CONTINUE})

    def _raise(self, node: ast.Raise, scope: Scope) -> Exits:
        self._expressions(node, scope)
        return frozenset({END})

    def _return(self, node: ast.Return, scope: Scope) -> Exits:
        value = self._evaluator.value(node.value, scope) if node.value else Known(None)
        self._returned[-1].append(value)
        return frozenset({END, RETURN})

    def _assign(self, node: ast.Assign | ast.AnnAssign, scope: Scope) -> Exits:
        if node.value is not None:
            value = self._evaluator.value(node.value, scope)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._evaluator.assign(target, value, scope)
        return _NOWHERE

    def _add(self, node: ast.AugAssign, scope: Scope) -> Exits:
        before = self._evaluator.value(node.target, scope)
        value = self._evaluator.value(node.value, scope)
        operator = OPERATORS.get(type(node.op), lambda *_: Unknown())
        change([before])
        after = before if isinstance(before, Container) else each(operator, before, value)
        self._evaluator.assign(node.target, after, scope)
        return _NOWHERE

    def _delete(self, node: ast.Delete, scope: Scope) -> Exits:
        for target in node.targets:
            self._evaluator.assign(target, Unknown(), scope)
        return _NOWHERE

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> Exits:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom) and alias.name == "*":
                if not methods.is_spark(node.module or ""):
                    # The other module may define the same names.
                    for name in [name for name, value in scope.values.items() if constant(value)]:
                        scope.bind(name, SEVERAL)
            elif isinstance(node, ast.ImportFrom):
                name = f"{'.' * node.level}{node.module or ''}.{alias.name}"
                scope.bind(alias.asname or alias.name, self._evaluator.imported(name))
            else:
                top = alias.name.partition(".")[0]
                module = Module(alias.name if alias.asname else top)
                scope.bind(alias.asname or top, module)
        return _NOWHERE

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Exits:
        for part in node.decorator_list:
            self._evaluator.value(part, scope)
        outer = scope.outer if scope.is_class else scope
        decorators = tuple(map(ast.unparse, node.decorator_list))
        function = Function(node, outer, self._evaluator.defaults(node.args, scope), decorators)
        scope.bind(node.name, function)
        self._later(function)
        return _NOWHERE

    def _later(self, function: Function, is_elsewhere: bool = False) -> None:
        if function.node not in self._elsewhere:
            self._functions[function.node] = function
        if is_elsewhere:
            self._elsewhere.add(function.node)

    def _class(self, node: ast.ClassDef, scope: Scope) -> Exits:
        around = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
        of = [self._evaluator.value(getattr(part, "func", part), scope) for part in around]
        base = base_of(node, of)
        for value in of if base is None else ():
            for member in value.members.values() if isinstance(value, Class) else ():
                if isinstance(member, Function):
                    self._later(member, is_elsewhere=True)
        inner = Scope(outer=scope, is_class=True)
        self._block(node.body, inner)
        for member in inner.values.values():
            if isinstance(member, Function):
                member.parent = base
        scope.bind(node.name, class_of(node, inner.values, of))
        return _NOWHERE

    def _follow(self, function: Function, arguments: Arguments) -> Value:
        """Read a called function, and return its result."""
        node = function.node
        if node not in self._elsewhere:
            self._functions.pop(node, None)
        depth = self._active[node]
        name = "" if isinstance(node, ast.Lambda) else node.name
        self._turns += 1
        if self._turns > MAX_TURNS:
            self._reading.gap("the script has too many calls to be followed further")
        if depth > 1 or self._turns > MAX_TURNS:
            return methods.result_of(name)
        # A recursive call is read once more, with unknown arguments.
        arguments = Arguments(is_complete=False) if depth else arguments
        is_plain = isinstance(node, ast.FunctionDef) and set(function.decorators) <= {"staticmethod"}
        if function.decorators and not is_plain:
            arguments = replace(arguments, is_complete=False)
        scope = Scope(outer=function.scope)
        if function.parent and isinstance(function.receiver, Class):
            of = function.receiver
            scope.values[SUPER] = Class(function.parent.members, of.attributes, is_object=True, seen_from=of)
        for parameter, value in self._evaluator.parameters(function, arguments):
            scope.bind(parameter, value)
        self._active[node] += 1
        line = self._reading.line
        self._returned.append([])
        try:
            if isinstance(node, ast.Lambda):
                return self._evaluator.value(node.body, scope)
            exits = self._block(node.body, scope, uncertain=depth > 0)
        finally:
            self._active[node] -= 1
            returned = self._returned.pop()
            self._reading.line = line
        returned += [] if END in exits else [Known(None)]
        if not is_plain or any(isinstance(part, ast.Yield | ast.YieldFrom) for part in walk(node.body)):
            returned = []
        value = merged(returned) if returned else Unknown()
        return methods.result_of(name) if isinstance(value, Unknown) else value


def _called(function: ast.expr) -> str:
    """Return the name of a called function if it is like `f` or `a.f`; otherwise an empty text."""
    match function:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name(owner), name):
            return f"{owner}.{name}"
    return ""


def _forgotten(values: Mapping[str, Value], names: Iterable[str]) -> dict[str, Value]:
    """Return values in which `names` may have further, unknown values."""
    return {**values, **{name: merged([values.get(name, SEVERAL)], exactly=False) for name in names}}


_STATEMENTS: Mapping[type, Callable[..., Exits]] = {
    ast.AnnAssign: _Walk._assign,
    ast.Assign: _Walk._assign,
    ast.AsyncFor: _Walk._loop,
    ast.AsyncFunctionDef: _Walk._function,
    ast.AsyncWith: _Walk._with,
    ast.AugAssign: _Walk._add,
    ast.Break: _Walk._leave,
    ast.ClassDef: _Walk._class,
    ast.Continue: _Walk._leave,
    ast.Delete: _Walk._delete,
    ast.Expr: _Walk._expression,
    ast.For: _Walk._loop,
    ast.FunctionDef: _Walk._function,
    ast.If: _Walk._if,
    ast.Import: _Walk._import,
    ast.ImportFrom: _Walk._import,
    ast.Match: _Walk._match,
    ast.Raise: _Walk._raise,
    ast.Return: _Walk._return,
    ast.Try: _Walk._try,
    getattr(ast, "TryStar", ast.Try): _Walk._try,
    ast.While: _Walk._loop,
    ast.With: _Walk._with,
}
