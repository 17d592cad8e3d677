"""Values of expressions: constants, objects of Spark, and the functions and classes of the script."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NOT_CONSTANT = "is not a constant"
MAX_CHOICES = 10
"""Limit of the alternative values of a name."""


class Value:
    """Base of all values."""


@dataclass(frozen=True)
class Unknown(Value):
    """A value that is known only at run time."""

    reason: str = NOT_CONSTANT
    """The words after "the path" in a gap."""


SEVERAL = Unknown("has several values")
CHANGED = Unknown("may be changed elsewhere")


@dataclass(frozen=True)
class Other(Value):
    """An object of another library: its methods never use Spark."""


@dataclass(frozen=True)
class Known(Value):
    """A constant; a text may have holes (`HOLE`) for unknown parts."""

    value: object
    reason: str = ""
    """Why there are holes; empty if there are none."""


@dataclass(frozen=True)
class Either(Value):
    """One of several constants, which the branches of a condition assign to a name."""

    values: tuple[Known, ...]


@dataclass(eq=False)
class Container(Value):
    """A list or a dict; all names of it share this object."""

    is_changed: bool = field(default=False, init=False)
    """Code that is not followed may have changed it."""


@dataclass(eq=False)
class Items(Container):
    """A list or a tuple."""

    items: tuple[Value, ...]
    missing: str = NOT_CONSTANT
    """Why a missing item is unknown, with `{}` for its index."""

    is_open: bool = False
    """There may be more items."""

    def get(self, number: object) -> Value:
        """Return an item."""
        if self.is_changed:
            return CHANGED
        if isinstance(number, int) and (0 if self.is_open else -len(self.items)) <= number < len(self.items):
            return self.items[number]
        return Unknown(self.missing.format(number))

    def part(self, which: slice, missing: str) -> Value:
        """Return a slice; of an open list only `[0:...]` and `[1:...]`, with `missing` for further items."""
        is_beginning = which.start in (None, 0, 1) and which.step is None
        if which.step == 0 or (self.is_open and not is_beginning):
            return Unknown()
        part = Items(self.items[which], missing if self.is_open else NOT_CONSTANT, self.is_open)
        part.is_changed = self.is_changed
        return part


@dataclass(eq=False)
class Entries(Container):
    """Named values: environment variables, arguments of the application, a dict."""

    entries: Mapping[object, Value]
    missing: str = NOT_CONSTANT
    is_dict: bool = False
    """There are no other names."""

    def get(self, name: object) -> Value:
        """Return a value."""
        return CHANGED if self.is_changed else self.entries.get(name) or Unknown(self.missing.format(name))


@dataclass(frozen=True)
class Module(Value):
    """A module or one of its members, imported or built in, by its full name."""

    name: str


@dataclass(eq=False)
class Function(Value):
    """A function that the script defines."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Any
    """The names around it, a `scopes.Scope`."""

    defaults: Mapping[str, Value]
    decorators: tuple[str, ...] = ()
    receiver: Value | None = None
    """The object or class, if it is a method."""

    parent: Class | None = None
    """The base of the class that defines it, for `super()`."""


