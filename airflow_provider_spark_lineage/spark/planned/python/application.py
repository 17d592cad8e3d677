"""Arguments and environment variables of the application: `sys.argv`, `os.environ`, `argparse`."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from airflow_provider_spark_lineage.spark.planned.python.values import (
    Arguments,
    Container,
    Known,
    Module,
    UnknownValue,
    Value,
    constant,
    listed,
)

_NOT_GIVEN = "is the application's argument {}, which is not given"
_NOT_READ = "is an argument of the application that is not read"
_TYPES: Mapping[str, type] = {"builtins.float": float, "builtins.int": int, "builtins.str": str}
_TEXT = Module("builtins.str")
_HARMLESS = frozenset({"add_help", "description", "epilog", "formatter_class", "prog", "usage"})
"""Options of a parser that change no argument."""

_GROUPS = ("add_argument_group", "add_mutually_exclusive_group")


def given(arguments: Sequence[str], variables: Mapping[str, str]) -> Mapping[str, Value]:
    """Return the values that a script is started with, by their full names."""
    own = UnknownValue("is the script's own path")
    missing = "is the environment variable {}, which is not given"
    return {
        "os.environ": Container(_constants(variables), missing, is_open=True),
        "sys.argv": listed((own, *map(Known, arguments)), is_open=not arguments, missing=_NOT_GIVEN),
    }


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


@dataclass(eq=False)
class Parser(Value):
    """An `ArgumentParser` of the script: Python's own parser parses the application's arguments."""

    options: Arguments
    application: Sequence[str]
    """The arguments of the application."""

    conditions: int
    """Number of conditions around its construction."""

    is_known: bool = True
    calls: list[Arguments] = field(default_factory=list)
    """The calls of `add_argument`."""

    def called(self, method: str, arguments: Arguments, conditions: int) -> Value:
        """Return the result of a method, which is called below a number of conditions."""
        self.is_known &= conditions <= self.conditions or method.startswith("parse_")
        if method == "add_argument":
            self.calls.append(arguments)
        elif method in ("parse_args", "parse_known_args"):
            value = self._parsed(arguments.get(0, "args"))
            return value if method == "parse_args" else listed((value, UnknownValue()))
        elif method in _GROUPS:
            return self
        elif not method.startswith(("format_", "print_")) and method not in ("error", "exit"):
            self.is_known = False
        return UnknownValue()

    def _parsed(self, own: Value | None) -> Value:
        """Return the values of all arguments; `own` is a list that the script parses instead."""
        parser = _Parser(add_help=False)
        if own is not None or not self.is_known or not _HARMLESS.issuperset(dict(self.options.named)):
            return UnknownValue(_NOT_READ)
        try:
            for call in self.calls:
                parser.add_argument(*map(_plain, call.positional), **_options(call))
        except (TypeError, ValueError, argparse.ArgumentError):
            return UnknownValue(_NOT_READ)
        # If the parser refuses these arguments, the program runs with others: all values are unknown.
        values: dict[str, Any] = {
            action.dest: UnknownValue(_NOT_GIVEN.format(f"`{action.dest}`")) for action in parser._actions
        }
        with contextlib.suppress(TypeError, ValueError, argparse.ArgumentError):
            values = vars(parser.parse_known_args(list(self.application))[0])
        return Container(_constants(values), _NOT_READ, is_open=True)


def _constants(values: Mapping[str, Any]) -> dict[object, Value]:
    return {name: value if isinstance(value, Value) else Known(value) for name, value in values.items()}


def _options(call: Arguments) -> dict[str, Any]:
    """Return the options of `add_argument`; raise ValueError for options that are not read."""
    options: dict[str, Any] = {}
    for name, value in call.named:
        if name == "type":
            options[name] = _TYPES.get(getattr(value, "name", ""), lambda text: UnknownValue())
        elif name == "default":
            # A `type` function also converts a default that is a text.
            is_plain = getattr(dict(call.named).get("type", _TEXT), "name", "") in _TYPES
            options[name] = value if is_plain or value == Known(None) else UnknownValue()
        elif name not in ("choices", "help", "metavar"):
            options[name] = _plain(value)
    if options.get("action", "store") not in ("store", "store_false", "store_true") or "nargs" in options:
        raise ValueError(options)
    return options


def _plain(value: Value) -> Any:
    known = constant(value)
    if known is None:
        raise ValueError(value)
    return known.value
