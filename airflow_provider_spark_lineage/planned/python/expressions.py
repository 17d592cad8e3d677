"""Evaluates expressions: constants and objects of Spark; `reading` notes the calls."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeGuard

from airflow_provider_spark_lineage.planned.python.application import Parser, given
from airflow_provider_spark_lineage.planned.python.methods import is_harmless
from airflow_provider_spark_lineage.planned.python.objects import Objects, is_method, result_of
from airflow_provider_spark_lineage.planned.python.reading import Reading
from airflow_provider_spark_lineage.planned.python.scopes import Scope, assigned, imports, unsafe
from airflow_provider_spark_lineage.planned.python.texts import FUNCTIONS, added, compared, formatted, joined
from airflow_provider_spark_lineage.planned.python.values import (
    CHANGED,
    Arguments,
    Chain,
    Container,
    Function,
    Known,
    Module,
    Unknown,
    Value,
    change,
    constant,
    items_of,
    listed,
    reason_of,
    whole_text,
)

MAX_STEPS = 200_000
"""Limit of the expressions and statements that are read: a few seconds of work."""


class TooLongError(Exception):
    """The limit is reached."""


class Expressions:
    """Evaluates each expression, once for each time that it runs."""

    def __init__(
        self, tree: ast.Module, arguments: Sequence[str], variables: Mapping[str, str], reading: Reading
    ) -> None:
        nodes = list(ast.walk(tree))
        self.reading = reading
        self.unsafe = unsafe(nodes)
        self.objects = Objects(imports(nodes), self.unsafe.identifiers)
        self.follow: Callable[[Function, Arguments], Value] = lambda function, arguments: Unknown()
        """Reads a called function and returns its result."""

        self.later: Callable[[Function], None] = lambda function: None
        """Stores a function that code that is not followed may call."""

        self._arguments_given = () if "argv" in self.unsafe.changed else arguments
        self._given = given(self._arguments_given, {} if "environ" in self.unsafe.changed else variables)
        self._steps = 0

    def step(self) -> None:
        """Count one expression or statement."""
        self._steps += 1
        if self._steps > MAX_STEPS:
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
        return Unknown()

    def uncertain(self, node: ast.AST | None, scope: Scope) -> Value:
        """Return the value of an expression that may not run."""
        with self.reading.below(object()):
            return self.value(node, scope)

    # --- Constants

    def _text_part(self, node: ast.FormattedValue, scope: Scope) -> Value:
        value = self.value(node.value, scope)
        is_plain = node.format_spec is None and node.conversion in (-1, ord("s"))
        return value if is_plain else Unknown(reason_of(value))

    def _list(self, node: ast.List | ast.Set | ast.Tuple, scope: Scope) -> Value:
        arguments = self._arguments(node.elts, [], scope)
        return listed(arguments.positional, is_open=not arguments.is_complete)

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        names = [constant(self.value(key, scope)) if key else None for key in node.keys]
        values = [self.value(value, scope) for value in node.values]
        pairs = {name.value: value for name, value in zip(names, values, strict=True) if name}
        return Container(pairs) if all(names) else Unknown()

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        return added(left, right) if isinstance(node.op, ast.Add) else Unknown()

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        values = [self.value(part, scope) for part in (node.left, *node.comparators)]
        return compared(type(node.ops[0]), *values) if len(values) == 2 else Unknown()

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        known = constant(self.value(node.operand, scope))
        return Known(not known.value) if known and isinstance(node.op, ast.Not) else Unknown()

    # --- Choices

    def _choice(self, node: ast.BoolOp | ast.IfExp, scope: Scope) -> Value:
        """Read an expression whose other parts may not run."""
        first, *others = node.values if isinstance(node, ast.BoolOp) else (node.test, node.body, node.orelse)
        self.value(first, scope)
        for part in others:
            self.uncertain(part, scope)
        return Unknown()

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp, scope: Scope
    ) -> Value:
        """Read a comprehension as a loop over unknown items; its own value is unknown, too."""
        inner = Scope(dict.fromkeys(assigned(node.generators), Unknown()), scope)
        for generator in node.generators:
            self.value(generator.iter, inner)
        tests = [test for generator in node.generators for test in generator.ifs]
        for part in (*tests, *([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])):
            self.uncertain(part, inner)
        return Unknown()

    # --- Names, attributes and items

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        value = scope.find(node.id)
        if value is None:
            value = self.objects.of_module("builtins." * hasattr(builtins, node.id) + node.id)
        return self.objects.by_name(node.id, CHANGED if node.id in self.unsafe.shared else value)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        receiver = self.value(node.value, scope)
        if is_method(receiver, node.attr):
            self.reading.line = node.lineno
            self.reading.gap(f"`{node.attr}` is called elsewhere: its reads and writes are not followed")
            return Unknown()
        return self._member(receiver, node.attr)

    def _member(self, receiver: Value, name: str) -> Value:
        if isinstance(receiver, Module):
            return self.imported(f"{receiver.name}.{name}", receiver)
        if _is_namespace(receiver):
            return receiver.get(name)
        return self.objects.attribute(receiver, name)

    def imported(self, name: str, module: Module | None = None) -> Value:
        """Return the value of an imported full name."""
        if name in self._given:
            return self._given[name]
        attribute = self.objects.attribute(module, name.rpartition(".")[2]) if module else None
        return attribute if isinstance(attribute, Chain) else self.objects.of_module(name)

    def _item(self, node: ast.Subscript, scope: Scope) -> Value:
        receiver = self.value(node.value, scope)
        key = constant(self.value(node.slice, scope))
        if key and isinstance(receiver, Container):
            return receiver.get(key.value)
        return receiver if isinstance(receiver, Unknown) else Unknown()

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign a value to the target on the left of `=`."""
        match target:
            case ast.Name(name):
                self.bind(name, value, scope)
            case ast.Tuple(parts) | ast.List(parts):
                is_plain = not any(isinstance(part, ast.Starred) for part in parts)
                for number, part in enumerate(parts):
                    item = value.get(number) if isinstance(value, Container) and is_plain else Unknown()
                    self.assign(part, item, scope)
            case ast.Starred(inner):
                self.assign(inner, Unknown(), scope)
            case _:
                change([value])
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
            function = Unknown() if is_method(receiver, name) else self._member(receiver, name)
        else:
            function, name = self.value(node.func, scope), ""
        arguments = self._arguments(node.args, node.keywords, scope)
        self.reading.line = node.lineno
        if isinstance(function, Function):
            return self.follow(function, arguments)
        for value in arguments.values():
            if isinstance(value, Function):
                self.later(value)
        self.reading.call(receiver, name, function, arguments)
        full = function.name if isinstance(function, Module) else ""
        if not isinstance(receiver, Chain | Known) and not is_harmless(full, name):
            change(value for value in arguments.values() if not _is_namespace(value))
        return self._result(receiver, name, full, arguments)

    def _result(self, receiver: Value | None, name: str, full: str, arguments: Arguments) -> Value:
        """Return the result of a method of an object, or of the function with a full name."""
        if full in FUNCTIONS and arguments.is_complete and not arguments.named:
            return FUNCTIONS[full](*arguments.positional)
        if full == "argparse.ArgumentParser":
            return Parser(arguments, self._arguments_given, self.reading.conditions)
        if full == "os.getenv":
            receiver, name = self._given["os.environ"], "get"
        if receiver is None:
            return result_of(full)
        if isinstance(receiver, Parser):
            return receiver.called(name, arguments, self.reading.conditions)
        if isinstance(receiver, Container):
            return _of_container(receiver, name, arguments)
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
            is_complete &= not is_starred or bool(items_of(value))
            if is_complete:
                positional += items_of(value) if is_starred else [value]
        for keyword in keywords:
            value = self.value(keyword.value, scope)
            pairs = value.pairs if isinstance(value, Container) else ()
            if keyword.arg is None:
                named += [(whole_text(name) or "", item) for name, item in pairs]
                is_complete &= bool(pairs)
            else:
                named.append((keyword.arg, value))
        return Arguments(tuple(positional), tuple(named), is_complete)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        self.later(self.function(node, scope))
        return Unknown()

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> Function:
        """Return a function with the defaults of its parameters; Python evaluates them here."""
        signature = node.args
        positional = [*signature.posonlyargs, *signature.args]
        pairs = [*zip(positional[::-1], signature.defaults[::-1], strict=False)]
        pairs += [(p, d) for p, d in zip(signature.kwonlyargs, signature.kw_defaults, strict=True) if d]
        defaults = {parameter.arg: self.value(default, scope) for parameter, default in pairs}
        return Function(node, scope.outer if scope.is_class else scope, defaults)

    def parameters(self, function: Function, arguments: Arguments) -> Iterator[tuple[str, Value]]:
        """Yield the parameters of a function with their values in a call."""
        signature = function.node.args
        positional = [*signature.posonlyargs, *signature.args]
        for number, parameter in enumerate([*positional, *signature.kwonlyargs]):
            value = arguments.find(number if number < len(positional) else -1, parameter.arg)
            if value is None and arguments.is_complete:
                value = function.defaults.get(parameter.arg)
            yield parameter.arg, value or Unknown()
        for rest in filter(None, (signature.vararg, signature.kwarg)):
            yield rest.arg, Unknown()


def _is_namespace(value: Value) -> TypeGuard[Container]:
    """Return whether a value is the result of `argparse`, which functions only read."""
    return isinstance(value, Container) and value.is_open and not value.is_list


def _of_container(container: Container, method: str, arguments: Arguments) -> Value:
    """Return the result of a method of a dict."""
    key = constant(arguments.get(0, "key"))
    if method == "get" and key:
        is_missing = bool(container.pairs) and key.value not in container.entries
        return (arguments.get(1, "default") or Known(None)) if is_missing else container.get(key.value)
    if method in ("items", "values") and container.pairs:
        return listed(listed(pair) if method == "items" else pair[1] for pair in container.pairs)
    return Unknown()


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
