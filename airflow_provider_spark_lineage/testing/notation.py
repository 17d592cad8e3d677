"""Turns the text of an expected file into JSON values and matchers, strictly.

YAML is read with JSON's data model: `yes`, `2024-01-01` and `1:30` are strings, keys are strings, nothing is
written twice. What the values mean for an event is `expected`'s job.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from json.decoder import JSONObject  # type: ignore[attr-defined] # the type stubs leave both out
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from math import isfinite
from pathlib import Path
from typing import Any

import yaml

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing.composite import COMPOSITES, make
from airflow_provider_spark_lineage.testing.matchers import MATCHERS, Matcher, json_type, sentence
from airflow_provider_spark_lineage.testing.paths import Element, path_text
from airflow_provider_spark_lineage.testing.paths import Path as Path_
from airflow_provider_spark_lineage.testing.variables import has_variables

Pairs = list[tuple[str, Any]]


def read_tree(path: Path) -> Any:
    """The value in the file; BadInputError names the file, the line and the cause."""
    return parse_tree(read_text(path).removeprefix(BOM), path)


BOM = "\ufeff"
"""The byte order mark that some editors write at the beginning of a file."""


def read_text(path: Path) -> str:
    """The text of the file as it is, with its line ends and its byte order mark."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 ({error.reason} at byte {error.start}).") from None


def parse_tree(text: str, path: Path) -> Any:
    """The value of the text, which is written as the file's name says; BadInputError as for a file."""
    if not text.strip():
        return None
    try:
        return _json_tree(text) if path.suffix == ".json" else _YamlTree().read(text)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path}, line {error.lineno}: not JSON ({error.msg}).") from None
    except yaml.YAMLError as error:
        raise BadInputError(f"{path}{_yaml_cause(error)}.") from None
    except _NotationError as error:
        where = "" if error.line is None else f", line {error.line}"
        raise BadInputError(f"{path}{where}: {sentence(error)}") from None
    except RecursionError:
        raise BadInputError(f"{path}: nested too deeply.") from None


def read_python(value: Any, source: str, path: Path_ = ()) -> Any:
    """The value of JSON's types in Python, which is written as in a JSON file; tuples are lists.

    >>> read_python({"a": ({"$match": "regex", "value": "x+"},)}, "expected")
    {'a': [Matcher(name='regex', argument='x+', accepts_absence=False)]}
    """
    where = f"{source}{f', {path_text(path)}' if path else ''}"
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise BadInputError(f"{where}: a key is not a string.")
        try:
            return _mapping([(key, read_python(item, source, (*path, key))) for key, item in value.items()])
        except _NotationError as error:
            raise BadInputError(f"{where}: {sentence(error)}") from None
    if isinstance(value, list | tuple):
        return [read_python(item, source, (*path, Element(i))) for i, item in enumerate(value)]
    if value is None or isinstance(value, str | bool | int | Matcher) or _is_number(value):
        return value
    raise BadInputError(f"{where}: `{value!r}` is {json_type(value)}, which no event has.")


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and isfinite(value)


class _NotationError(Exception):
    """Text that is proper YAML or JSON but not an expected value."""

    def __init__(self, cause: str, line: int | None = None) -> None:
        super().__init__(cause)
        self.line = line


def _yaml_cause(error: yaml.YAMLError) -> str:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f": not YAML ({' '.join(str(error).split())})"
    return f", line {error.problem_mark.line + 1}: not YAML ({error.problem})"


def _json_tree(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_constant=_no_constant)
    except _NotationError:
        # Only the slow scanner tells where the object stands that cannot be meant.
        return _LineDecoder().decode(text)


class _LineDecoder(json.JSONDecoder):
    """Python's own scanner instead of the one in C, so that an error says on which line its object begins."""

    def __init__(self) -> None:
        super().__init__(object_pairs_hook=_mapping, parse_constant=_no_constant)
        self.parse_object = self._object
        self.scan_once = py_make_scanner(self)

    def _object(self, at: tuple[str, int], *options: Any) -> Any:
        text, position = at
        try:
            return JSONObject(at, *options)
        except _NotationError as error:
            line = error.line or text.count("\n", 0, position) + 1
            raise _NotationError(str(error), line) from None


def _no_constant(text: str) -> Any:
    raise _NotationError(f"`{text}` is no JSON number")


def _mapping(pairs: Pairs, line: int | None = None) -> Any:
    """An object, or the matcher that `{"$match": name, "value": argument}` stands for.

    Every other key that begins with `$` is refused, which keeps them free for what is to come and finds
    typing errors; `$$schema` is the key `$schema`.
    """
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise _NotationError(f"the key `{key}` is written twice", line)
        seen[key] = value
    if "$match" in seen:
        return _matcher_object(seen, line)
    for key in seen:
        if key.startswith("$") and not key.startswith("$$"):
            raise _NotationError(f"unknown key `{key}`; write `$match`, or `${key}` for the key itself", line)
    return {key[1:] if key.startswith("$$") else key: value for key, value in seen.items()}


