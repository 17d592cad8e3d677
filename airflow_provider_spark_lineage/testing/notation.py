"""Reads the text of an expected file as JSON values and matchers, and fills in `${VARIABLES}`.

YAML is read with JSON's data model: `yes`, `2024-01-01` and `1:30` are strings, keys are strings, and no key
is written twice. What the values mean for an event is defined in `expected`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import yaml

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing.differences import Element, path_text
from airflow_provider_spark_lineage.testing.matchers import HOLDERS, Matcher, json_type, make, sentence

BOM = "\ufeff"
"""The byte order mark that some editors write at the start of a file."""

# The C parser is ten times as fast; it is missing if PyYAML was built without libyaml.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _NotationError(Exception):
    """Valid YAML or JSON that is not an expected value."""

    def __init__(self, cause: str, line: int | None = None) -> None:
        super().__init__(cause)
        self.line = line


def read_text(path: Path) -> str:
    """Return the text of the file, with its line ends and its byte order mark."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 ({error.reason} at byte {error.start}).") from None


def parse_tree(text: str, path: Path) -> Any:
    """Return the value of a JSON or YAML text, by the suffix of the path; BadInputError names the cause."""
    text = text.removeprefix(BOM)
    if not text.strip():
        return None
    try:
        if path.suffix == ".json":
            return json.loads(text, object_pairs_hook=_mapping, parse_constant=_refuse_constant)
        node = yaml.compose(text, Loader=_LOADER)
        return None if node is None else _YamlTree().value(node)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path}, line {error.lineno}: not JSON ({error.msg}).") from None
    except yaml.YAMLError as error:
        raise BadInputError(f"{path}{_yaml_cause(error)}.") from None
    except _NotationError as error:
        where = "" if error.line is None else f", line {error.line}"
        raise BadInputError(f"{path}{where}: {sentence(error)}") from None
    except RecursionError:
        raise BadInputError(f"{path}: nested too deeply.") from None