@dataclass(eq=False)
class Class(Value):
    """A class that the script defines, as read by `classes`, or an object of it."""

    members: Mapping[str, Value]
    attributes: dict[str, Value] = field(default_factory=dict)
    """Attributes that `__init__` sets."""

    is_object: bool = False
    fields: tuple[str, ...] = ()
    """The parameters of a dataclass."""

    seen_from: Class | None = None
    """The object whose methods are called, if this is the result of `super()`."""


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call."""

    positional: tuple[Value, ...] = ()
    named: tuple[tuple[str, Value], ...] = ()
    is_complete: bool = True
    """False after `*` or `**` of an unknown value."""

    def find(self, position: int, name: str) -> Value | None:
        """Return an argument; None if it is not given. A negative position: by name only."""
        if 0 <= position < len(self.positional):
            return self.positional[position]
        return dict(self.named).get(name, None if self.is_complete or position < 0 else Unknown())

    def get(self, position: int, name: str) -> Value | None:
        """Return an argument; None if it is not given or is `None`."""
        value = self.find(position, name)
        return None if value == Known(None) else value

    def values(self) -> tuple[Value, ...]:
        """Return all values."""
        return (*self.positional, *(value for _, value in self.named))

    def choices(self) -> list[Arguments]:
        """Return the arguments for each value that one of them may have; unchanged if two have several."""
        several = [value for value in self.values() if isinstance(value, Either)]
        choices = several[0].values if len(several) == 1 else ()
        return [self._with(several[0], choice) for choice in choices if choice != Known(None)] or [self]

    def _with(self, old: Value, new: Value) -> Arguments:
        positional = tuple(new if value is old else value for value in self.positional)
        named = tuple((name, new if value is old else value) for name, value in self.named)
        return Arguments(positional, named, self.is_complete)


@dataclass(frozen=True)
class Chain(Value):
    """An object of Spark with the calls that lead to it: `spark.read.format("csv")` is a reader."""

    kind: str
    """`session`, `read`, `write`, ...: a key of the tables in `methods`."""

    calls: tuple[tuple[str, Arguments], ...] = ()

    def last(self, *methods: str) -> Value | None:
        """Return the first argument of the last call of any of these methods; None if there is none."""
        calls = [arguments for name, arguments in self.calls if name in methods]
        return [*calls[-1].values(), Unknown()][0] if calls else None


@dataclass(frozen=True)
class Method(Value):
    """A method under another name: `read = spark.read.parquet`."""

    receiver: Chain
    name: str


_ANY = Arguments((Unknown(),), is_complete=False)


def _alike(chains: Sequence[Chain], *, exactly: bool) -> Chain:
    """Merge alternative objects of one kind: return one object with the calls that all have."""
    first, *others = chains
    if not others and exactly:
        return first
    common = tuple(call for call in first.calls if exactly and all(call in other.calls for other in others))
    methods = [name for name in ("format", "mode") if any(first.last(name) != o.last(name) for o in others)]
    unclear = ["options", *(methods if exactly else ("format", "mode"))]
    return Chain(first.kind, (*common, *((name, _ANY) for name in unclear)))


def merged(values: Iterable[Value], *, exactly: bool = True) -> Value:
    """Merge alternative values of a name; `exactly` is False if there may be further values."""
    different = list(dict.fromkeys(values))
    if len(different) == 1 and exactly:
        return different[0]
    chains = [value for value in different if isinstance(value, Chain)]
    if len({chain.kind for chain in chains}) == 1 and {*different} <= {*chains, Known(None)}:
        return _alike(chains, exactly=exactly)
    choices = [
        choice for value in different for choice in (value.values if isinstance(value, Either) else (value,))
    ]
    constants = list(dict.fromkeys(filter(None, map(constant, choices))))
    if exactly and len(constants) == len(set(choices)) <= MAX_CHOICES:
        return Either(tuple(constants))
    return SEVERAL


def items_of(value: Value | None) -> tuple[Value, ...]:
    """Return the items of a loop over a value; empty if they are unknown."""
    if not isinstance(value, Container) or value.is_changed:
        return ()
    if isinstance(value, Entries):
        return tuple(map(Known, value.entries)) if value.is_dict else ()
    return value.items if isinstance(value, Items) and not value.is_open else ()


def change(values: Iterable[Value]) -> None:
    """Note that code that is not followed may change these lists, dicts and objects."""
    for value in values:
        if isinstance(value, Class):
            value.attributes.update(dict.fromkeys(value.attributes, CHANGED))
        elif isinstance(value, Container) and not value.is_changed:
            value.is_changed = True
            change(value.items if isinstance(value, Items) else getattr(value, "entries", {}).values())


def reason_of(value: Value | None) -> str:
    """Return why a value is unknown."""
    if isinstance(value, Either) or (isinstance(value, Container) and value.is_changed):
        return (SEVERAL if isinstance(value, Either) else CHANGED).reason
    return (value.reason if isinstance(value, Known | Unknown) else "") or NOT_CONSTANT


def constant(value: Value | None) -> Known | None:
    """Return a constant without holes; None for anything else."""
    return value if isinstance(value, Known) and not value.reason else None


def constants(values: Sequence[Value]) -> list[Any] | None:
    """Return the constants of some values; None if a value is not constant."""
    known = [value.value for value in map(constant, values) if value]
    return known if len(known) == len(values) else None


def whole_text(value: Value | None) -> str | None:
    """Return a constant as a text; None if it is not a constant or has unknown parts."""
    known = constant(value)
    return None if known is None or known.value is None else str(known.value)
