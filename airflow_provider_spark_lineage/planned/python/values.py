"""What expressions of a script stand for: constants, objects of Spark, and what the script itself defines."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NOT_CONSTANT = "is not a constant"
MAX_CHOICES = 10
"""Limit of the values that a name may have."""


class Value:
    """Base of all values."""


@dataclass(frozen=True)
class Unknown(Value):
    """A value that only the run knows."""

    reason: str = NOT_CONSTANT
    """What follows "the path" in a gap."""


SEVERAL = Unknown("has several values")
CHANGED = Unknown("may be changed elsewhere")


@dataclass(frozen=True)
class Other(Value):
    """What another library gives: nothing that it does is Spark's."""


@dataclass(frozen=True)
class Known(Value):
    """A constant; a text may have holes (`HOLE`) where a part is not known."""

    value: object
    reason: str = ""
    """Why there are holes; empty where there are none."""


@dataclass(frozen=True)
class Either(Value):
    """One of several constants: what the branches of a condition assign to a name."""

    values: tuple[Known, ...]


@dataclass(eq=False)
class Container(Value):
    """A list or a dict: all names of it share this object."""

    is_changed: bool = field(default=False, init=False)
    """Something that is not followed may have changed it."""


@dataclass(eq=False)
class Items(Container):
    """A list or a tuple."""

    items: tuple[Value, ...]
    missing: str = NOT_CONSTANT
    """Why a value that is not there is not known, with `{}` for its name."""

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
        """Return some items; of an open list those of `[0:...]` and `[1:...]`, which `missing` speaks of."""
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
    """It has no other names than these."""

    def get(self, name: object) -> Value:
        """Return a value."""
        return CHANGED if self.is_changed else self.entries.get(name) or Unknown(self.missing.format(name))


@dataclass(frozen=True)
class Module(Value):
    """What is imported, or built in, by its full name."""

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
    """What it is a method of."""

    parent: Class | None = None
    """The base of the class that defines it, which `super()` leads to."""


@dataclass(eq=False)
class Class(Value):
    """A class that the script defines, as `classes` understands it, or an object of it."""

    members: Mapping[str, Value]
    attributes: dict[str, Value] = field(default_factory=dict)
    """What `__init__` sets."""

    is_object: bool = False
    fields: tuple[str, ...] = ()
    """The parameters of a dataclass."""

    seen_from: Class | None = None
    """The object whose methods these are, for what `super()` gives."""


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call."""

    positional: tuple[Value, ...] = ()
    named: tuple[tuple[str, Value], ...] = ()
    is_complete: bool = True
    """False for `*` or `**` of what is not known."""

    def find(self, position: int, name: str) -> Value | None:
        """Return an argument, at no position if that is negative; None where it is not given."""
        if 0 <= position < len(self.positional):
            return self.positional[position]
        return dict(self.named).get(name, None if self.is_complete or position < 0 else Unknown())

    def get(self, position: int, name: str) -> Value | None:
        """Return an argument that is not `None`."""
        value = self.find(position, name)
        return None if value == Known(None) else value

    def values(self) -> tuple[Value, ...]:
        """Return all values."""
        return (*self.positional, *(value for _, value in self.named))

    def choices(self) -> list[Arguments]:
        """Return the arguments for each value that one of them may have; of two, none is known."""
        several = [value for value in self.values() if isinstance(value, Either)]
        choices = several[0].values if len(several) == 1 else ()
        return [self._with(several[0], choice) for choice in choices if choice != Known(None)] or [self]

    def _with(self, old: Value, new: Value) -> Arguments:
        positional = tuple(new if value is old else value for value in self.positional)
        named = tuple((name, new if value is old else value) for name, value in self.named)
        return Arguments(positional, named, self.is_complete)


@dataclass(frozen=True)
class Chain(Value):
    """An object of Spark: `spark.read.format("csv")` is a reader, and the calls that lead to it."""

    kind: str
    """`session`, `read`, `write`, ...: a word of the tables in `methods`."""

    calls: tuple[tuple[str, Arguments], ...] = ()

    def last(self, *methods: str) -> Value | None:
        """Return the first argument of the last call of one of some methods; None where there is none."""
        calls = [arguments for name, arguments in self.calls if name in methods]
        return [*calls[-1].values(), Unknown()][0] if calls else None


@dataclass(frozen=True)
class Method(Value):
    """A method that has another name: `read = spark.read.parquet`."""

    receiver: Chain
    name: str


_ANY = Arguments((Unknown(),), is_complete=False)


def _alike(chains: Sequence[Chain], *, exactly: bool) -> Chain:
    """Return an object that may be one of several of a kind: with the calls that all have."""
    first, *others = chains
    if not others and exactly:
        return first
    common = tuple(call for call in first.calls if exactly and all(call in other.calls for other in others))
    methods = [name for name in ("format", "mode") if any(first.last(name) != o.last(name) for o in others)]
    unclear = ["options", *(methods if exactly else ("format", "mode"))]
    return Chain(first.kind, (*common, *((name, _ANY) for name in unclear)))


def merged(values: Iterable[Value], *, exactly: bool = True) -> Value:
    """Return what a name is that has one of several values; not exactly, where all may not be listed."""
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
    """Return what a loop goes through; nothing where that is not known."""
    if not isinstance(value, Container) or value.is_changed:
        return ()
    if isinstance(value, Entries):
        return tuple(map(Known, value.entries)) if value.is_dict else ()
    return value.items if isinstance(value, Items) and not value.is_open else ()


def change(values: Iterable[Value]) -> None:
    """Note that lists, dicts and objects may be changed by what is not followed."""
    for value in values:
        if isinstance(value, Class):
            value.attributes.update(dict.fromkeys(value.attributes, CHANGED))
        elif isinstance(value, Container) and not value.is_changed:
            value.is_changed = True
            change(value.items if isinstance(value, Items) else getattr(value, "entries", {}).values())


def reason_of(value: Value | None) -> str:
    """Return why a value is not known."""
    if isinstance(value, Either) or (isinstance(value, Container) and value.is_changed):
        return (SEVERAL if isinstance(value, Either) else CHANGED).reason
    return (value.reason if isinstance(value, Known | Unknown) else "") or NOT_CONSTANT


def constant(value: Value | None) -> Known | None:
    """Return a constant that has no holes; None for anything else."""
    return value if isinstance(value, Known) and not value.reason else None


def constants(values: Sequence[Value]) -> list[Any] | None:
    """Return the constants of some values; None unless all are."""
    known = [value.value for value in map(constant, values) if value]
    return known if len(known) == len(values) else None


def whole_text(value: Value | None) -> str | None:
    """Return a constant as a text; None for what is none, or has holes."""
    known = constant(value)
    return None if known is None or known.value is None else str(known.value)
