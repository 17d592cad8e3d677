"""Writes expected values as YAML or JSON text that `notation` reads back as the same values.

What is short is on one line, so that a file is read dataset by dataset and column by column. In a file that
exists, only the text of the top-level keys that change is written anew.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing.keys import key_order
from airflow_provider_spark_lineage.testing.matchers import Matcher
from airflow_provider_spark_lineage.testing.notation import BOM, parse_tree
from airflow_provider_spark_lineage.testing.versions import WHEN

LONGEST_LINE = 170
"""Characters of a value on one line, counted as JSON, which is longer than YAML; an edge fits."""


def is_writable(text: str) -> bool:
    """Return whether the text has no half of a surrogate pair, which no encoding can write."""
    return not re.search("[\ud800-\udfff]", text)


def json_text(tree: Any, indent: str = "  ") -> str:
    """Return the text of a JSON file."""
    return json.dumps(json_value(tree), indent=indent, ensure_ascii=False) + "\n"


def json_value(value: Any) -> Any:
    """Return the value as a JSON file has it: matchers as objects, keys that start with `$` escaped."""
    if isinstance(value, Matcher):
        held = {} if value.argument is None else {"value": json_value(value.argument)}
        return {"$match": value.name, **held}
    if isinstance(value, Mapping):
        return {_escaped(key): json_value(item) for key, item in value.items()}
    return [json_value(item) for item in value] if isinstance(value, list) else value


def _escaped(key: str) -> str:
    return f"${key}" if key.startswith("$") else key


def yaml_text(tree: Mapping[str, Any]) -> str:
    """Return the text of a YAML file.

    >>> yaml_text({"a": ["x", "12", None], "$b": "${DATA}/in"})
    "a: [x, '12', null]\\n$$b: ${DATA}/in\\n"
    """
    text = yaml.dump(_File(tree), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=float("inf"))
    # Behind a tag without value, a space is needed only before a comma or bracket.
    return re.sub(r"(![a-z_]+) +$", r"\1", str(text), flags=re.MULTILINE)


class _File(dict[str, Any]):
    """The value of a whole file: every key starts a line."""


class _Dumper(yaml.SafeDumper):
    """Writes matchers as tags, short objects and lists on one line, and texts of several lines as blocks."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def choose_scalar_style(self) -> Any:
        # PyYAML would put quotes behind a tag: `!uuid ''`, `!optional '5'`.
        event: Any = self.event
        is_matcher = (event.tag or "").startswith("!")
        return "" if is_matcher and not event.style else super().choose_scalar_style()

    def write_plain(self, text: str, split: bool = True) -> None:
        if text:
            super().write_plain(text, split)
        else:  # YAML takes a comma or a bracket right behind a tag for a part of its name
            self.write_indicator("", True)


def _represent_matcher(dumper: yaml.SafeDumper, matcher: Matcher) -> yaml.Node:
    argument, tag = matcher.argument, f"!{matcher.name}"
    if argument is None:
        return dumper.represent_scalar(tag, "")
    if isinstance(argument, str):
        return dumper.represent_scalar(tag, argument, style="'" if argument.isprintable() else '"')
    if isinstance(argument, Matcher):  # YAML takes no tag behind a tag
        held = {} if argument.argument is None else {"value": argument.argument}
        return dumper.represent_mapping(tag, {"$match": argument.name, **held}, flow_style=True)
    node = dumper.represent_data(argument)
    node.tag = tag
    return node


def _represent_mapping(dumper: yaml.SafeDumper, mapping: Mapping[str, Any]) -> yaml.Node:
    items = {_escaped(key): value for key, value in mapping.items()}
    is_flow = not isinstance(mapping, _File) and _is_short(mapping)
    return dumper.represent_mapping("tag:yaml.org,2002:map", items, flow_style=is_flow)


def _represent_list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=_is_short(items))


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    is_printable = all(line.isprintable() for line in text.split("\n"))
    style = ("|" if "\n" in text else None) if is_printable else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_short(value: Any) -> bool:
    text = json.dumps(json_value(value), ensure_ascii=False)
    return len(text) <= LONGEST_LINE and "\\n" not in text


