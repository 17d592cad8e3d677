"""Expected events by key, from `system_tests/expected/<dag_id>.yaml`, a JSON file or a folder of both.

YAML is read with JSON's data model: `yes`, `2024-01-01` and `1:30` are strings, keys are strings, and no key
is written twice. An invalid file is refused here, before a comparison passes or fails for the wrong reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, Literal

import yaml

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.reader import collector_paused
from airflow_provider_spark_lineage.openlineage.testing.differences import Element, path_text
from airflow_provider_spark_lineage.openlineage.testing.keys import (
    WHEN,
    Condition,
    Versions,
    parse_key,
    read_conditions,
)
from airflow_provider_spark_lineage.openlineage.testing.matchers import (
    HOLDERS,
    Matcher,
    json_type,
    make,
    nearest,
    sentence,
)

Scope = Literal["all", "dags", "keys"]
"""Emitted events to compare: all, events of the DAGs that the expected keys name, or events of these keys."""

SUFFIXES = (".yaml", ".yml", ".json")

EVENT_KEYS = ("eventType", "eventTime", "producer", "schemaURL", "run", "job", "dataset", "inputs", "outputs")
"""The properties of the spec's events; any other is treated as a typing error."""


@dataclass(frozen=True)
class ExpectedEvent:
    """One event that must be emitted: its key, its values, and the file that expects it."""

    key: str
    """The text in the file; `keys.parse_key` parses it."""

    document: Mapping[str, Any]
    source: str

    when: tuple[Condition, ...] = ()
    """The versions it is for; every condition of the event and of its file must hold."""

    def filled(self, variables: Mapping[str, str]) -> ExpectedEvent:
        """Return the event with its variables replaced."""
        return replace(self, document=fill(self.document, variables, f"{self.source}: `{self.key}`"))


@dataclass(frozen=True)
class Expected:
    """Every expected event of one file, or of all files in a folder, in the order of the files."""

    events: tuple[ExpectedEvent, ...]

    scope: Scope = "all"
    """Default scope of a comparison: dags for a file, all for a folder or a mapping."""

    @classmethod
    def of(cls, keys: Mapping[str, Any], source: str = "expected", scope: Scope = "all") -> Expected:
        """Return expectations from a mapping of key to one event or a list; BadInputError names the mistake.

        Matchers are written as in a JSON file, or made by `matchers.make`.

        >>> run_id = {"$match": "uuid"}
        >>> Expected.of({"dag.task.event.start": {"run": {"runId": run_id}}}).events[0].document
        {'run': {'runId': Matcher(name='uuid', argument=None)}}
        """
        return cls(tuple(events_of_tree(values_of(keys, source), source)), scope)

    @classmethod
    def of_file(cls, keys: Mapping[str, Any], path: Path) -> Expected:
        """Return the expectations of one file, from the values of `keys_of`."""
        return cls(tuple(events_of_tree(keys, str(path))), "dags")

    @property
    def keys(self) -> list[str]:
        """The keys of all events, as written."""
        return [event.key for event in self.events]

    def meant_for(self, versions: Versions) -> list[ExpectedEvent]:
        """Return the events that are expected for these versions.

        Raises BadInputError if there are none, or if two files expect the same key.
        """
        refusals = [versions.refusal(event.when) for event in self.events]
        applicable = [event for event, refusal in zip(self.events, refusals, strict=True) if not refusal]
        if self.events and not applicable:
            names = ", ".join(sorted({event.source for event in self.events}))
            raise BadInputError(f"{names}: no event is expected for these versions: {refusals[0]}.")
        files: dict[str, str] = {}
        for event in applicable:
            if files.setdefault(event.key, event.source) != event.source:
                raise BadInputError(f"{event.source}: `{event.key}` is also expected in {files[event.key]}.")
        return applicable


@collector_paused()
def read_expected(path: Path | str) -> Expected:
    """Return the expected events of a file or of a folder; BadInputError names file, place and cause."""
    path = Path(path)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
        if not files:
            raise BadInputError(f"{path}: has no file of expected events ({', '.join(SUFFIXES)}).")
        return Expected(tuple(event for file in files for event in read_expected(file).events))
    if not path.is_file():
        raise BadInputError(f"{path}: no such file or folder of expected events.")
    return Expected.of_file(keys_of(parse(read_text(path), path), path), path)


