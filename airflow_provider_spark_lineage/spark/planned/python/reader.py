"""Reader of a PySpark script: collects the reads and writes in its text.

Statements are read in the order of their execution, functions at their calls, and both branches of a
condition that is not constant.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.planned.program import Program, Unread
from airflow_provider_spark_lineage.spark.planned.python.definitions import Definitions
from airflow_provider_spark_lineage.spark.planned.python.expressions import Expressions, TooLongError
from airflow_provider_spark_lineage.spark.planned.python.imports import STAR, Imports
from airflow_provider_spark_lineage.spark.planned.python.methods import CHANGE_THEMSELVES
from airflow_provider_spark_lineage.spark.planned.python.modules import (
    ModuleFiles,
    ModuleText,
    UnreadableModuleError,
    parsed,
)
from airflow_provider_spark_lineage.spark.planned.python.reading import Reading
from airflow_provider_spark_lineage.spark.planned.python.scopes import Scope, assigned, has, joined_branches
from airflow_provider_spark_lineage.spark.planned.python.values import (
    SEVERAL,
    Chain,
    Known,
    Module,
    UnknownValue,
    Value,
    constant,
    items_of,
    whole_text,
)
from airflow_provider_spark_lineage.spark.planned.session import Session


def read_script(
    text: str,
    arguments: Sequence[str],
    variables: Mapping[str, str],
    conf: Mapping[str, str],
    places: Iterable[str] = (),
) -> Program:
    """Return the reads and writes of a script; a text that is not Python gives a program with one gap.

    `places` are the folders, archives and files where the driver finds the modules of the project.
    """
    program = Program()
    try:
        tree = parsed(text)
    except UnreadableModuleError as error:
        program.add([Unread(error.line, of_programs.NOT_PYTHON(error=error))])
    else:
        reading = Reading(program, Session({}, conf))
        with contextlib.closing(ModuleFiles(places)) as files:
            _Walk(reading, Expressions(arguments, variables, reading), files).script(tree)
    return program


class _Walk:
    """Goes through a script; a statement's method returns True if the next statement never runs."""

    def __init__(self, reading: Reading, expressions: Expressions, files: ModuleFiles) -> None:
        self._reading = reading
        self._expressions = expressions
        self._imports = Imports(files, reading, self._run)
        self._definitions = Definitions(reading, expressions, self._block)
        expressions.module = self._imports.member

    def script(self, tree: ast.Module) -> None:
        """Read a whole script, and at last the functions that it does not call."""
        try:
            self._expressions.add(tree)
            self._block(tree.body, Scope({"__name__": Known("__main__"), "__package__": Known("")}))
            self._definitions.finish()
        except TooLongError:
            self._reading.gap(of_programs.TOO_MANY_STEPS())
        if not self._reading.program.steps:
            self._reading.program.add(self._reading.unfollowed)

    def _run(self, text: ModuleText, scope: Scope) -> None:
        """Read a module of the project."""
        self._expressions.add(text.tree)
        self._block(text.tree.body, scope)

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
            self._reading.gap(of_programs.DEEP_SCRIPT())
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
        self._join(ends or [before], scope)
        return not ends

    def _join(self, ends: Sequence[dict[str, Value]], scope: Scope) -> None:
        """Continue after alternative blocks; a function or object that is one of several is not followed."""
        scope.values = joined_branches(ends)
        for name in [name for name, value in scope.values.items() if value == SEVERAL]:
            for values in ends:
                self._expressions.escape(values.get(name, SEVERAL))

    def _if(self, node: ast.If, scope: Scope) -> bool:
        test = constant(self._expressions.value(node.test, scope))
        if test is None:
            return self._branches((node.body, node.orelse), scope)
        return self._block(node.body if test.value else node.orelse, scope)

    def _for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        items = items_of(self._expressions.value(node.iter, scope))
        leaves, continues = has(node.body, ast.Break, ast.Return), has(node.body, ast.Continue)
        is_unknown = not items
        for item in items or (UnknownValue(),):
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
                scope.bind(handler.name, UnknownValue())
            if not self._block(handler.body, scope, uncertain=True):
                ends.append(scope.values)
        self._join(ends or [before.values], scope)
        return self._block(node.finalbody, scope) or not ends

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        for item in node.items:
            value = self._expressions.value(item.context_expr, scope)
            if item.optional_vars:
                entered = self._expressions.entered(value)
                self._expressions.assign(item.optional_vars, entered, scope)
        ended = self._block(node.body, scope)
        suppresses = any("suppress(" in ast.unparse(item.context_expr) for item in node.items)
        scope.forget(assigned(node.body) if suppresses else ())
        return ended and not suppresses

    # --- Statements that leave

    def _expression(self, node: ast.Expr, scope: Scope) -> bool:
        value = self._expressions.value(node.value, scope)
        if isinstance(value, UnknownValue):
            # The call of a function that is not followed, for what it does.
            self._reading.program.add(value.sources)
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
        self._definitions.returned[-1].append(value)
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
            self._reading.line = node.lineno
            self._imports.scope(alias.name)
            scope.bind(alias.asname or top, Module(alias.name if alias.asname else top))

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        self._reading.line = node.lineno
        module = _absolute(node, scope)
        if node.names[0].name != "*":
            for alias in node.names:
                value = self._expressions.imported(f"{module}.{alias.name}")
                self._expressions.bind(alias.asname or alias.name, value, scope)
            return
        names = self._imports.public(module)
        for name, value in (names or {}).items():
            self._expressions.bind(name, value, scope)
        if names is None and self._expressions.objects.is_foreign(f"{module}.*"):
            # The other module may define the same names.
            scope.forget([name for name, value in scope.values.items() if constant(value)])
            scope.bind(STAR, Module(module))

    # --- Functions and classes

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        self._definitions.function(node, scope)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        self._definitions.class_(node, scope)


def _absolute(node: ast.ImportFrom, scope: Scope) -> str:
    """Return the full name of the module of a FROM; a relative one is unknown outside of a package."""
    if not node.level:
        return node.module or ""
    around = (whole_text(scope.find("__package__")) or "").split(".")
    package = ".".join(around[: len(around) - node.level + 1])
    return ".".join(filter(None, (package or "." * node.level, node.module)))


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