_Dumper.add_representer(Matcher, _represent_matcher)
_Dumper.add_representer(dict, _represent_mapping)
_Dumper.add_representer(_File, _represent_mapping)
_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(str, _represent_text)
# `notation` reads `1e3` as a number, and PyYAML does not: quote it.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"), list("-0123456789")
)


# The text of a file that exists.


def updated_text(text: str, path: Path, tree: Mapping[str, Any], new_tree: Mapping[str, Any]) -> str:
    """Return the new text; in YAML with the unchanged keys as they were written, if that is possible."""
    mark = BOM if text.startswith(BOM) else ""
    if path.suffix == ".json":
        indent = re.search(r"\n([ \t]+)\S", text)
        return mark + json_text(_sorted_in(tree, new_tree), indent[1] if indent else "  ")
    new_text = _rewritten_keys(text.removeprefix(BOM), tree, new_tree)
    try:
        is_right = parse_tree(new_text, path) == new_tree
    except BadInputError:
        is_right = False
    # An anchor may tie a key that is kept to one that was rewritten.
    return mark + (new_text if is_right else yaml_text(_sorted_in(tree, new_tree)))


def _rewritten_keys(text: str, tree: Mapping[str, Any], new_tree: Mapping[str, Any]) -> str:
    chunks = _chunks(text)
    parts = [chunks.pop("")] if "" in chunks else []
    for key, value in _sorted_in(tree, new_tree).items():
        if key in tree and value == tree[key]:
            parts.append(chunks[key])
        else:
            comments = re.match(r"(?:[ \t]*(?:#[^\n]*)?\n)*", chunks.get(key, ""))
            newline = "\r\n" if "\r\n" in text else "\n"
            parts.append((comments[0] if comments else "") + yaml_text({key: value}).replace("\n", newline))
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)


def _chunks(text: str) -> dict[str, str]:
    """Return the lines of each top-level key with the comments above it; `""` has those above the first."""
    root = yaml.compose(text, Loader=yaml.BaseLoader)
    lines = text.splitlines(keepends=True)
    starts: list[tuple[str, int]] = []
    for key, _ in root.value if isinstance(root, yaml.MappingNode) else ():
        line = key.start_mark.line
        while starts and line > starts[-1][1] + 1 and re.match(r"#|\s*$", lines[line - 1]):
            line -= 1
        starts.append((key.value, line))
    ends = [line for _, line in starts[1:]] + [len(lines)]
    chunks = {key: "".join(lines[line:end]) for (key, line), end in zip(starts, ends, strict=True)}
    return {"": "".join(lines[: starts[0][1]]), **chunks} if starts else {}


def _sorted_in(tree: Mapping[str, Any], new_tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new tree with new keys in alphabetical order if the file is sorted; else at the end."""
    old = [key for key in tree if key != WHEN]
    keys = [key for key in new_tree if key != WHEN]
    if old == sorted(old, key=key_order):
        keys.sort(key=key_order)
    first = {WHEN: new_tree[WHEN]} if WHEN in new_tree else {}
    return {**first, **{key: new_tree[key] for key in keys}}


def lost_comments(old: str, new: str) -> list[str]:
    """Return every comment that the new text no longer has, with the line where it was."""
    left = Counter(comment for _, comment in _comments(new))
    lost = []
    for line, comment in _comments(old):
        left[comment] -= 1
        if left[comment] < 0:
            lost.append(f"line {line}: {comment}")
    return lost


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield the comments between YAML's tokens, with their lines."""
    text = text.removeprefix(BOM)
    end = 0
    for token in yaml.scan(text, Loader=yaml.BaseLoader):
        yield from _comments_in(text, end, token.start_mark.index)
        end = max(end, token.end_mark.index)
    yield from _comments_in(text, end, len(text))


def _comments_in(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    for match in re.finditer(r"#[^\r\n]*", text[start:end]):
        yield text.count("\n", 0, start + match.start()) + 1, match[0]