def keys_of(tree: Any, file: Path) -> dict[str, Any]:
    """Return the parsed tree of an expected file as events by key, and perhaps `when`."""
    if tree is None:
        raise BadInputError(f"{file}: is empty, so no event is expected.")
    if not isinstance(tree, dict):
        raise BadInputError(
            f"{file}: not a mapping of `<dag_id>.<task_id>.event.<type>` to events;"
            " `spark-lineage expect` writes one from emitted events."
        )
    if not tree.keys() - {WHEN}:
        raise BadInputError(f"{file}: expects no events.")
    keys: dict[str, Any] = values_of(tree, str(file))
    return keys


def events_of_tree(keys: Mapping[str, Any], source: str) -> Iterator[ExpectedEvent]:
    """Yield the expected events of a tree of `values_of`; BadInputError names the mistake."""
    of_file = read_conditions(keys, source)
    for key, value in keys.items():
        if key == WHEN:
            continue
        try:
            parse_key(key)
        except ValueError as error:
            raise BadInputError(f"{source}: the key {sentence(error)}") from None
        documents = value if isinstance(value, list) else [value]
        where = f"{source}: `{key}`"
        if not documents:
            raise BadInputError(f"{where} has an empty list, so no event is expected for it.")
        for document in documents:
            if not isinstance(document, dict):
                raise BadInputError(f"{where} is neither an event (a mapping) nor a list of events.")
            for name in document:
                if name not in EVENT_KEYS and name != WHEN:
                    cure = nearest(name, (*EVENT_KEYS, WHEN))
                    raise BadInputError(
                        f"{where} has the key `{name}`, which events do not have; {sentence(cure)}"
                    )
            values = {name: item for name, item in document.items() if name != WHEN}
            yield ExpectedEvent(key, values, source, (*of_file, *read_conditions(document, where)))


# From text to values and matchers.


def read_text(path: Path) -> str:
    """Return the text of the file, without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: not UTF-8 ({error.reason} at byte {error.start}).") from None


def parse(text: str, path: Path) -> Any:
    """Return the value of a JSON or YAML text, by the suffix of the path, with matchers as objects."""
    try:
        if path.suffix == ".json":
            return json.loads(text, object_pairs_hook=_unique) if text.strip() else None
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - it is made from SafeLoader
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path}, line {error.lineno}: not JSON ({error.msg}).") from None
    except yaml.YAMLError as error:
        mark, cause = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        cause = cause or " ".join(str(error).split())
        is_yaml = isinstance(error, yaml.constructor.ConstructorError)
        raise BadInputError(f"{where}: {sentence(cause if is_yaml else f'not YAML ({cause})')}") from None
    except ValueError as error:
        raise BadInputError(f"{path}: {sentence(error)}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key `{next(key for key in keys if keys.count(key) > 1)}` is written twice")
    return mapping


_STANDARD = "tag:yaml.org,2002:"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads JSON's values only; a tag becomes the matcher object of JSON."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}
    yaml_constructors: ClassVar[dict[str | None, Any]] = {
        **{
            f"{_STANDARD}{kind}": yaml.SafeLoader.yaml_constructors[f"{_STANDARD}{kind}"]
            for kind in ("null", "bool", "int", "float", "str")
        },
        f"{_STANDARD}map": lambda loader, node: loader.construct_mapping(node, deep=True),
        f"{_STANDARD}seq": lambda loader, node: loader.construct_sequence(node, deep=True),
        None: yaml.SafeLoader.construct_undefined,
    }

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Check the mapping's own keys, then merge the mappings that `<<` names."""
        if getattr(node, "is_flat", False):  # another mapping has this one as `<<`
            return
        node.is_flat = True  # type: ignore[attr-defined]
        keys = set()
        for key, _ in node.value:
            if key.tag not in (f"{_STANDARD}str", f"{_STANDARD}merge"):
                raise _wrong_yaml("a key is not a string; put it in quotes", key)
            if key.value in keys:
                raise _wrong_yaml(f"the key `{key.value}` is written twice", key)
            keys.add(key.value)
        super().flatten_mapping(node)


def _wrong_yaml(cause: str, node: yaml.Node) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, cause, node.start_mark)


