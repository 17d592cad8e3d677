"""Evaluates expressions: constants, and the objects of Spark by the names that lead to them."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping, Sequence

from airflow_provider_spark_lineage.plan.python import methods
from airflow_provider_spark_lineage.plan.python.names import (
    READS,
    Binding,
    Frame,
    Table,
    changed,
    first,
    imports,
    table,
    walk,
)
from airflow_provider_spark_lineage.plan.python.values import (
    FUNCTIONS,
    METHODS,
    NOT_CONSTANT,
    NOT_GIVEN,
    OPERATORS,
    UNCLEAR,
    Arguments,
    Chain,
    Entries,
    Function,
    Items,
    Known,
    Method,
    Module,
    Unknown,
    Value,
    constant,
    formatted,
    joined,
    of_text,
    parsed,
    reason_of,
    whole_text,
)

_SEVERAL = Unknown("has several values")
_AFTER = Unknown(NOT_GIVEN.format("1 and later"))

_CHANGED = Unknown("may be changed elsewhere")
_REST = ast.Slice(ast.Constant(1))
_SEPARATE = frozenset({"add_subparsers", "set_defaults"})
_HARMLESS = frozenset({"add_help", "description", "epilog", "formatter_class", "prog", "usage"})
"""Options of a parser that change no argument."""

MAX_FRAMES = 5_000
"""Limit of the calls of functions and turns of loops that are told apart."""


class Evaluator:
    """Gives the values of a script's expressions."""

    def __init__(self, tree: ast.Module, given: Sequence[str], variables: Mapping[str, str]) -> None:
        nodes = list(walk([tree]))
        self._functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        self._calls = [node for node in nodes if isinstance(node, ast.Call)]
        own = Unknown("is the script's own path")
        changes = [
            node for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        ]
        changed_here = {getattr(node.value, "attr", "") for node in changes}
        changed_here |= {
            getattr(node.func.value, "attr", "")
            for node in self._calls
            if isinstance(node.func, ast.Attribute) and node.func.attr not in READS
        }
        changed_here |= {
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
        }
        given_variables = () if "environ" in changed_here else variables.items()
        self._given = () if "argv" in changed_here else given
        environment = tuple((name, Known(text)) for name, text in given_variables)
        self._outside = {
            "os.environ": Entries(environment, "is the environment variable {}, which is not given"),
            "sys.argv": Entries(tuple(enumerate((own, *map(Known, self._given)))), NOT_GIVEN),
        }
        identifiers = {getattr(node, "id", getattr(node, "arg", None)) or "" for node in nodes}
        self._api = methods.Api(imports(nodes), identifiers)
        self._shared, self._reused = changed(nodes)
        self._frames = 0
        self._active: set[ast.AST] = set()
        self._unfinished = 0

    def value(self, node: Binding, frame: Frame) -> Value:
        """Return the value of an expression, or of what a name is bound to."""
        # From the inside out, because methods are called one after the other in long chains.
        chain: list[Binding] = []
        while node not in frame.values:
            chain.append(node)
            node = first(node)
            if node is None:
                break
        value = frame.values[node] if node in frame.values else Unknown()
        for one in reversed(chain):
            value = self._value(one, value, frame)
            if not self._unfinished:
                # What is made of a name that is being evaluated is not final.
                frame.values[one] = value
        return value

    def _value(self, node: Binding, inner: Value, frame: Frame) -> Value:
        """Return the value of a node, by that of its `first`."""
        match node:
            case ast.Name(name):
                return self._name(name, frame)
            case ast.Constant(value):
                return Known(value)
            case ast.Attribute(_, name):
                return self._attribute(inner, name, frame)
            case ast.Call():
                return self._call(node, inner, frame)
            case Module(name):
                return self._outside.get(name) or self._api.of_module(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return Function(node, frame)
            case ast.JoinedStr(parts):
                return joined([self.value(part, frame) for part in parts])
            case ast.FormattedValue(_, -1 | 115, None) | ast.NamedExpr() | ast.Await():
                return inner
            case ast.BinOp(_, operator, right) if type(operator) in OPERATORS:
                return OPERATORS[type(operator)](inner, self.value(right, frame))
            case ast.List(items) | ast.Tuple(items) if not any(isinstance(i, ast.Starred) for i in items):
                return Items(tuple(self.value(item, frame) for item in items))
            case ast.Dict(keys, values):
                return self._dict(keys, values, frame)
            case ast.Subscript(_, key):
                return self._item(inner, key, frame)
        return Unknown()

    def _dict(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], frame: Frame) -> Value:
        names = list(filter(None, (constant(self.value(key, frame)) for key in keys)))
        if len(names) < len(keys):
            return Unknown()
        pairs = zip(names, values, strict=True)
        return Entries(tuple((name.value, self.value(one, frame)) for name, one in pairs), is_dict=True)

    def _name(self, name: str, frame: Frame) -> Value:
        owner = frame.owner(name)
        if owner is None:
            return self._api.by_name(name, self._api.of_module(f"builtins.{name}"))
        if name not in owner.values:
            # What it is while it is evaluated: a name may be made of itself.
            owner.values[name] = _SEVERAL
            self._unfinished += 1
            bindings = owner.table[name]
            is_bound = name in owner.bound and len(bindings) == 1
            try:
                values = [owner.bound[name]] if is_bound else [self.value(one, owner) for one in bindings]
            finally:
                self._unfinished -= 1
            value = _merged(values)
            if name in self._shared or (name in self._reused and _is_container(value)):
                value = _CHANGED
            owner.values[name] = self._api.by_name(name, value)
        return owner.values[name]

    def frame(self, names: Table, outer: Frame | None, bound: Mapping[str, Value]) -> Frame | None:
        """Return the names inside a call or a turn of a loop; None where there are too many of them."""
        self._frames += 1
        return Frame(names, outer, bound) if self._frames <= MAX_FRAMES else None

    def _attribute(self, receiver: Value, name: str, frame: Frame) -> Value:
        if isinstance(receiver, Module):
            value = self.value(Module(f"{receiver.name}.{name}"), frame)
            found = self._api.attribute(receiver, name) if isinstance(value, Module) else value
            return found if isinstance(found, Chain) else value
        if isinstance(receiver, Entries) and not receiver.is_dict:
            return receiver.get(name)
        return self._api.attribute(receiver, name)

    def _item(self, receiver: Value, node: ast.expr, frame: Frame) -> Value:
        key = self.value(node, frame)
        number = key.value if isinstance(key, Known) and not key.reason else None
        if (
            isinstance(node, ast.Slice)
            and receiver == self._outside["sys.argv"]
            and ast.unparse(node) == "1:"
        ):
            return Items(tuple(map(Known, self._given))) if self._given else _AFTER
        if isinstance(receiver, Items) and isinstance(number, int) and 0 <= number < len(receiver.items):
            item = receiver.items[number]
        else:
            item = receiver.get(number) if isinstance(receiver, Entries) else Unknown(reason_of(receiver))
        # A list inside of another may be changed by way of that.
        return _CHANGED if _is_container(item) else item

    def arguments(self, node: ast.Call, frame: Frame) -> Arguments:
        """Return the arguments of a call; those in `*` and `**` are not known."""
        positional: list[Value] = []
        named: list[tuple[str, Value]] = []
        is_complete = True
        for argument in node.args:
            value = self.value(argument.value if isinstance(argument, ast.Starred) else argument, frame)
            if not isinstance(argument, ast.Starred):
                positional += [value] if is_complete else []
            elif is_complete and isinstance(value, Items):
                positional += value.items
            else:
                is_complete = False
        for keyword in node.keywords:
            value = self.value(keyword.value, frame)
            if keyword.arg is not None:
                named.append((keyword.arg, value))
            elif isinstance(value, Entries) and value.is_dict:
                named += [(str(name), one) for name, one in value.entries]
            else:
                is_complete = False
        return Arguments(tuple(positional), tuple(named), is_complete)

    def _call(self, node: ast.Call, inner: Value, frame: Frame) -> Value:
        """Return what a call gives; `inner` is the object of a method, or the function."""
        arguments, receiver, name = self.arguments(node, frame), None, ""
        if isinstance(node.func, ast.Attribute):
            receiver, name = inner, node.func.attr
        function = self._attribute(receiver, name, frame) if receiver else inner
        if isinstance(function, Function):
            return self._returned(function, arguments)
        if isinstance(function, Method):
            return self._api.called(function.receiver, function.name, arguments)
        full = function.name if isinstance(function, Module) else ""
        if full in FUNCTIONS and arguments.is_complete and not arguments.named:
            return FUNCTIONS[full](*arguments.positional)
        if receiver is None:
            return methods.made(full.removeprefix("builtins."))
        if full == "os.getenv":
            receiver, name = self._outside["os.environ"], "get"
        if isinstance(receiver, Entries):
            return _of_entries(receiver, name, arguments)
        if name in ("parse_args", "parse_known_args"):
            value = self._parsed(arguments, frame)
            return value if name == "parse_args" else Items((value, Unknown()))
        if name == "format" and isinstance(receiver, Known | Unknown):
            return formatted(receiver, arguments)
        if isinstance(receiver, Known) and name in METHODS:
            return of_text(receiver, name, arguments)
        return self._api.called(receiver, name, arguments)

    def called(self, function: Function, given: Arguments) -> Frame | None:
        """Return the names inside a function."""
        bound = {name: self._api.by_name(name, value) for name, value in self._parameters(function, given)}
        return self.frame(table(function.node.body, bound), function.frame, bound)

    def _parameters(self, function: Function, given: Arguments) -> Iterator[tuple[str, Value]]:
        signature = function.node.args
        positional = [*signature.posonlyargs, *signature.args]
        defaults = [None] * (len(positional) - len(signature.defaults)) + signature.defaults
        for number, parameter in enumerate([*positional, *signature.kwonlyargs]):
            value = given.given(number if number < len(positional) else len(given.positional), parameter.arg)
            default = [*defaults, *signature.kw_defaults][number]
            value = self.value(default, function.frame) if value is None else value
            is_open = isinstance(value, Unknown) or value == Known(None)
            if is_open and parameter.annotation is not None:
                value = self._annotated(parameter.annotation, value, function)
            yield parameter.arg, value
        for rest in filter(None, (signature.vararg, signature.kwarg)):
            yield rest.arg, Unknown()

    def _annotated(self, annotation: ast.expr, value: Value, function: Function) -> Value:
        """Return what the type of a parameter says, where nothing else does."""
        text = annotation.value if isinstance(annotation, ast.Constant) else None
        with contextlib.suppress(SyntaxError, ValueError):
            annotation = ast.parse(text, mode="eval").body if isinstance(text, str) else annotation
        for node in walk([annotation]):
            if isinstance(node, ast.Attribute | ast.Name):
                of_type = self.value(node, function.frame)
                made = methods.of_class(of_type.name) if isinstance(of_type, Module) else Unknown()
                value = value if isinstance(made, Unknown) else made
        return value

    def _returned(self, function: Function, arguments: Arguments) -> Value:
        """Return what a function gives that has one RETURN, at its end."""
        last = function.node.body[-1]
        returns = sum(isinstance(node, ast.Return) for node in walk([function.node]))
        inside = self.called(function, arguments) if isinstance(last, ast.Return) and returns == 1 else None
        if inside is None or function.node in self._active or function.node.decorator_list:
            return methods.made(function.node.name)
        self._active.add(function.node)
        try:
            return self.value(getattr(last, "value", None), inside)
        finally:
            self._active.discard(function.node)

    def _parsed(self, arguments: Arguments, frame: Frame) -> Value:
        """Return what `parse_args` gives, where the script has one parser for the application's arguments."""
        names = [getattr(call.func, "attr", getattr(call.func, "id", "")) for call in self._calls]
        own = arguments.get(0, "args")
        is_own = own not in (None, self._item(self._outside["sys.argv"], _REST, frame))
        parsers = [call for call, name in zip(self._calls, names, strict=True) if name == "ArgumentParser"]
        options = {keyword.arg for call in parsers for keyword in call.keywords}
        if len(parsers) != 1 or is_own or not options <= _HARMLESS or not _SEPARATE.isdisjoint(names):
            return Unknown()
        declared = [call for call, name in zip(self._calls, names, strict=True) if name == "add_argument"]
        return parsed([self.arguments(call, self._place(call, frame)) for call in declared], self._given)

    def _place(self, call: ast.Call, frame: Frame) -> Frame:
        """Return the names around a call of `add_argument`; those inside another function are not known."""
        outermost = frame
        while outermost.outer:
            outermost = outermost.outer
        around = [node for node in self._functions if node.lineno <= call.lineno <= (node.end_lineno or 0)]
        parameters = [one.arg for node in around for one in walk([node.args]) if isinstance(one, ast.arg)]
        names = table([statement for node in around for statement in node.body], parameters)
        if around and names.keys() == frame.table.keys():
            return frame
        return Frame(table([], names), outermost)


def _is_container(value: Value) -> bool:
    return isinstance(value, Items) or (isinstance(value, Entries) and value.is_dict)


def _of_entries(entries: Entries, method: str, arguments: Arguments) -> Value:
    """Return what a method of a dict gives."""
    key = constant(arguments.get(0, "key"))
    if method == "get" and key:
        value = entries.get(key.value)
        is_missing = entries.is_dict and key.value not in dict(entries.entries)
        value = (arguments.get(1, "default") or Known(None)) if is_missing else value
        return _CHANGED if _is_container(value) else value
    if method == "items" and entries.is_dict:
        return Items(tuple(Items((Known(name), value)) for name, value in entries.entries))
    if method == "values" and entries.is_dict:
        return Items(tuple(value for _, value in entries.entries))
    return Unknown(entries.missing.format(whole_text(key)) if method == "get" else NOT_CONSTANT)


def _merged(values: Sequence[Value]) -> Value:
    """Return the value of a name by all that is assigned to it."""
    if len(set(values)) == 1:
        return values[0]
    kinds = {value.kind if isinstance(value, Chain) else "" for value in values if value != _SEVERAL}
    return Chain(kinds.pop(), UNCLEAR) if len(kinds) == 1 and "" not in kinds else _SEVERAL