def line_of(text: str, path: tuple[str | int, ...]) -> int | None:
    """Return the line on which the value at a path of keys and positions starts; None if it is not found."""
    try:
        node = yaml.compose(text.removeprefix(BOM), Loader=_LOADER)  # JSON is YAML, unless it has tabs
    except yaml.YAMLError:
        return None
    line = 1
    for part in path:
        if isinstance(node, yaml.MappingNode):
            entry = next(((key, value) for key, value in node.value if key.value == part), None)
            if entry is None:
                return line
            line, node = entry[0].start_mark.line + 1, entry[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def read_python(value: Any, source: str, path: tuple[str, ...] = ()) -> Any:
    """Return the value of Python objects written as in a JSON file; tuples are lists.

    >>> read_python({"a": ({"$match": "regex", "value": "x+"},)}, "expected")
    {'a': [Matcher(name='regex', argument='x+')]}
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
    if value is None or isinstance(value, str | bool | int | Matcher):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    raise BadInputError(f"{where}: `{value!r}` is {json_type(value)}, which JSON does not have.")


def _yaml_cause(error: yaml.YAMLError) -> str:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f": not YAML ({' '.join(str(error).split())})"
    return f", line {error.problem_mark.line + 1}: not YAML ({error.problem})"


def _refuse_constant(text: str) -> Any:
    raise _NotationError(f"`{text}` is not a JSON number")


def _mapping(pairs: list[tuple[str, Any]], line: int | None = None) -> Any:
    """Return an object, or the matcher that `{"$match": name, "value": argument}` stands for.

    Every other key that starts with `$` is refused, to find typing errors; `$$schema` is the key `$schema`.
    """
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise _NotationError(f"the key `{key}` is written twice", line)
        mapping[key] = value
    if "$match" in mapping:
        return _matcher_object(mapping, line)
    for key in mapping:
        if key.startswith("$") and not key.startswith("$$"):
            raise _NotationError(
                f"unknown key `{key}`; keys that start with `$` are reserved, write `${key}` for `{key}`",
                line,
            )
    return {key[1:] if key.startswith("$$") else key: value for key, value in mapping.items()}


def _matcher_object(mapping: dict[str, Any], line: int | None) -> Matcher:
    stray = sorted(mapping.keys() - {"$match", "value"})
    if stray:
        raise _NotationError(f"a `$match` object takes only `value` beside it, not `{stray[0]}`", line)
    if not isinstance(mapping["$match"], str):
        raise _NotationError("`$match` is the name of a matcher, a string", line)
    if mapping.get("value", "") is None and mapping["$match"] not in HOLDERS:
        raise _NotationError(f"the `value` of a `{mapping['$match']}` matcher is a string", line)
    return _matcher(mapping["$match"], mapping.get("value"), line)


def _matcher(name: str, argument: Any, line: int | None) -> Matcher:
    if isinstance(argument, str) and name not in HOLDERS and _VARIABLE.search(argument):
        # The argument is checked when the variable is filled in.
        return Matcher(name, argument, lambda actual: "needs a value for its variable")
    try:
        return make(name, argument)
    except ValueError as error:
        raise _NotationError(str(error), line) from None


_STANDARD = "tag:yaml.org,2002:"
_PLAIN: tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...] = (
    (re.compile(r"|~|null"), lambda text: None),
    (re.compile(r"true|false"), lambda text: text == "true"),
    (re.compile(r"-?(0|[1-9][0-9]*)"), int),
    (re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"), float),
)
"""What an unquoted YAML scalar means: JSON's values; every other text is a string."""


def plain_value(text: str) -> Any:
    """Return what an unquoted YAML scalar means."""
    for pattern, convert in _PLAIN:
        if pattern.fullmatch(text):
            return convert(text)
    return text


class _YamlTree:
    """Builds the value from YAML's node graph, because PyYAML's constructors drop duplicates and lines."""

    def __init__(self) -> None:
        self._values: dict[int, Any] = {}
        self._open: set[int] = set()

    def value(self, node: yaml.Node) -> Any:
        if id(node) in self._values:  # an alias
            return self._values[id(node)]
        line = node.start_mark.line + 1
        if id(node) in self._open:
            raise _NotationError("an alias that contains itself", line)
        self._open.add(id(node))
        value = self._values[id(node)] = self._new_value(node, line)
        self._open.discard(id(node))
        return value

    def _new_value(self, node: yaml.Node, line: int) -> Any:
        is_matcher = not node.tag.startswith(_STANDARD)
        name = node.tag.removeprefix("!") if is_matcher else ""
        if isinstance(node, yaml.MappingNode):
            value = _mapping(self._pairs(node), line)
        elif isinstance(node, yaml.SequenceNode):
            value = [self.value(item) for item in node.value]
        elif not is_matcher and node.tag != f"{_STANDARD}str":
            raise _NotationError(
                f"`!!{node.tag.removeprefix(_STANDARD)}` is not used in expected files", line
            )
        else:
            # `style` is empty for unquoted scalars only; the type stubs do not know it.
            is_quoted = bool(getattr(node, "style", None))
            is_text = is_quoted or (is_matcher and node.value and name not in HOLDERS)
            value = node.value if is_text else plain_value(node.value)
        return _matcher(name, value, line) if is_matcher else value

    def _pairs(self, node: yaml.MappingNode) -> list[tuple[str, Any]]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or not isinstance(self.value(key), str):
                raise _NotationError("a key is not a string; put it in quotes", line)
            if key.value == "<<" and not getattr(key, "style", None):
                merged.update(self._merged(value, line))
            elif key.value in own:
                raise _NotationError(f"the key `{key.value}` is written twice", line)
            else:
                own[key.value] = self.value(value)
        return list({**merged, **own}.items())

    def _merged(self, node: yaml.Node, line: int) -> dict[str, Any]:
        """Return what `<<: *name` or `<<: [*first, *second]` brings in; the first of several wins."""
        merged: dict[str, Any] = {}
        for part in reversed(node.value if isinstance(node, yaml.SequenceNode) else [node]):
            if not isinstance(part, yaml.MappingNode):
                raise _NotationError("`<<` takes an alias of a mapping", line)
            merged.update(self._pairs(part))
        return merged


_VARIABLE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A variable, or `$${`, which stands for `${`.

Values come from the caller, not from the environment: a file that passes on one machine must not depend on
what else is set there.
"""


def fill(tree: Any, variables: Mapping[str, str], where: str) -> Any:
    """Return the tree with every variable replaced; BadInputError names an unknown one and `where`."""
    if isinstance(tree, str):
        return _filled(tree, variables, where) if "${" in tree else tree
    if isinstance(tree, dict):
        return {key: fill(value, variables, where) for key, value in tree.items()}
    if isinstance(tree, list):
        return [fill(value, variables, where) for value in tree]
    if isinstance(tree, Matcher) and tree.argument is not None:
        if isinstance(tree.argument, str) and not _VARIABLE.search(tree.argument):
            return tree
        try:
            if tree.name == "regex":
                # A path is put into a regular expression as that path, not as a pattern.
                return make("regex", _filled(tree.argument, variables, where, re.escape))
            return make(tree.name, fill(tree.argument, variables, where))
        except ValueError as error:
            raise BadInputError(f"{where}: {sentence(error)}") from None
    return tree


def _filled(text: str, variables: Mapping[str, str], where: str, quote: Callable[[str], str] = str) -> str:
    def replacement(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return "${"
        if name not in variables:
            given = ", ".join(sorted(variables)) or "none"
            raise BadInputError(f"{where}: the variable ${{{name}}} has no value; given are: {given}.")
        return quote(str(variables[name]))

    return _VARIABLE.sub(replacement, text)
