"""Evaluates expressions: constants and objects of Spark; `reading` notes the calls."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.planned.python.application import Parser, given
from airflow_provider_spark_lineage.spark.planned.python.constants import (
    FUNCTIONS,
    added,
    compared,
    formatted,
    joined,
    of_container,
    part_of,
)
from airflow_provider_spark_lineage.spark.planned.python.imports import STAR
from airflow_provider_spark_lineage.spark.planned.python.methods import LOGS, LOOKS, is_harmless
from airflow_provider_spark_lineage.spark.planned.python.objects import (
    Objects,
    frames_of,
    is_method,
    result_of,
)
from airflow_provider_spark_lineage.spark.planned.python.reading import Reading
from airflow_provider_spark_lineage.spark.planned.python.scopes import (
    SUPER,
    Scope,
    Unsafe,
    assigned,
    identifiers,
    imports,
    walked,
)
from airflow_provider_spark_lineage.spark.planned.python.values import (
    CHANGED,
    Arguments,
    Chain,
    Class,
    Container,
    Function,
    Instance,
    Known,
    Module,
    UnknownValue,
    Value,
    change,
    constant,
    items_of,
    listed,
    reason_of,
    sources_of,
    whole_text,
)

MAX_STEPS = 200_000
"""Limit of the expressions and statements that are read: a few seconds of work."""


class TooLongError(Exception):
    """The limit is reached."""


class Expressions:
    """Evaluates each expression, once for each time that it runs."""

    def __init__(self, arguments: Sequence[str], variables: Mapping[str, str], reading: Reading) -> None:
        self.reading = reading
        self.unsafe = Unsafe()
        self.objects = Objects()
        self.module: Callable[[str], Value | None] = lambda name: None
        """Returns the value of a full name in a module of the project; None if it is not followed."""

        self.follow: Callable[[Value, Arguments], Value] = lambda called, arguments: UnknownValue()
        """Reads a called function or class and returns its result."""

        self.escape: Callable[[Value], None] = lambda value: None
        """Notes that code that is not followed may call a function, or methods of an object."""

        self.attribute: Callable[[Class | Instance, str], Value] = lambda receiver, name: UnknownValue()
        self.store: Callable[[Instance, str, Value], None] = lambda receiver, name, value: None
        """Assigns a value to an attribute of an object."""

        self._arguments_given = arguments
        self._variables = variables
        self._given = given(arguments, variables)
        self.steps = 0

    def add(self, tree: ast.Module) -> None:
        """Note the names in the script, or in another module, before its first statement is read."""
        nodes = walked(tree)
        self.unsafe.add(nodes)
        self.objects.add(imports(nodes), identifiers(nodes))
        if "argv" in self.unsafe.changed:
            self._arguments_given = ()
        if "environ" in self.unsafe.changed:
            self._variables = {}
        self._given = given(self._arguments_given, self._variables)

    def step(self) -> None:
        """Count one expression or statement."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooLongError

    def value(self, node: ast.AST | None, scope: Scope) -> Value:
        """Return the value of an expression, and note its reads and writes."""
        self.step()
        evaluate = _NODES.get(type(node))
        if evaluate is not None:
            return evaluate(self, node, scope)
        for child in ast.iter_child_nodes(node) if node else ():
            if isinstance(child, ast.expr):
                self.value(child, scope)
        return UnknownValue()

    def uncertain(self, node: ast.AST | None, scope: Scope) -> Value:
        """Return the value of an expression that may not run."""
        with self.reading.below(object()):
            return self.value(node, scope)

    # --- Constants

    def _text_part(self, node: ast.FormattedValue, scope: Scope) -> Value:
        value = self.value(node.value, scope)
        is_plain = node.format_spec is None and node.conversion in (-1, ord("s"))
        return value if is_plain else UnknownValue(reason_of(value))

    def _list(self, node: ast.List | ast.Set | ast.Tuple, scope: Scope) -> Value:
        arguments = self._arguments(node.elts, [], scope)
        return listed(arguments.positional, is_open=not arguments.is_complete)

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        names = [constant(self.value(key, scope)) if key else None for key in node.keys]
        values = [self.value(value, scope) for value in node.values]
        pairs = {name.value: value for name, value in zip(names, values, strict=True) if name}
        return Container(pairs) if all(names) else UnknownValue()

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        return added(left, right) if isinstance(node.op, ast.Add) else UnknownValue()

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        values = [self.value(part, scope) for part in (node.left, *node.comparators)]
        return compared(type(node.ops[0]), *values) if len(values) == 2 else UnknownValue()

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        known = constant(self.value(node.operand, scope))
        if known and isinstance(node.op, ast.Not):
            return Known(not known.value)
        if known and isinstance(node.op, ast.USub) and isinstance(known.value, int):
            return Known(-known.value)
        return UnknownValue()

    # --- Choices

    def _choice(self, node: ast.BoolOp | ast.IfExp, scope: Scope) -> Value:
        """Read an expression whose other parts may not run; a constant decides which of them does."""
        first, *others = node.values if isinstance(node, ast.BoolOp) else (node.test, node.body, node.orelse)
        value = self.value(first, scope)
        known = constant(value)
        if known and isinstance(node, ast.IfExp):
            return self.value(node.body if known.value else node.orelse, scope)
        if known and isinstance(node, ast.BoolOp):
            if bool(known.value) is isinstance(node.op, ast.Or):
                return value
            return self._choice(ast.BoolOp(node.op, others), scope) if others else value
        self.escape(value)
        for part in others:
            self.escape(self.uncertain(part, scope))
        return UnknownValue()

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp, scope: Scope
    ) -> Value:
        """Read a comprehension as a loop over unknown items; its own value is unknown, too."""
        inner = Scope(dict.fromkeys(assigned(node.generators), UnknownValue()), scope)
        for generator in node.generators:
            self.value(generator.iter, inner)
        tests = [test for generator in node.generators for test in generator.ifs]
        for part in (*tests, *([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])):
            self.escape(self.uncertain(part, inner))
        return UnknownValue()

    # --- Names, attributes and items

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        value = scope.find(node.id)
        if value is None:
            module = Module("builtins") if hasattr(builtins, node.id) else scope.find(STAR)
            prefix = f"{module.name}." if isinstance(module, Module) else ""
            value = self.objects.of_module(f"{prefix}{node.id}")
        if node.id in self.unsafe.changed:
            change([value])
        return self.objects.by_name(node.id, CHANGED if node.id in self.unsafe.shared else value)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        receiver = self.value(node.value, scope)
        if is_method(receiver, node.attr):
            self.reading.line = node.lineno
            self.reading.gap(of_programs.CALLED_ELSEWHERE(name=node.attr))
            return UnknownValue()
        value = self._member(receiver, node.attr)
        if isinstance(value, Chain) and value.kind in ("write", "writeStream"):
            self.use_frame(receiver)
        return value

    def use_frame(self, value: Value) -> None:
        """Note that a value is read or written: what gave it must be followed."""
        self.reading.program.add(sources_of(value))
        if isinstance(value, Module) and self.objects.is_foreign(value.name):
            self.reading.program.add([self.reading.unread(value.name)])

    def _member(self, receiver: Value, name: str) -> Value:
        if isinstance(receiver, Module):
            return self.imported(f"{receiver.name}.{name}", receiver)
        if _is_namespace(receiver):
            return receiver.get(name)
        if isinstance(receiver, Class | Instance):
            value = self.attribute(receiver, name)
            return value if sources_of(value) else self.objects.by_name(name, value)
        return self.objects.attribute(receiver, name)

    def entered(self, value: Value) -> Value:
        """Return the value that a WITH binds."""
        if isinstance(value, Instance):
            return self.follow(self.attribute(value, "__enter__"), Arguments())
        return value if isinstance(value, Chain) else UnknownValue(sources=sources_of(value))

    def imported(self, name: str, module: Module | None = None) -> Value:
        """Return the value of an imported full name."""
        if name in self._given:
            return self._given[name]
        last = name.rpartition(".")[2]
        value = self.module(name)
        if value is not None:
            if last in self.unsafe.changed:
                change([value])
            return self.objects.by_name(last, CHANGED if last in self.unsafe.shared else value)
        attribute = self.objects.attribute(module, last) if module else None
        return attribute if isinstance(attribute, Chain) else self.objects.of_module(name)

    def _item(self, node: ast.Subscript, scope: Scope) -> Value:
        receiver = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            return part_of(receiver, *(self.value(bound, scope) if bound else None for bound in bounds))
        key = constant(self.value(node.slice, scope))
        if key is None or not isinstance(receiver, Container) or receiver.is_changed:
            self.escape(receiver)
        if key and isinstance(receiver, Container):
            return receiver.get(key.value)
        return receiver if isinstance(receiver, UnknownValue) else UnknownValue()

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign a value to the target on the left of `=`."""
        match target:
            case ast.Name(name):
                self.bind(name, value, scope)
            case ast.Tuple(parts) | ast.List(parts):
                is_plain = not any(isinstance(part, ast.Starred) for part in parts)
                for number, part in enumerate(parts):
                    item: Value = UnknownValue(sources=sources_of(value))
                    if isinstance(value, Container) and is_plain:
                        item = value.get(number)
                    self.assign(part, item, scope)
            case ast.Starred(inner):
                self.assign(inner, UnknownValue(), scope)
            case ast.Attribute(owner, name) if isinstance(of := self.value(owner, scope), Instance):
                self.store(of, name, value)
            case _:
                change([value])
                self.escape(value)
                self.value(target, scope)

    def bind(self, name: str, value: Value, scope: Scope) -> None:
        """Assign a value to a name."""
        if name in self.unsafe.changed:
            change([value])
        scope.bind(name, self.objects.by_name(name, value))

    # --- Calls and functions

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        receiver = None
        if isinstance(node.func, ast.Attribute):
            receiver, name = self.value(node.func.value, scope), node.func.attr
            function = UnknownValue() if is_method(receiver, name) else self._member(receiver, name)
            if isinstance(receiver, Module) and isinstance(function, Chain):
                # A function of another module, `files.write(frame)`, and no writer of a frame.
                function = Module(f"{receiver.name}.{name}")
        else:
            function, name = self.value(node.func, scope), ""
        arguments = self._arguments(node.args, node.keywords, scope)
        self.reading.line = node.lineno
        if isinstance(function, Class | Function | Instance):
            return self.follow(function, arguments)
        full = function.name if isinstance(function, Module) else ""
        if full == "builtins.super":
            return scope.find(SUPER) or UnknownValue()
        if full not in LOOKS and name not in LOGS:
            for value in (receiver, *arguments.values()):
                self.escape(value or UnknownValue())
        self.reading.call(receiver, name, function, arguments)
        if not isinstance(receiver, Chain | Known) and not is_harmless(full, name):
            change(value for value in arguments.values() if not _is_namespace(value))
        for frame in frames_of(receiver, name, arguments):
            self.use_frame(frame)
        result = self._result(receiver, name, full, arguments)
        runs_own = any(isinstance(value, Function) for value in arguments.values())
        if not isinstance(result, UnknownValue) or is_harmless(full, name) or runs_own:
            # What a function of the program does, that is called elsewhere, is read with it.
            return replace(result, sources=()) if isinstance(result, UnknownValue) else result
        sources = sources_of(result, function)
        if self.objects.is_foreign(full):
            sources = (*sources_of(*arguments.values()), self.reading.unread(full))
            self.reading.unfollowed.update(dict.fromkeys(sources))
        return replace(result, sources=sources)

    def _result(self, receiver: Value | None, name: str, full: str, arguments: Arguments) -> Value:
        """Return the result of a method of an object, or of the function with a full name."""
        if full in FUNCTIONS and arguments.is_complete and not arguments.named:
            return FUNCTIONS[full](*arguments.positional)
        if full == "argparse.ArgumentParser":
            return Parser(arguments, self._arguments_given, self.reading.conditions)
        if full in _IMPORTS:
            module = whole_text(arguments.get(0, "name"))
            if module is None:
                return UnknownValue(sources=(self.reading.unread(full),))
            self.objects.add([module], [])
            return self.imported(module)
        if full == "builtins.getattr" and len(arguments.positional) > 1:
            owner, attribute = arguments.positional[0], whole_text(arguments.positional[1])
            if attribute is not None:
                return self._member(owner, attribute)
            is_own = isinstance(owner, Module) and self.module(owner.name) is not None
            return UnknownValue(sources=(self.reading.unread(full),) if is_own else ())
        if full == "os.getenv":
            receiver, name = self._given["os.environ"], "get"
        if receiver is None:
            return result_of(full)
        if isinstance(receiver, Parser):
            return receiver.called(name, arguments, self.reading.conditions)
        if isinstance(receiver, Container):
            return of_container(receiver, name, arguments)
        if isinstance(receiver, Known) and name == "format":
            return formatted(receiver, arguments)
        return self.objects.called(receiver, name, arguments)

    def _arguments(
        self, nodes: Sequence[ast.expr], keywords: Sequence[ast.keyword], scope: Scope
    ) -> Arguments:
        """Return the arguments of a call, or the items of a list."""
        positional: list[Value] = []
        named: list[tuple[str, Value]] = []
        is_complete = True
        for node in nodes:
            is_starred = isinstance(node, ast.Starred)
            value = self.value(node.value if isinstance(node, ast.Starred) else node, scope)
            is_complete &= not is_starred or (isinstance(value, Container) and value.is_known)
            if is_complete:
                positional += items_of(value) if is_starred else [value]
        for keyword in keywords:
            value = self.value(keyword.value, scope)
            pairs = value.pairs if isinstance(value, Container) else ()
            if keyword.arg is None:
                named += [(whole_text(name) or "", item) for name, item in pairs]
                is_complete &= isinstance(value, Container) and value.is_known
            else:
                named.append((keyword.arg, value))
        return Arguments(tuple(positional), tuple(named), is_complete)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        self.escape(self.function(node, scope))
        return UnknownValue()

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> Function:
        """Return a function with the defaults of its parameters; Python evaluates them here."""
        signature = node.args
        positional = [*signature.posonlyargs, *signature.args]
        pairs = [*zip(positional[::-1], signature.defaults[::-1], strict=False)]
        pairs += [(p, d) for p, d in zip(signature.kwonlyargs, signature.kw_defaults, strict=True) if d]
        defaults = {parameter.arg: self.value(default, scope) for parameter, default in pairs}
        around = scope.outer if scope.is_class else scope
        return Function(node, around, defaults, self.reading.file)


_IMPORTS = ("builtins.__import__", "importlib.import_module")


def _is_namespace(value: Value) -> TypeGuard[Container]:
    """Return whether a value is the result of `argparse`, which functions only read."""
    return isinstance(value, Container) and value.is_open and not value.is_list


_NODES: Mapping[type, Callable[..., Value]] = {
    ast.Attribute: Expressions._attribute,
    ast.BinOp: Expressions._binary,
    ast.Call: Expressions._call,
    ast.Compare: Expressions._compare,
    ast.Constant: lambda self, node, scope: Known(node.value),
    ast.Dict: Expressions._dict,
    ast.FormattedValue: Expressions._text_part,
    ast.JoinedStr: lambda self, node, scope: joined(*(self.value(part, scope) for part in node.values)),
    ast.Lambda: Expressions._lambda,
    ast.Name: Expressions._name,
    ast.Subscript: Expressions._item,
    ast.UnaryOp: Expressions._unary,
    # The name in a NamedExpr is one of `unsafe.shared`, so its value is never used.
    **dict.fromkeys((ast.Await, ast.NamedExpr), lambda self, node, scope: self.value(node.value, scope)),
    **dict.fromkeys((ast.BoolOp, ast.IfExp), Expressions._choice),
    **dict.fromkeys((ast.List, ast.Set, ast.Tuple), Expressions._list),
    **dict.fromkeys((ast.DictComp, ast.GeneratorExp, ast.ListComp, ast.SetComp), Expressions._comprehension),
}
