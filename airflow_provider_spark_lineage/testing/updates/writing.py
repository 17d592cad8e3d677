"""Writes expected values as YAML or JSON text that `notation` reads back as the same values.

What is short stands on one line, so that a file is read dataset by dataset and column by column.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import yaml

from airflow_provider_spark_lineage.testing.matchers import Matcher

LONGEST_LINE = 170
"""Of what is written on one line, as JSON, which is longer than YAML; an edge with a path fits."""

_HALF_PAIR = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which no encoding can write."""

_LONGEST_KEY = 1000
"""YAML takes a longer key only behind a question mark (1.2, 7.4.2: 1024 characters)."""


class Notation(Protocol):
    """How values are written; `indent` is the column at which the text's first line starts."""

    def inside(self, value: Any, margin: str | None) -> str:
        """The value between brackets; those around it have lines of their own, that begin with `margin`."""

    def entry_inside(self, key: str, value: Any, margin: str | None) -> str:
        """A key with its value, between brackets."""

    def entry(self, key: str, value: Any, indent: int) -> str:
        """A key at `indent` with its value."""

    def block(self, value: Any, indent: int) -> str:
        """The value over as many lines as it takes, from its first character on."""

    def after_key(self, value: Any, indent: int) -> str:
        """What follows the colon of a key that stands at `indent`."""


def writable(text: str) -> bool:
    """Whether the text can be written in every notation."""
    return not _HALF_PAIR.search(text)