def _matcher_object(keys: dict[str, Any], line: int | None) -> Matcher:
    stray = sorted(set(keys) - {"$match", "value"})
    if stray:
        raise _NotationError(f"a `$match` object takes only `value` beside it, not `{stray[0]}`", line)
    name, argument = keys["$match"], keys.get("value")
    if not isinstance(name, str):
        raise _NotationError("`$match` is the name of a matcher, a string", line)
    if name in MATCHERS and "value" in keys and not isinstance(argument, str):
        raise _NotationError(f"the `value` of a `{name}` matcher is a string", line)
    return _matcher(name, argument, line)


def _matcher(name: str, argument: Any, line: int | None) -> Matcher:
    try:
        if name in MATCHERS and isinstance(argument, str) and has_variables(argument):
            return Matcher(name, argument, _unresolved, MATCHERS[name].accepts_absence)
        return make(name, argument)
    except ValueError as error:
        raise _NotationError(str(error), line) from None


def _unresolved(actual: Any) -> str:
    return "needs variables that were never filled in"


_STANDARD = "tag:yaml.org,2002:"
_PLAIN: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"|~|null"), lambda text: None),
    (re.compile(r"true|false"), lambda text: text == "true"),
    (re.compile(r"-?(0|[1-9][0-9]*)"), int),
    (re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"), float),
)
"""What an unquoted YAML scalar means: JSON's values and nothing else; every other text is a string."""


class _YamlTree:
    """Builds the value from YAML's node graph, because PyYAML's constructors drop duplicates and lines."""

    def __init__(self) -> None:
        self._built: dict[int, Any] = {}
        self._open: set[int] = set()

    def read(self, text: str) -> Any:
        # The C parser is ten times as fast and is missing only where libyaml was not there to build with.
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        node = yaml.compose(text, Loader=loader)
        return None if node is None else self._value(node)

    def _value(self, node: yaml.Node) -> Any:
        if id(node) in self._built:
            return self._built[id(node)]
        line = node.start_mark.line + 1
        if id(node) in self._open:
            raise _NotationError("an alias that contains itself", line)
        self._open.add(id(node))
        value = self._built[id(node)] = self._new_value(node, line)
        self._open.discard(id(node))
        return value

    def _new_value(self, node: yaml.Node, line: int) -> Any:
        if not node.tag.startswith(_STANDARD):
            return _matcher(node.tag.removeprefix("!"), self._argument(node, line), line)
        if isinstance(node, yaml.MappingNode):
            return _mapping(self._pairs(node), line)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item) for item in node.value]
        if node.tag != f"{_STANDARD}str":
            raise _NotationError(
                f"`!!{node.tag.removeprefix(_STANDARD)}` is not used in expected files", line
            )
        return _scalar(node)

    def _argument(self, node: yaml.Node, line: int) -> Any:
        """What stands behind a tag: nothing, the text for a scalar matcher, a value for a composite one."""
        if isinstance(node, yaml.MappingNode):
            return _mapping(self._pairs(node), line)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item) for item in node.value]
        if not node.value and not getattr(node, "style", None):
            return None
        return _scalar(node) if node.tag.removeprefix("!") in COMPOSITES else node.value

    def _pairs(self, node: yaml.MappingNode) -> Pairs:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or not isinstance(self._value(key), str):
                raise _NotationError("a key is not a string; put it in quotes", line)
            if key.value == "<<" and not key.style:
                merged.update(self._merged(value, line))
            elif key.value in own:
                raise _NotationError(f"the key `{key.value}` is written twice", line)
            else:
                own[key.value] = self._value(value)
        return list({**merged, **own}.items())

    def _merged(self, node: yaml.Node, line: int) -> dict[str, Any]:
        """What `<<: *name` or `<<: [*first, *second]` brings in; the first of several wins."""
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        found: dict[str, Any] = {}
        for part in reversed(parts):
            if not isinstance(part, yaml.MappingNode):
                raise _NotationError("`<<` takes an alias of a mapping", line)
            found.update(self._pairs(part))
        return found


def _scalar(node: yaml.Node) -> Any:
    # `style` is empty for plain scalars only; the type stubs do not know it on a node.
    return node.value if getattr(node, "style", None) else _plain(node.value)


def _plain(text: str) -> Any:
    for pattern, convert in _PLAIN:
        if pattern.fullmatch(text):
            return convert(text)
    return text
