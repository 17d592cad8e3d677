"""Values of expressions: constants, lists and dicts of them, objects of Spark, functions of the script."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from airflow_provider_spark_lineage.spark.planned.program import Unread

NOT_CONSTANT = "is not a constant"


class Value:
    """Base of all values."""


@dataclass(frozen=True)
class UnknownValue(Value):
    """A value that is known only at run time."""

    reason: str = NOT_CONSTANT
    """The words after "the path" in a gap."""

    sources: tuple[Unread, ...] = ()
    """Gaps about the functions that gave it and are not followed; they count if it is a frame."""


SEVERAL = UnknownValue("has several values")
CHANGED = UnknownValue("may be changed elsewhere")


@dataclass(frozen=True)
class Other(Value):
    """An object of another library: its methods never use Spark."""


@dataclass(frozen=True)
class Known(Value):
    """A constant; a text may have holes (`HOLE`) for unknown parts."""

    value: object
    reason: str = ""
    """Why there are holes; empty if there are none."""


@dataclass(eq=False)
class Container(Value):
    """A list, a tuple, a dict or a namespace; all names of it share this object."""

    entries: Mapping[object, Value]
    """Position or name -> value."""

    missing: str = NOT_CONSTANT
    """Why a missing value is unknown, with `{}` for its position or name."""

    is_list: bool = False
    is_open: bool = False
    """There may be more entries."""

    is_changed: bool = field(default=False, init=False)
    """Some statement or another function may change it."""

    is_escaped: bool = field(default=False, init=False)
    """Code that is not followed may call its entries."""

    def get(self, key: object) -> Value:
        """Return the value at a position or of a name."""
        if self.is_list and not self.is_open and isinstance(key, int) and key < 0:
            key += len(self.entries)
        return CHANGED if self.is_changed else self.entries.get(key) or UnknownValue(self.missing.format(key))

    @property
    def pairs(self) -> tuple[tuple[Value, Value], ...]:
        """Return all positions or names, with their values; empty if they are unknown."""
        return tuple((Known(key), value) for key, value in self.entries.items()) if self.is_known else ()

    @property
    def is_known(self) -> bool:
        """Return whether all entries are known."""
        return not (self.is_changed or self.is_open)


def listed(values: Iterable[Value], *, is_open: bool = False, missing: str = NOT_CONSTANT) -> Container:
    """Return a list of values."""
    return Container(dict(enumerate(values)), missing, is_list=True, is_open=is_open)


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
    file: str = ""
    """The module that defines it; empty for the script itself."""

    is_decorated: bool = False
    """A decorator may call it with other arguments, and give other results."""

    kind: str = ""
    """Of a method: `static`, `class`, `property` or empty."""

    bound: Value | None = None
    """The object of a method, its first argument."""

    owner: Class | None = None
    """The class of a bound method."""


@dataclass(eq=False)
class Class(Value):
    """A class that the program defines."""

    name: str
    node: ast.ClassDef
    members: Mapping[str, Value]
    bases: tuple[Class, ...]
    gap: Unread
    """The gap about methods whose calls are not known."""

    fields: Sequence[str] = ()
    """Names of the parameters of a dataclass or a named tuple."""

    foreign: str = ""
    """Full name of a base class that is not followed."""

    is_known: bool = True
    """All base classes and decorators are known."""

    @property
    def order(self) -> tuple[Class, ...]:
        """Return the class and its base classes, in Python's order of looking for attributes."""
        classes = [self, *(each for base in self.bases for each in base.order)]
        return tuple(dict.fromkeys(reversed(classes)))[::-1]

    def find(self, name: str) -> tuple[Class | None, Value | None]:
        """Return a member, and the class that has it."""
        return next(((each, each.members[name]) for each in self.order if name in each.members), (None, None))


@dataclass(eq=False)
class Instance(Value):
    """An object of a class of the program."""

    of: Class
    values: dict[str, Value] = field(default_factory=dict)
    """Attribute -> its value if it never had another value."""

    after: Class | None = None
    """For `super()`: the class after which the search begins."""

    def find(self, name: str) -> tuple[Class | None, Value | None]:
        """Return a member of the class, and the class that has it."""
        order = self.of.order
        begin = order.index(self.after) + 1 if self.after in order else 0
        members = ((each, each.members[name]) for each in order[begin:] if name in each.members)
        return next(members, (None, None))


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
        return dict(self.named).get(name, None if self.is_complete or position < 0 else UnknownValue())

    def get(self, position: int, name: str) -> Value | None:
        """Return an argument; None if it is not given or is `None`."""
        value = self.find(position, name)
        return None if value == Known(None) else value

    def values(self) -> tuple[Value, ...]:
        """Return all values."""
        return (*self.positional, *(value for _, value in self.named))


@dataclass(frozen=True)
class Chain(Value):
    """An object of Spark with the calls that lead to it: `spark.read.format("csv")` is a reader."""

    kind: str
    """`session`, `read`, `write`, ...: a key of the tables in `methods`."""

    calls: tuple[tuple[str, Arguments], ...] = ()

    def last(self, *methods: str) -> Value | None:
        """Return the first argument of the last call of any of these methods; None if there is none."""
        calls = [arguments for name, arguments in self.calls if name in methods]
        return [*calls[-1].values(), UnknownValue()][0] if calls else None


_ANY = Arguments((UnknownValue(),), is_complete=False)
_UNCLEAR_CALLS = tuple((name, _ANY) for name in ("options", "format", "mode"))


def merged(values: Iterable[Value]) -> Value:
    """Return the value of a name that is one of several: of readers and writers, only the kind is kept."""
    different = list(dict.fromkeys(values))
    if len(different) == 1:
        return different[0]
    kinds = {value.kind if isinstance(value, Chain) else "" for value in different if value != Known(None)}
    kind = kinds.pop()
    return Chain(kind, _UNCLEAR_CALLS) if kind and not kinds else SEVERAL


def items_of(value: Value | None) -> tuple[Value, ...]:
    """Return the items of a loop over a value; empty if they are unknown."""
    if not isinstance(value, Container):
        return ()
    return tuple(item if value.is_list else key for key, item in value.pairs)


def change(values: Iterable[Value]) -> None:
    """Note that these lists and dicts, and those in them, may change."""
    for value in values:
        if isinstance(value, Container) and not value.is_changed:
            value.is_changed = True
            change(value.entries.values())


def sources_of(*values: Value) -> tuple[Unread, ...]:
    """Return the gaps about the functions that gave these values."""
    gaps = (value.sources for value in values if isinstance(value, UnknownValue))
    return tuple(dict.fromkeys(chain.from_iterable(gaps)))


def reason_of(value: Value | None) -> str:
    """Return why a value is unknown."""
    if isinstance(value, Container) and value.is_changed:
        return CHANGED.reason
    return (value.reason if isinstance(value, Known | UnknownValue) else "") or NOT_CONSTANT


def constant(value: Value | None) -> Known | None:
    """Return a constant without holes; None for anything else."""
    return value if isinstance(value, Known) and not value.reason else None


def whole_text(value: Value | None) -> str | None:
    """Return a constant as a text; None if it is not a constant or has unknown parts."""
    known = constant(value)
    return None if known is None or known.value is None else str(known.value)