def plain_json(value: Any) -> Any:
    """The value as it stands in a JSON file: matchers as objects, keys that begin with `$` escaped."""
    if isinstance(value, Matcher):
        held = {} if value.argument is None else {"value": plain_json(value.argument)}
        return {"$match": value.name, **held}
    if isinstance(value, Mapping):
        return {_key(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_json(item) for item in value]
    return value


def _key(key: str) -> str:
    return f"${key}" if key.startswith("$") else key


def _is_short(value: Any) -> bool:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return len(text) <= LONGEST_LINE and "\\n" not in text


@dataclass(frozen=True)
class Yaml:
    """YAML in the layout of a file.

    >>> Yaml().one_line({"a": ["x", "12", None], "$b": "${DATA}/in"})
    "{a: [x, '12', null], $$b: '${DATA}/in'}"
    """

    list_indent: int = 0
    """How much deeper than its key the dashes of a list stand."""

    nested: int = 2

    def one_line(self, value: Any) -> str:
        """The value as it stands on a line or between brackets."""
        if isinstance(value, Mapping):
            entries = (self.entry_inside(key, item, None) for key, item in value.items())
            return f"{{{', '.join(entries)}}}"
        if isinstance(value, list):
            return f"[{', '.join(self.inside(item, None) for item in value)}]"
        return self._scalar(value, flow=True)

    def inside(self, value: Any, margin: str | None) -> str:
        """The value between brackets, on one line even where those around it are not."""
        return _closed(self.one_line(value))

    def entry_inside(self, key: str, value: Any, margin: str | None) -> str:
        """A key with its value, between brackets."""
        text = self._key(key, flow=True)
        return f"{text}{' ' if text.startswith('? ') else ''}: {self.inside(value, margin)}"

    def _key(self, key: str, *, flow: bool) -> str:
        text = _string(_key(key), flow=flow)
        return text if len(text) <= _LONGEST_KEY else f"? {text}"

    def block(self, value: Any, indent: int) -> str:
        """The value over as many lines as it takes, from its first character on."""
        margin = f"\n{' ' * indent}"
        if isinstance(value, Mapping) and not _is_short(value):
            return margin.join(self.entry(key, item, indent) for key, item in value.items())
        if isinstance(value, list) and not _is_short(value):
            return margin.join(f"- {self.block(item, indent + 2)}" for item in value)
        return self._on_lines(value, indent)

    def entry(self, key: str, value: Any, indent: int) -> str:
        """A key at `indent` with its value."""
        text = self._key(key, flow=False)
        colon = f"\n{' ' * indent}:" if text.startswith("? ") else ":"
        return f"{text}{colon}{self.after_key(value, indent)}"

    def after_key(self, value: Any, indent: int) -> str:
        """What follows the colon of a key that stands at `indent`."""
        if isinstance(value, Mapping | list) and not _is_short(value):
            inner = indent + (self.list_indent if isinstance(value, list) else self.nested)
            return f"\n{' ' * inner}{self.block(value, inner)}"
        return f" {self._on_lines(value, indent + self.nested)}"

    def _tagged(self, name: str, held: Any) -> str:
        """A matcher with what it holds; YAML takes no tag behind a tag."""
        if held is None:
            return f"!{name}"
        if isinstance(held, Matcher):
            value = "" if held.argument is None else f", value: {self.inside(held.argument, None)}"
            return f"!{name} {{$match: {held.name}{value}}}"
        return f"!{name} {_quoted(held) if isinstance(held, str) else self.one_line(held)}"

    def _on_lines(self, value: Any, indent: int) -> str:
        """A short value, or a text that has lines of its own."""
        if isinstance(value, str) and _has_lines(value):
            chomp = "" if value.endswith("\n") else "-"
            lines = value.removesuffix("\n").split("\n")
            # A list of texts has its dash two columns before; YAML wants one column more than the parent's.
            return "\n".join([f"|{chomp}", *(f"{' ' * indent}{line}" if line else "" for line in lines)])
        return self.one_line(value) if isinstance(value, Mapping | list) else self._scalar(value, flow=False)

    def _scalar(self, value: Any, *, flow: bool) -> str:
        if isinstance(value, Matcher):
            return self._tagged(value.name, value.argument)
        if isinstance(value, str):
            return _string(value, flow=flow)
        return json.dumps(value)


_BARE_TAG = re.compile(r"(?:^|[ \[{])![a-z_]+$")


def _closed(text: str) -> str:
    """A tag without an argument would take a comma or bracket right behind it into its name."""
    return f"{text} " if _BARE_TAG.search(text) else text


_PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`=<](?:[^\s:#]|[ ](?=[^\s#])|:(?=[^\s])|(?<=\S)#)*")
_PLAIN_IN_FLOW = re.compile(r"[A-Za-z0-9_./$(](?:[A-Za-z0-9_./$()<>+*;~^=@%&|!-]|[ ](?=[^\s#]))*")
_RESOLVED: Callable[..., str] = yaml.resolver.Resolver().resolve


def _string(text: str, *, flow: bool) -> str:
    safe = (_PLAIN_IN_FLOW if flow else _PLAIN).fullmatch(text)
    return text if safe and text.isprintable() and not _means_more(text) else _quoted(text)


def _means_more(text: str) -> bool:
    """Whether `notation`, or any other reader of YAML, would not take the plain text for a string."""
    if _RESOLVED(yaml.ScalarNode, text, (True, False)) != "tag:yaml.org,2002:str":
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def _quoted(text: str) -> str:
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


_ESCAPES = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def _escaped(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    code = ord(sign)
    if sign.isprintable():
        return sign
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _has_lines(text: str) -> bool:
    """Whether it reads better line by line, and YAML's block scalars keep it as it is."""
    lines = text.removesuffix("\n").split("\n")
    return (
        len(lines) > 1
        and all(line.isprintable() for line in lines)
        and bool(lines[0].strip())
        and not lines[0].startswith(" ")
        and bool(lines[-1].strip())
    )


@dataclass(frozen=True)
class Json:
    """JSON with the indentation of a file.

    >>> print(Json().block({"a": ["x"]}, 0))
    {
      "a": [
        "x"
      ]
    }
    """

    unit: str = "  "

    def inside(self, value: Any, margin: str | None) -> str:
        """The value between brackets, laid out like those around it."""
        return _json(value) if margin is None else _json(value, self.unit).replace("\n", f"\n{margin}")

    def entry_inside(self, key: str, value: Any, margin: str | None) -> str:
        """A key with its value, between brackets."""
        return f"{_json(_key(key))}: {self.inside(value, margin)}"

    def entry(self, key: str, value: Any, indent: int) -> str:
        """A key at `indent` with its value."""
        return self.entry_inside(key, value, " " * indent)

    def block(self, value: Any, indent: int) -> str:
        """The value over as many lines as it takes, from its first character on."""
        return self.inside(value, " " * indent)

    def after_key(self, value: Any, indent: int) -> str:
        """What follows the colon of a key that stands at `indent`."""
        return f" {self.block(value, indent)}"


def whole_text(tree: Mapping[str, Any], notation: Notation) -> str:
    """The text of a file that says nothing but this."""
    if isinstance(notation, Json):
        return f"{notation.block(tree, 0)}\n"
    return "".join(f"{notation.entry(key, value, 0)}\n" for key, value in tree.items())


def _json(value: Any, unit: str | None = None) -> str:
    text = json.dumps(plain_json(value), indent=unit, ensure_ascii=False)
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
