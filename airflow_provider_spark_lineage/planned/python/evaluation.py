"""Evaluation of expressions: constants and objects of Spark; `reading` notes the calls of these."""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from airflow_provider_spark_lineage.planned.python import methods
from airflow_provider_spark_lineage.planned.python.classes import attributes_of
from airflow_provider_spark_lineage.planned.python.parsers import NOT_GIVEN, Parser
from airflow_provider_spark_lineage.planned.python.reading import Reading
from airflow_provider_spark_lineage.planned.python.scopes import (
    SUPER,
    Scope,
    children,
    first,
    imports,
    unsafe,
    walk,
)
from airflow_provider_spark_lineage.planned.python.texts import (
    FUNCTIONS,
    METHODS,
    OPERATORS,
    compared,
    each,
    formatted,
    joined,
    joined_by,
    of_text,
    spelled,
)
from airflow_provider_spark_lineage.planned.python.values import (
    CHANGED,
    NOT_CONSTANT,
    SEVERAL,
    Arguments,
    Chain,
    Class,
    Container,
    Entries,
    Function,
    Items,
    Known,
    Method,
    Module,
    Unknown,
    Value,
    change,
    constant,
    items_of,
    merged,
    whole_text,
)

MAX_STEPS = 200_000
"""Limit of the expressions and statements that are read: a few seconds of work."""


_PROPERTIES = (("property",), ("cached_property",), ("functools.cached_property",))
"""Decorators of methods that are called without parentheses."""


class TooLongError(Exception):
    """The limit is reached."""


