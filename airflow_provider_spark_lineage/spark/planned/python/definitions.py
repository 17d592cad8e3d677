"""Functions and classes of the program: their calls, objects and attributes.

A function is read at each call. If code that is not followed may call it, it is also read at the end, with
unknown arguments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.planned.program import Unread
from airflow_provider_spark_lineage.spark.planned.python.expressions import MAX_STEPS, Expressions
from airflow_provider_spark_lineage.spark.planned.python.objects import result_of
from airflow_provider_spark_lineage.spark.planned.python.reading import Reading
from airflow_provider_spark_lineage.spark.planned.python.scopes import SUPER, Scope, stored, yields
from airflow_provider_spark_lineage.spark.planned.python.values import (
    SEVERAL,
    Arguments,
    Class,
    Container,
    Function,
    Instance,
    Known,
    Module,
    UnknownValue,
    Value,
    change,
    listed,
    merged,
)

MAX_DEPTH, LEAST_DEPTH = 6, 2
"""Limits of calls inside calls: the second one after half of the steps that one script may have."""

_PLAIN = frozenset({"abc.ABC", "builtins.object", "typing.NamedTuple", "typing.Protocol"})
"""Classes whose subclasses have no attributes that their text does not have."""

_HOOKS = frozenset({"__getattr__", "__getattribute__", "__new__", "__setattr__"})
"""Methods that may give or take other attributes than the text shows."""

_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("abc.abstractmethod", "functools.cache", "functools.lru_cache", "functools.wraps"), ""),
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "builtins.staticmethod": "static",
    "functools.cached_property": "property",
    "typing.override": "",
}
"""Decorators that change neither arguments nor results -> the kind of the method."""

Block = Callable[[Sequence[ast.stmt], Scope], bool]


@dataclass(frozen=True)
class _Waiting:
    """A function that is read at the end, and the gap for it if it reads or writes."""

    function: Function
    gap: Unread | None = None


class Definitions:
    """Follows calls of the program's functions and classes; `block` reads the statements of a function."""

    def __init__(self, reading: Reading, expressions: Expressions, block: Block) -> None:
        self._reading = reading
        self._expressions = expressions
        self._block = block
        expressions.follow, expressions.escape = self.follow, self.escape
        expressions.attribute, expressions.store = self.attribute, self.store
        self._waiting: dict[ast.AST, _Waiting] = {}
        """Functions to read at the end: those that are not called, and those that other code may call."""

        self._finished: set[ast.AST] = set()
        """Functions that were read at the end."""

        self._passed: set[ast.AST] = set()
        """Functions that code that is not followed may call."""

        self._active: list[ast.AST] = []
        """The functions that are being read, the innermost last."""

        self.returned: list[list[Value]] = [[]]
        """Return values so far of each of them."""

    def finish(self) -> None:
        """Read the functions whose calls are not known."""
        while self._waiting:
            waiting = self._waiting.pop(next(iter(self._waiting)))
            function = waiting.function
            self._finished.add(function.node)
            function.scope.forget_order()
            before = self._reading.accesses
            with self._reading.below(object()):
                self._read(function, Arguments(is_complete=False))
            if waiting.gap and function.node not in self._passed and self._reading.accesses > before:
                self._reading.program.add([waiting.gap])

    # --- Definitions

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        """Bind a function to its name; a function of a module runs only if it is called."""
        decorators = [(part, self._expressions.value(part, scope)) for part in node.decorator_list]
        function = self._expressions.function(node, scope)
        value: Value = function
        for part, decorator in reversed(decorators):
            value = self._decorated(value, part, decorator, scope)
        scope.bind(node.name, value)
        if not function.file:
            gap = Unread(node.lineno, of_programs.NOT_CALLED(name=node.name))
            self._waiting[node] = _Waiting(function, gap)
            self._passed.update([node] if isinstance(value, Function) and value.is_decorated else [])

    def _decorated(self, value: Value, part: ast.expr, decorator: Value, scope: Scope) -> Value:
        full = self._full_name(part, scope)
        if isinstance(value, Function) and full in _KINDS:
            return replace(value, kind=_KINDS[full] or value.kind)
        result = (
            self.follow(decorator, Arguments((value,))) if isinstance(decorator, Function) else UnknownValue()
        )
        if isinstance(result, Function):
            return result
        return replace(value, is_decorated=True) if isinstance(value, Function) else UnknownValue()

    def _full_name(self, part: ast.expr, scope: Scope) -> str:
        """Return the full name of a decorator or a base class, without its arguments."""
        name = part.func if isinstance(part, ast.Call) else part
        value = self._expressions.value(name.value if isinstance(name, ast.Subscript) else name, scope)
        return value.name if isinstance(value, Module) else ""

    def class_(self, node: ast.ClassDef, scope: Scope) -> None:
        """Bind a class to its name."""
        bases = [self._expressions.value(base, scope) for base in node.bases]
        names = {self._full_name(base, scope) for base in node.bases} - {"typing.Generic"}
        decorators = {self._full_name(part, scope) for part in node.decorator_list}
        inner = Scope(outer=scope, is_class=True)
        self._block(node.body, inner)
        fields = [name for part in node.body if (name := _field(part))]
        classes = tuple(base for base in bases if isinstance(base, Class))
        is_record = bool(decorators & {"dataclasses.dataclass"} or names & {"typing.NamedTuple"})
        value = Class(
            node.name,
            node,
            inner.values,
            classes,
            Unread(
                node.lineno,
                of_programs.UNKNOWN_CALLS(name=node.name),
                self._reading.file,
            ),
            fields=fields if is_record else [],
            foreign=next(filter(self._expressions.objects.is_foreign, sorted(names)), ""),
            is_known=not node.keywords
            and not _HOOKS & inner.values.keys()
            and decorators <= {"dataclasses.dataclass"}
            and len(classes) + len(names & {*_PLAIN}) >= len(node.bases)
            and all(base.is_known for base in classes),
        )
        scope.bind(node.name, value)
        if not self._reading.file:
            self._use(value)

    def _use(self, used: Class) -> None:
        """Read the methods of a class at the end."""
        for each in used.order:
            for method in each.members.values():
                if isinstance(method, Function) and method.node not in self._finished:
                    self._waiting[method.node] = _Waiting(method, each.gap)
                    self._passed.discard(method.node)

    # --- Calls

    def escape(self, value: Value) -> None:
        """Note that code that is not followed may call this function, or methods of this object."""
        if isinstance(value, Function):
            if value.node not in self._finished:
                self._waiting[value.node] = _Waiting(value)
                self._passed.add(value.node)
        elif isinstance(value, Class | Instance):
            self._use(value if isinstance(value, Class) else value.of)
        elif isinstance(value, Container) and not value.is_escaped:
            value.is_escaped = True
            for entry in value.entries.values():
                self.escape(entry)

    def follow(self, called: Value, arguments: Arguments) -> Value:
        """Read a called function, class or object, and return its result."""
        if isinstance(called, Class):
            return self._object(called, arguments)
        function = self.attribute(called, "__call__") if isinstance(called, Instance) else called
        if not isinstance(function, Function):
            return UnknownValue()
        node = function.node
        depth = MAX_DEPTH if self._expressions.steps < MAX_STEPS // 2 else LEAST_DEPTH
        if function.is_decorated or node in self._active or len(self._active) >= depth:
            for value in (function, *arguments.values()):
                self.escape(value)
            return result_of(getattr(node, "name", ""))
        if node not in self._passed:
            self._waiting.pop(node, None)
        if function.bound is not None:
            arguments = replace(arguments, positional=(function.bound, *arguments.positional))
        return self._read(function, arguments)

    def _read(self, function: Function, arguments: Arguments) -> Value:
        with self._reading.inside(function.file):
            return self._inside(function, arguments)

    def _inside(self, function: Function, arguments: Arguments) -> Value:
        node = function.node
        scope = Scope(outer=function.scope)
        first = next(iter(arguments.positional), None)
        if function.owner and isinstance(first, Instance):
            scope.bind(SUPER, replace(first, after=function.owner))
        elif function.owner and isinstance(first, Class):
            scope.bind(SUPER, Instance(first, after=function.owner))
        for parameter, value in _parameters(function, arguments):
            self._expressions.bind(parameter, value, scope)
        self._active.append(node)
        self.returned.append([])
        try:
            if isinstance(node, ast.Lambda):
                return self._expressions.value(node.body, scope)
            ended = self._block(node.body, scope)
        finally:
            self._active.pop()
            returned = self.returned.pop()
        returned += [] if ended else [Known(None)]
        if isinstance(node, ast.AsyncFunctionDef) or yields(node):
            returned = []
        value = merged(returned) if returned else UnknownValue()
        if value == SEVERAL:
            for each in returned:
                self.escape(each)
        named = result_of(node.name) if isinstance(value, UnknownValue) else value
        return value if isinstance(named, UnknownValue) else named

    # --- Objects

    def _object(self, of: Class, arguments: Arguments) -> Instance:
        """Return a new object of a class."""
        value = Instance(of)
        owner, method = value.find("__init__")
        if isinstance(method, Function):
            self.follow(replace(method, bound=value, owner=owner), arguments)
        else:
            value.values.update(_fields(of, arguments))
            owner, method = value.find("__post_init__")
            if isinstance(method, Function):
                self.follow(replace(method, bound=value, owner=owner), Arguments())
        if not of.is_known:
            # The other class may call any method.
            self.escape(value)
        return value

    def attribute(self, receiver: Class | Instance, name: str) -> Value:
        """Return an attribute of a class or an object."""
        of = receiver if isinstance(receiver, Class) else receiver.of
        unsafe = self._expressions.unsafe
        is_stable = of.is_known and name not in unsafe.attributes and not unsafe.has_setattr
        is_stored = isinstance(receiver, Instance) and any(name in stored(each.node) for each in of.order)
        owner, member = receiver.find(name)
        if isinstance(receiver, Instance) and name in receiver.values and receiver.after is None:
            is_final = all(stored(each.node).get(name, True) for each in of.order)
            if name in unsafe.changed:
                change([receiver.values[name]])
            # A property of this name may give another value.
            is_plain = is_stable and is_final and not isinstance(member, Function)
            return receiver.values[name] if is_plain else UnknownValue()
        if isinstance(member, Function):
            return self._method(receiver, owner, member)
        if member is not None and is_stable and not is_stored:
            return member
        foreign = next((each.foreign for each in of.order if each.foreign), "")
        if member is None and not of.is_known:
            self._use(of)
            is_called = foreign and not name.startswith("__")
            sources = (self._reading.unread(f"{foreign}.{name}"),) if is_called else ()
            return UnknownValue(sources=sources)
        return UnknownValue()

    def _method(self, receiver: Class | Instance, owner: Class | None, member: Function) -> Value:
        if member.kind == "static":
            return member
        of = receiver if isinstance(receiver, Class) else receiver.of
        if member.kind == "class":
            return replace(member, bound=of, owner=owner)
        if isinstance(receiver, Class):
            return replace(member, owner=owner)
        bound = replace(member, bound=replace(receiver, after=None), owner=owner)
        return self.follow(bound, Arguments()) if member.kind == "property" else bound

    def store(self, receiver: Instance, name: str, value: Value) -> None:
        """Assign a value to an attribute of an object; one with several values is not known."""
        if name in self._expressions.unsafe.changed:
            change([value])
        value = self._expressions.objects.by_name(name, value)
        before = receiver.values.get(name, value)
        receiver.values[name] = merged((before, value))
        if receiver.values[name] == SEVERAL:
            self.escape(before)
            self.escape(value)