def _matcher_object(loader: Any, name: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.MappingNode):
        return {"$match": name, "value": loader.construct_mapping(node, deep=True)}
    if isinstance(node, yaml.SequenceNode):
        return {"$match": name, "value": loader.construct_sequence(node, deep=True)}
    # `style` is empty for unquoted scalars only; the type stubs do not know it.
    is_quoted = bool(getattr(node, "style", None))
    if not is_quoted and not node.value:
        return {"$match": name}
    if is_quoted or name not in HOLDERS:
        return {"$match": name, "value": node.value}
    tag = loader.resolve(yaml.ScalarNode, node.value, (True, False))
    return {"$match": name, "value": loader.construct_object(yaml.ScalarNode(tag, node.value))}


_Loader.add_multi_constructor("!", _matcher_object)
for _kind, _pattern, _first in (
    ("null", r"|~|null", ["", "~", "n"]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"-?(0|[1-9][0-9]*)", list("-0123456789")),
    ("float", r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", list("-0123456789")),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"{_STANDARD}{_kind}", re.compile(f"({_pattern})$"), _first)


def values_of(value: Any, source: str, path: tuple[str, ...] = ()) -> Any:
    """Return JSON's values with matchers, from values of Python or `parse`; BadInputError names the place.

    >>> values_of({"a": ({"$match": "regex", "value": "x+"},), "$$b": 1}, "expected")
    {'a': [Matcher(name='regex', argument='x+')], '$b': 1}
    """
    try:
        if isinstance(value, Mapping):
            if not all(isinstance(key, str) for key in value):
                raise ValueError("a key is not a string")
            values = {key: values_of(item, source, (*path, key)) for key, item in value.items()}
            return _matcher(values) if "$match" in values else _unescaped(values)
        if isinstance(value, list | tuple):
            return [values_of(item, source, (*path, Element(i))) for i, item in enumerate(value)]
        is_value = value is None or isinstance(value, str | bool | int | Matcher)
        if is_value or (isinstance(value, float) and isfinite(value)):
            return value
        raise ValueError(f"`{value!r}` is {json_type(value)}, which JSON does not have")
    except ValueError as error:
        where = f"{source}, {path_text(path)}" if path else source
        raise BadInputError(f"{where}: {sentence(error)}") from None


def _unescaped(values: dict[str, Any]) -> dict[str, Any]:
    """Return the object with `$$schema` as the key `$schema`; other keys with `$` raise, as typing errors."""
    for key in values:
        if key.startswith("$") and not key.startswith("$$"):
            raise ValueError(
                f"unknown key `{key}`; keys that start with `$` are reserved, write `${key}` for `{key}`"
            )
    return {key[1:] if key.startswith("$$") else key: item for key, item in values.items()}


def _matcher(values: dict[str, Any]) -> Matcher:
    name, argument = values["$match"], values.get("value")
    stray = sorted(values.keys() - {"$match", "value"})
    if stray:
        raise ValueError(f"a `$match` object takes only `value` beside it, not `{stray[0]}`")
    if not isinstance(name, str):
        raise ValueError("`$match` is the name of a matcher, a string")
    if isinstance(argument, str) and name not in HOLDERS and _VARIABLE.search(argument):
        return Matcher(name, argument)  # `fill` makes the check once the variable is known
    return make(name, argument)


_VARIABLE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""A variable, or `$${`, the escape of `${`.

Values come from the caller, not from the environment, so that a file gives the same result on each machine.
"""


def fill(tree: Any, variables: Mapping[str, str], where: str) -> Any:
    """Return the tree with every variable replaced; BadInputError names an unknown variable and `where`."""
    if isinstance(tree, str):
        return _filled(tree, variables, where) if "${" in tree else tree
    if isinstance(tree, dict):
        return {key: fill(value, variables, where) for key, value in tree.items()}
    if isinstance(tree, list):
        return [fill(value, variables, where) for value in tree]
    if not isinstance(tree, Matcher) or tree.argument is None:
        return tree
    if isinstance(tree.argument, str) and not _VARIABLE.search(tree.argument):
        return tree
    try:
        if tree.name == "regex":
            # The value is quoted: a path in a regular expression is not a pattern.
            return make("regex", _filled(tree.argument, variables, where, re.escape))
        return make(tree.name, fill(tree.argument, variables, where))
    except ValueError as error:
        raise BadInputError(f"{where}: {sentence(error)}") from None


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