class Evaluator:
    """Evaluates each expression, once for each time that it runs."""

    def __init__(
        self,
        tree: ast.Module,
        application_arguments: Sequence[str],
        variables: Mapping[str, str],
        reading: Reading,
    ) -> None:
        nodes = list(walk([tree]))
        self.reading = reading
        self.unsafe = unsafe(nodes)
        modules = list(imports(nodes))
        self.api = methods.Api(modules, self.unsafe.identifiers)
        stars = sorted((name[:-1] for name in modules if name.endswith(".*")), key=methods.is_spark)
        self._star = stars[0] if stars else ""
        """Beginning of the full names that `from x import *` may have imported: `x.`"""

        self.follow: Callable[[Function, Arguments], Value] = lambda function, arguments: Unknown()
        """Reads a called function and returns its result."""

        self.later: Callable[[Function, bool], None] = lambda function, is_elsewhere: None
        """Stores a function whose calls may not be in the text, or that other code calls."""

        self._application = () if "argv" in self.unsafe.changed else application_arguments
        environment = {} if "environ" in self.unsafe.changed else variables
        argv = (Unknown("is the script's own path"), *map(Known, self._application))
        self._outside: Mapping[str, Value] = {
            "os.environ": Entries(
                {name: Known(text) for name, text in environment.items()},
                "is the environment variable {}, which is not given",
            ),
            "sys.argv": Items(argv, NOT_GIVEN, is_open=not self._application),
        }
        self._steps = 0

    def step(self) -> None:
        """Count one expression or statement."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooLongError

    def value(self, node: ast.AST | None, scope: Scope) -> Value:
        """Return the value of an expression, and note its reads and writes."""
        # A loop from the inside out, because recursion could not follow long chains of method calls.
        chain: list[ast.AST] = []
        while node is not None:
            chain.append(node)
            node = first(node)
        value: Value = Unknown()
        for outer in reversed(chain):
            self.step()
            value = self._value(outer, value, scope)
        return value

    def uncertain(self, node: ast.AST | None, scope: Scope) -> Value:
        """Return the value of an expression that may not run."""
        with self.reading.below(object()):
            return self.value(node, scope)

    def _value(self, node: ast.AST, inner: Value, scope: Scope) -> Value:
        """Return the value of a node; `inner` is the value of its `first`."""
        match node:
            case ast.Attribute(_, name):
                return self.attribute(inner, name)
            case ast.Call():
                return self._call(node, inner, scope)
            case ast.Subscript(_, key):
                return self._item(inner, key, scope)
            case ast.FormattedValue(_, -1 | 115, None) | ast.Await():
                return inner
            case ast.FormattedValue(_, -1, how):
                return each(spelled, inner, self.value(how, scope))
            case ast.BinOp(_, operator, right):
                other = self.value(right, scope)
                return each(OPERATORS.get(type(operator), _unknown), inner, other)
        if type(node) in _NODES:
            return _NODES[type(node)](self, node, scope)
        for part in children(node):
            if isinstance(part, ast.expr) and part is not first(node):
                self.value(part, scope)
        return Unknown()

    def _constant(self, node: ast.Constant, scope: Scope) -> Value:
        return Known(node.value)

    def _text(self, node: ast.JoinedStr, scope: Scope) -> Value:
        return each(joined, *(self.value(part, scope) for part in node.values))

    def _list(self, node: ast.List | ast.Set | ast.Tuple, scope: Scope) -> Value:
        arguments = self._arguments(node.elts, [], scope)
        return Items(arguments.positional, is_open=not arguments.is_complete)

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        names = [constant(self.value(key, scope)) if key else None for key in node.keys]
        values = [self.value(value, scope) for value in node.values]
        pairs = {name.value: value for name, value in zip(names, values, strict=True) if name}
        return Entries(pairs, is_dict=True) if all(names) else Unknown()

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.value(node.value, scope)
        while scope.is_comprehension and scope.outer:
            scope = scope.outer
        # It may be at a place that does not always run.
        self.assign(node.target, merged([value], exactly=False), scope)
        return value

    def _if(self, node: ast.IfExp, scope: Scope) -> Value:
        test = constant(self.value(node.test, scope))
        if test:
            return self.value(node.body if test.value else node.orelse, scope)
        return merged([self.uncertain(node.body, scope), self.uncertain(node.orelse, scope)])

    def _either(self, node: ast.BoolOp, scope: Scope) -> Value:
        value = self.value(node.values[0], scope)
        for part in node.values[1:]:
            known = constant(value)
            if known and bool(known.value) == isinstance(node.op, ast.Or):
                return value
            value = self.value(part, scope) if known else merged([value, self.uncertain(part, scope)])
        return value

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        values = [self.value(part, scope) for part in (node.left, *node.comparators)]
        return compared(type(node.ops[0]), *values) if len(values) == 2 else Unknown()

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        known = constant(self.value(node.operand, scope))
        if known and isinstance(node.op, ast.Not):
            return Known(not known.value)
        if known and isinstance(node.op, ast.USub) and isinstance(known.value, int):
            return Known(-known.value)
        return Unknown()

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        function = Function(node, scope, self.defaults(node.args, scope))
        self.later(function, False)
        return function

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        value = scope.find(node.id)
        if value is None:
            full = f"builtins.{node.id}" if hasattr(builtins, node.id) else f"{self._star}{node.id}"
            return self.api.by_name(node.id, self.api.of_module(full))
        return self.api.by_name(node.id, CHANGED if node.id in self.unsafe.shared else value)

    def _item(self, receiver: Value, node: ast.expr, scope: Scope) -> Value:
        if isinstance(node, ast.Slice):
            return self._part(receiver, node, scope)
        key = constant(self.value(node, scope))
        if key and isinstance(receiver, Items | Entries):
            return receiver.get(key.value)
        return receiver if isinstance(receiver, Unknown) else Unknown()

    def _part(self, receiver: Value, node: ast.Slice, scope: Scope) -> Value:
        """Return the items of a slice."""
        numbers: list[int | None] = []
        for bound in (node.lower, node.upper, node.step):
            known = constant(self.value(bound, scope)) if bound else Known(None)
            if known and isinstance(known.value, int | None):
                numbers.append(known.value)
        if not isinstance(receiver, Items) or len(numbers) < 3:
            return Unknown()
        return receiver.part(slice(*numbers), NOT_GIVEN.format("1 and later"))

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp, scope: Scope
    ) -> Value:
        inner = Scope(outer=scope, is_comprehension=True)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        generator, *others = node.generators
        items = items_of(self.value(generator.iter, scope))
        is_known = bool(items) and not others
        values = []
        for item in items if is_known else (Unknown(),):
            self.assign(generator.target, item, inner)
            for other in others:
                self.value(other.iter, inner)
                self.assign(other.target, Unknown(), inner)
            tests = [constant(self.value(test, inner)) for part in node.generators for test in part.ifs]
            if all(tests) and not all(test.value for test in tests if test):
                continue
            is_known &= all(tests)
            values += [(self.value if is_known else self.uncertain)(part, inner) for part in parts]
        return Items(tuple(values)) if is_known and not isinstance(node, ast.DictComp) else Unknown()

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> Value:
        """Assign a value to the target on the left of `=`; return the value."""
        match target:
            case ast.Name(name):
                self._note_change(name, value)
                scope.bind(name, self.api.by_name(name, value))
            case ast.Tuple(parts) | ast.List(parts):
                items = items_of(value)
                fits = len(items) == len(parts) and not any(isinstance(part, ast.Starred) for part in parts)
                for number, part in enumerate(parts):
                    missing = value.get(number) if isinstance(value, Items) and not items else Unknown()
                    self.assign(part, items[number] if fits else missing, scope)
            case ast.Starred(inner):
                self.assign(inner, Unknown(), scope)
            case ast.Attribute(inner, name):
                receiver = self.value(inner, scope)
                self._note_change(name, value)
                if isinstance(receiver, Class):
                    before = receiver.attributes.get(name, value)
                    receiver.attributes[name] = merged([before, value], exactly=before == value)
                else:
                    change([value])
            case ast.Subscript(inner, key):
                change([self.value(inner, scope), value])
                self.value(key, scope)
        return value

    def _note_change(self, name: str, value: Value) -> None:
        if name in self.unsafe.changed and isinstance(value, Container):
            change([value])

    def attribute(self, receiver: Value, name: str) -> Value:
        """Return an attribute of an object."""
        if isinstance(receiver, Module):
            return self.imported(f"{receiver.name}.{name}", receiver)
        if isinstance(receiver, Entries) and not receiver.is_dict:
            return receiver.get(name)
        if isinstance(receiver, Class):
            value = self._member(receiver, name)
            return self.api.attribute(Unknown(), name) if value is None else self.api.by_name(name, value)
        return self.api.attribute(receiver, name)

    def _member(self, receiver: Class, name: str) -> Value | None:
        member, own = receiver.members.get(name), receiver.attributes.get(name)
        if isinstance(member, Function):
            if receiver.is_object and member.decorators in _PROPERTIES:
                return self.follow(
                    replace(member, receiver=receiver.seen_from or receiver, decorators=()), Arguments()
                )
            is_bound = receiver.is_object and not member.decorators
            method = replace(member, receiver=receiver.seen_from or receiver) if is_bound else member
            is_plain = not member.decorators or "staticmethod" in member.decorators
            return method if is_plain else None
        if name in self.unsafe.set_late:
            return None
        return SEVERAL if member and own else member or own

    def imported(self, name: str, module: Module | None = None) -> Value:
        """Return the value of an imported full name."""
        if name in self._outside:
            return self._outside[name]
        value = self.api.of_module(name)
        attribute = self.api.attribute(module, name.rpartition(".")[2]) if module else value
        return attribute if isinstance(attribute, Chain) else value

    def arguments(self, node: ast.Call, scope: Scope) -> Arguments:
        """Return the arguments of a call."""
        return self._arguments(node.args, node.keywords, scope)

    def _arguments(
        self, nodes: Sequence[ast.expr], keywords: Sequence[ast.keyword], scope: Scope
    ) -> Arguments:
        positional: list[Value] = []
        named: list[tuple[str, Value]] = []
        is_complete = True
        for argument in nodes:
            is_starred = isinstance(argument, ast.Starred)
            value = self.value(argument.value if isinstance(argument, ast.Starred) else argument, scope)
            if is_complete and (not is_starred or items_of(value)):
                positional += items_of(value) if is_starred else [value]
            else:
                is_complete = False
        for keyword in keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                named.append((keyword.arg, value))
            elif isinstance(value, Entries) and value.is_dict and not value.is_changed:
                named += [(str(name), item) for name, item in value.entries.items()]
            else:
                is_complete = False
        return Arguments(tuple(positional), tuple(named), is_complete)

    def _call(self, node: ast.Call, inner: Value, scope: Scope) -> Value:
        """Return the result of a call; `inner` is the object of a method, or the function."""
        arguments = self.arguments(node, scope)
        self.reading.line = node.lineno
        if inner == Module("builtins.super") and len(arguments.values()) in (0, 2):
            return scope.find(SUPER) or Unknown()
        if not isinstance(node.func, ast.Attribute):
            return self.called(inner, None, "", arguments)
        return self.called(self.attribute(inner, node.func.attr), inner, node.func.attr, arguments)

    def called(self, function: Value, receiver: Value | None, name: str, arguments: Arguments) -> Value:
        """Return the result of a function, which may be the method `name` of an object."""
        if isinstance(function, Class) and function.is_object:
            function = self._member(function, "__call__") or Unknown()
        if isinstance(function, Function):
            return self.follow(function, arguments)
        if isinstance(function, Class):
            return self._instance(function, arguments)
        if isinstance(function, Method):
            receiver, name = function.receiver, function.name
        for value in arguments.values():
            if isinstance(value, Function):
                self.later(value, True)
        self.reading.call(receiver, name, function, arguments)
        full = function.name if isinstance(function, Module) else ""
        if not isinstance(receiver, Chain | Known) and not methods.is_harmless(full, name):
            change(value for value in arguments.values() if not _is_namespace(value))
        if full in FUNCTIONS and arguments.is_complete and not arguments.named:
            with contextlib.suppress(OverflowError, TypeError, ValueError):
                return each(FUNCTIONS[full], *arguments.positional)
        if full == "argparse.ArgumentParser":
            return Parser(arguments, self._application, self.reading.conditions)
        if full == "os.getenv":
            receiver, name = self._outside["os.environ"], "get"
        return methods.result_of(full) if receiver is None else self._of_object(receiver, name, arguments)

    def _of_object(self, receiver: Value, name: str, arguments: Arguments) -> Value:
        if isinstance(receiver, Parser):
            return receiver.called(name, arguments, self.reading.conditions)
        if isinstance(receiver, Entries):
            return _of_entries(receiver, name, arguments)
        if name == "format" and isinstance(receiver, Known | Unknown):
            return formatted(receiver, arguments)
        if name == "join" and isinstance(receiver, Known) and len(arguments.positional) == 1:
            return joined_by(receiver, arguments.positional[0])
        if name in METHODS and arguments.is_complete and not arguments.named:
            return each(lambda *texts: of_text(name, *texts), receiver, *arguments.positional)
        return self.api.called(receiver, name, arguments)

    def _instance(self, of: Class, arguments: Arguments) -> Value:
        members = {name: member for name, member in of.members.items() if name not in of.fields}
        instance = Class(members, attributes_of(of, arguments), is_object=True)
        start = of.members.get("__init__")
        if isinstance(start, Function):
            self.follow(replace(start, receiver=instance), arguments)
        return instance

    def defaults(self, signature: ast.arguments, scope: Scope) -> dict[str, Value]:
        """Return the defaults of parameters; Python evaluates them when it defines the function."""
        positional = [*signature.posonlyargs, *signature.args]
        pairs = [*zip(positional[::-1], signature.defaults[::-1], strict=False)]
        pairs += [(p, d) for p, d in zip(signature.kwonlyargs, signature.kw_defaults, strict=True) if d]
        return {parameter.arg: self.value(default, scope) for parameter, default in pairs}

    def parameters(self, function: Function, arguments: Arguments) -> Iterator[tuple[str, Value]]:
        """Yield the parameters of a function with their values in a call."""
        signature = function.node.args
        if function.receiver is not None:
            arguments = replace(arguments, positional=(function.receiver, *arguments.positional))
        positional = [*signature.posonlyargs, *signature.args]
        for number, parameter in enumerate([*positional, *signature.kwonlyargs]):
            name = parameter.arg
            position = number if number < len(positional) else len(arguments.positional)
            value = arguments.find(position, name)
            value = function.defaults.get(name, Unknown()) if value is None else value
            is_open = isinstance(value, Unknown) or value == Known(None)
            if is_open and parameter.annotation is not None:
                value = self._annotated(parameter.annotation, value, function.scope)
            self._note_change(name, value)
            yield name, self.api.by_name(name, value)
        for rest in filter(None, (signature.vararg, signature.kwarg)):
            yield rest.arg, Unknown()

    def _annotated(self, annotation: ast.expr, value: Value, scope: Scope) -> Value:
        """Return an object of the annotated type of a parameter, if that is known; otherwise `value`."""
        text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
        for name in re.findall(r"[\w.]+", str(text)):
            of_type = self.value(ast.parse(name, mode="eval").body, scope)
            instance = methods.of_class(of_type.name) if isinstance(of_type, Module) else Unknown()
            value = value if isinstance(instance, Unknown) else instance
        return value


def _unknown(*values: Value) -> Value:
    return Unknown()


def _is_namespace(value: Value) -> bool:
    return isinstance(value, Entries) and not value.is_dict


def _of_entries(entries: Entries, method: str, arguments: Arguments) -> Value:
    """Return the result of a method of a dict."""
    key = constant(arguments.get(0, "key"))
    if method == "get" and key:
        is_missing = entries.is_dict and not entries.is_changed and key.value not in entries.entries
        return (arguments.get(1, "default") or Known(None)) if is_missing else entries.get(key.value)
    if method in ("items", "keys", "values") and entries.is_dict and not entries.is_changed:
        pairs = [(Known(name), value) for name, value in entries.entries.items()]
        return Items(tuple(Items(pair) if method == "items" else pair[method == "values"] for pair in pairs))
    return Unknown(entries.missing.format(whole_text(key)) if method == "get" else NOT_CONSTANT)


_NODES: Mapping[type, Callable[..., Value]] = {
    ast.BoolOp: Evaluator._either,
    ast.Compare: Evaluator._compare,
    ast.Constant: Evaluator._constant,
    ast.Dict: Evaluator._dict,
    ast.IfExp: Evaluator._if,
    ast.JoinedStr: Evaluator._text,
    ast.Lambda: Evaluator._lambda,
    ast.Name: Evaluator._name,
    ast.NamedExpr: Evaluator._walrus,
    ast.UnaryOp: Evaluator._unary,
    **dict.fromkeys((ast.List, ast.Set, ast.Tuple), Evaluator._list),
    **dict.fromkeys((ast.DictComp, ast.GeneratorExp, ast.ListComp, ast.SetComp), Evaluator._comprehension),
}