def _field(part: ast.stmt) -> str:
    """Return the name of a parameter of a dataclass; empty for another statement of its body."""
    if not isinstance(part, ast.AnnAssign) or not isinstance(part.target, ast.Name):
        return ""
    is_parameter = not re.search(r"\b(?:ClassVar|KW_ONLY)\b", ast.unparse(part.annotation))
    return part.target.id if is_parameter else ""


def _fields(of: Class, arguments: Arguments) -> Iterator[tuple[str, Value]]:
    """Yield the fields of a new record: a dataclass or a named tuple."""
    names = dict.fromkeys(name for each in reversed(of.order) for name in each.fields)
    for number, name in enumerate(names):
        value = arguments.find(number, name)
        yield name, value or Instance(of).find(name)[1] or UnknownValue()


def _parameters(function: Function, arguments: Arguments) -> Iterator[tuple[str, Value]]:
    """Yield the parameters of a function with their values in a call."""
    signature = function.node.args
    positional = [*signature.posonlyargs, *signature.args]
    for number, parameter in enumerate([*positional, *signature.kwonlyargs]):
        value = arguments.find(number if number < len(positional) else -1, parameter.arg)
        if value is None and arguments.is_complete:
            value = function.defaults.get(parameter.arg)
        yield parameter.arg, value or UnknownValue()
    names = {parameter.arg for parameter in (*positional, *signature.kwonlyargs)}
    more: dict[object, Value] = {name: value for name, value in arguments.named if name not in names}
    for rest, values in (
        (signature.vararg, listed(arguments.positional[len(positional) :])),
        (signature.kwarg, Container({**more})),
    ):
        if rest:
            yield rest.arg, values if arguments.is_complete else UnknownValue()
