"""Use that a program makes of an action's rows, by its text: it may put them into a query, or only show them.

A value is followed through the expressions and variables of one file; elsewhere, it may be used.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import os
import re
import sys
from collections import defaultdict
from types import FrameType
from typing import Any, Dict, Iterator, List, Optional, Set

from airflow_provider_spark_lineage.spark.records.call_sites import UNKNOWN, CallSite

_OF_SPARK = re.compile(r"[/\\](?:pyspark|py4j)[/\\.-]|\.(?:scala|java)$")
_MAX_LINES = 3_000
_MAX_STEPS = 500
"""Limits of the work for one line: beyond them, it may use the rows."""

_SHOWS = re.compile(
    r"print|pprint|display|debug|info|warn|warning|error|exception|critical|assert[A-Z]\w*|dump|exit|write"
    r"|isinstance|xcom_push"
)
"""Functions that put their arguments into no query."""

_PASSES = frozenset(
    """
    abs bool date datetime Decimal dict enumerate float format frozenset getattr int iter len list max min
    next range repr reversed round set sorted str sum timedelta tuple zip
    """.split()
)
"""Functions that only return a value made of their arguments."""

_TEXTS = frozenset({"format", "join"})
"""Methods of a text that do the same; frames have a `join`, too."""

_OURS = os.path.join(
    os.path.dirname(os.path.abspath(str(sys.modules[__name__.partition(".")[0]].__file__))), ""
)
_LEAVES = (ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


@functools.lru_cache(maxsize=1000)
def line_of_use(site: Optional[CallSite]) -> str:
    """Return the line that may use what an action returned, `load.py:12`; empty if it only shows it.

    The line is `UNKNOWN` without a site outside of Spark.
    """
    if site is not None and site.file.startswith(_OURS):
        return ""
    if site is None or _OF_SPARK.search(site.file):
        return UNKNOWN
    program = _program_in(site.file)
    return "" if program is not None and not program.may_use(site.function, site.number) else site.line


def caller() -> Optional[CallSite]:
    """Return the line of the program that called pyspark in this thread; None if there is none."""
    spark = str(getattr(sys.modules.get("pyspark"), "__file__", _OURS))
    skipped = (_OURS, spark.replace("__init__.py", ""), contextlib.__file__)
    frame: Optional[FrameType] = sys._getframe(1)
    function = ""
    while frame is not None and frame.f_code.co_filename.startswith(skipped):
        function = frame.f_code.co_name
        frame = frame.f_back
    return CallSite(function, frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def _program_in(file: str) -> Optional[_Program]:
    """Return the program in a file; None if its text is not there, or is not Python."""
    lines = linecache.getlines(file)
    try:
        return _Program(ast.parse("".join(lines))) if 0 < len(lines) <= _MAX_LINES else None
    except (SyntaxError, ValueError, RecursionError):
        return None


class _Program:
    """The syntax tree of one file."""

    def __init__(self, tree: ast.AST) -> None:
        self._above: Dict[ast.AST, ast.AST] = {}
        self._calls: Dict[str, List[ast.Call]] = defaultdict(list)
        self._reads: Dict[str, List[ast.AST]] = defaultdict(list)
        self._shared: Set[str] = set()
        """Variables that a function shares with the code around it."""

        for node in ast.walk(tree):
            self._above.update((child, node) for child in ast.iter_child_nodes(node))
            if isinstance(node, ast.Call):
                self._calls[_name(node.func)].append(node)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._reads[node.id].append(node)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                self._shared.update(node.names)

    def may_use(self, function: str, line: int) -> bool:
        """Return whether a call in a line may be used for more than to be shown."""
        values: List[ast.AST] = [
            call for call in self._calls[function] if call.lineno <= line <= (call.end_lineno or 0)
        ]
        followed: Set[ast.AST] = set()
        while values:
            value = values.pop()
            if value not in followed:
                followed.add(value)
                further = self._further(value)
                if further is None:
                    return True
                values += further
            if len(followed) + len(values) > _MAX_STEPS:
                return True
        return False

    def _further(self, value: ast.AST) -> Optional[List[Any]]:
        """Return the expressions that get a value next; None if it may be used."""
        around: Any = self._above[value]
        if isinstance(around, ast.Call) and value is not around.func:
            return self._passed(around)
        if isinstance(around, ast.Call) and any(isinstance(each, ast.Lambda) for each in around.args):
            # `rows.apply(lambda row: ...)`
            return None
        if isinstance(around, ast.Assign):
            return self._uses(around.targets)
        if isinstance(around, (ast.AnnAssign, ast.AugAssign, ast.For, ast.comprehension)):
            return self._uses([around.target])
        if isinstance(around, ast.Return):
            return self._calls.get(getattr(self._scope(around), "name", ""))
        # What is tested decides whether something happens, but gets into no literal.
        is_test = value is getattr(around, "test", None)
        if is_test or isinstance(around, (ast.Expr, ast.Raise)):
            return []
        is_expression = isinstance(around, (ast.expr, ast.keyword)) and not isinstance(around, _LEAVES)
        return [around] if is_expression else None

    @staticmethod
    def _passed(call: ast.Call) -> Optional[List[Any]]:
        """Return the expressions that get an argument of a call next; None if it may be used."""
        name, function = _name(call.func), call.func
        if _SHOWS.fullmatch(name):
            return []
        if isinstance(function, ast.Name) and name in _PASSES:
            return [call]
        is_text = isinstance(function, ast.Attribute) and isinstance(
            function.value, (ast.Constant, ast.JoinedStr)
        )
        return [call] if is_text and name in _TEXTS else None

    def _uses(self, targets: List[Any]) -> Optional[List[Any]]:
        """Return the expressions that read variables; None if something else than a variable is set."""
        names: Set[str] = set()
        for target in targets:
            parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            if not all(isinstance(part, ast.Name) for part in parts):
                return None
            names.update(_name(part) for part in parts)
        scope = self._scope(targets[0])
        # Fields of a class are read in more places.
        if isinstance(scope, ast.ClassDef) or names & self._shared:
            return None
        reads = [read for name in names for read in self._reads[name]]
        return [read for read in reads if scope in self._around(read)]

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self._above:
            node = self._above[node]
            yield node

    def _scope(self, node: ast.AST) -> ast.AST:
        """Return the function, class or file around a node."""
        return next(each for each in self._around(node) if isinstance(each, _SCOPES))


def _name(function: Any) -> str:
    """Return the last name of the function of a call; empty for another expression."""
    return str(getattr(function, "attr", "") or getattr(function, "id", ""))
