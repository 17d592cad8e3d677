"""Evaluates expressions: constants, and the objects of Spark by the names that lead to them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from airflow_provider_spark_lineage.plan.python import methods
from airflow_provider_spark_lineage.plan.python.names import Binding, Frame, Table, changed, table
from airflow_provider_spark_lineage.plan.python.values import (
    FUNCTIONS,
    NOT_GIVEN,
    OPERATORS,
    UNCLEAR,
    Arguments,
    Chain,
    Entries,
    Function,
    Items,
    Known,
    Module,
    Unknown,
    Value,
    formatted,
    joined,
    parsed,
    reason_of,
    whole_text,
)

_SEVERAL = Unknown("has several values")
_AFTER = Unknown(NOT_GIVEN.format("1 and later"))

MAX_FRAMES = 5_000
"""Limit of the calls of functions and turns of loops that are told apart."""


class Evaluator:
    """Gives the values of a script's expressions."""

    def __init__(self, tree: ast.Module, given: Sequence[str], variables: Mapping[str, str]) -> None:
        self._tree, self._given = tree, given
        own = Unknown("is the script's own path")
        environment = tuple((name, Known(text)) for name, text in variables.items())
        self._outside = {
            "os.environ": Entries(environment, "is the environment variable {}, which is not given"),
            "sys.argv": Entries(tuple(enumerate((own, *map(Known, given)))), NOT_GIVEN),
        }
        self._shared, self._reused = changed(tree)
        self._frames = 0
        self._active: set[ast.AST] = set()
        self._unfinished = 0

    def value(self, node: Binding, frame: Frame) -> Value:
        """Return the value of an expression, or of what a name is bound to."""
        if node in frame.values:
            return frame.values[node]
        value = self._value(node, frame)
        if not self._unfinished:
            # What is made of a name that is being evaluated is not final.
            frame.values[node] = value
        return value

    def _value(self, node: Binding, frame: Frame) -> Value:
        match node:
            case Module(name):
                return self._outside.get(name) or methods.of_module(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return Function(node, frame)
            case ast.Constant(value):
                return Known(value)
            case ast.Name(name):
                return self._name(name, frame)
            case ast.JoinedStr(parts):
                return joined([self.value(part, frame) for part in parts])
            case ast.FormattedValue(inner, -1 | 115, None) | ast.NamedExpr(_, inner) | ast.Await(inner):
                return self.value(inner, frame)
            case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
                return OPERATORS[type(operator)](self.value(left, frame), self.value(right, frame))
            case ast.List(items) | ast.Tuple(items) if not any(isinstance(i, ast.Starred) for i in items):
                return Items(tuple(self.value(item, frame) for item in items))
            case ast.Subscript(receiver, key):
                return self._item(self.value(receiver, frame), key, frame)
            case ast.Attribute(receiver, name):
                return self._attribute(self.value(receiver, frame), name, frame)
            case ast.Call():
                return self._call(node, frame)
        return Unknown()

    def _name(self, name: str, frame: Frame) -> Value:
        owner = frame.owner(name)
        if owner is None:
            return methods.by_name(name, methods.of_module(f"builtins.{name}"))
        if name not in owner.values:
            # What it is while it is evaluated: a name may be made of itself.
            owner.values[name] = _SEVERAL
            self._unfinished += 1
            bindings = owner.table[name]
            is_bound = name in owner.bound and len(bindings) == 1
            values = [owner.bound[name]] if is_bound else [self.value(one, owner) for one in bindings]
            value = _merged(values)
            self._unfinished -= 1
            if name in self._shared or (name in self._reused and isinstance(value, Items)):
                value = Unknown("may be changed elsewhere")
            owner.values[name] = methods.by_name(name, value)
        return owner.values[name]

    def frame(self, names: Table, outer: Frame | None, bound: Mapping[str, Value]) -> Frame | None:
        """Return the names inside a call or a turn of a loop; None where there are too many of them."""
        self._frames += 1
        return Frame(names, outer, bound) if self._frames <= MAX_FRAMES else None

    def _attribute(self, receiver: Value, name: str, frame: Frame) -> Value:
        if isinstance(receiver, Module):
            return self.value(Module(f"{receiver.name}.{name}"), frame)
        return receiver.get(name) if isinstance(receiver, Entries) else methods.attribute(receiver, name)

    def _item(self, receiver: Value, node: ast.expr, frame: Frame) -> Value:
        key = self.value(node, frame)
        number = key.value if isinstance(key, Known) else None
        if receiver == self._outside["sys.argv"] and ast.unparse(node) == "1:":
            return Items(tuple(map(Known, self._given))) if self._given else _AFTER
        if isinstance(receiver, Items) and isinstance(number, int) and 0 <= number < len(receiver.items):
            return receiver.items[number]
        return receiver.get(number) if isinstance(receiver, Entries) else Unknown(reason_of(receiver))

    def arguments(self, node: ast.Call, frame: Frame) -> Arguments:
        """Return the arguments of a call; those in `*` and `**` are not known."""
        stars = [number for number, argument in enumerate(node.args) if isinstance(argument, ast.Starred)]
        positional = [self.value(argument, frame) for argument in node.args[: min(stars, default=None)]]
        named = tuple((one.arg, self.value(one.value, frame)) for one in node.keywords if one.arg)
        is_complete = not stars and len(named) == len(node.keywords)
        return Arguments(tuple(positional), named, is_complete)

    def _call(self, node: ast.Call, frame: Frame) -> Value:
        arguments, receiver, name = self.arguments(node, frame), None, ""
        if isinstance(node.func, ast.Attribute):
            receiver, name = self.value(node.func.value, frame), node.func.attr
        function = self._attribute(receiver, name, frame) if receiver else self.value(node.func, frame)
        if isinstance(function, Function):
            return self._returned(function, arguments)
        full = function.name if isinstance(function, Module) else ""
        if full in FUNCTIONS:
            return FUNCTIONS[full](*arguments.positional)
        if receiver is None:
            return methods.made(full)
        if full == "os.getenv" or (isinstance(receiver, Entries) and name == "get"):
            return self._outside["os.environ"].get(whole_text(arguments.get(0, "key")))
        if name == "parse_args":
            return self._parsed(arguments, frame)
        if name == "format" and isinstance(receiver, Known | Unknown):
            return formatted(receiver, arguments)
        return methods.called(receiver, name, arguments)

    def called(self, function: Function, given: Arguments) -> Frame | None:
        """Return the names inside a function."""
        bound = {name: methods.by_name(name, value) for name, value in self._parameters(function, given)}
        return self.frame(table(function.node.body, bound), function.frame, bound)

    def _parameters(self, function: Function, given: Arguments) -> Iterator[tuple[str, Value]]:
        signature = function.node.args
        positional = [*signature.posonlyargs, *signature.args]
        defaults = [None] * (len(positional) - len(signature.defaults)) + signature.defaults
        for number, parameter in enumerate([*positional, *signature.kwonlyargs]):
            value = given.given(number if number < len(positional) else len(given.positional), parameter.arg)
            default = [*defaults, *signature.kw_defaults][number]
            yield parameter.arg, self.value(default, function.frame) if value is None else value
        for rest in filter(None, (signature.vararg, signature.kwarg)):
            yield rest.arg, Unknown()

    def _returned(self, function: Function, arguments: Arguments) -> Value:
        """Return what a function gives that has one RETURN, at its end."""
        last = function.node.body[-1]
        returns = sum(isinstance(node, ast.Return) for node in ast.walk(function.node))
        inside = self.called(function, arguments) if isinstance(last, ast.Return) and returns == 1 else None
        if inside is None or function.node in self._active or function.node.decorator_list:
            return methods.made(function.node.name)
        self._active.add(function.node)
        value = self.value(getattr(last, "value", None), inside)
        self._active.discard(function.node)
        return value

    def _parsed(self, arguments: Arguments, frame: Frame) -> Value:
        """Return what `parse_args` gives, where the script has one parser for the application's arguments."""
        calls = [node for node in ast.walk(self._tree) if isinstance(node, ast.Call)]
        names = [ast.unparse(call.func).rpartition(".")[2] for call in calls]
        own = arguments.get(0, "args")
        is_own = own not in (None, self._item(self._outside["sys.argv"], ast.Name("1:"), frame))
        if names.count("ArgumentParser") != 1 or "add_subparsers" in names or is_own:
            return Unknown()
        declared = (call for call, name in zip(calls, names, strict=True) if name == "add_argument")
        return parsed([self.arguments(call, frame) for call in declared], self._given)


def _merged(values: Sequence[Value]) -> Value:
    """Return the value of a name by all that is assigned to it."""
    if len(set(values)) == 1:
        return values[0]
    kinds = {value.kind if isinstance(value, Chain) else "" for value in values if value != _SEVERAL}
    return Chain(kinds.pop(), UNCLEAR) if len(kinds) == 1 and "" not in kinds else _SEVERAL
