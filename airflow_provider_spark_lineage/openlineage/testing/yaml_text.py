"""YAML of expected files: whole files, and single values on one line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from airflow_provider_spark_lineage.openlineage.testing.matchers import Matcher, json_text

LONGEST_LINE = 170
"""Maximum of characters of a value on one line, counted as JSON, which is longer than YAML; an edge fits."""


def yaml_text(tree: Mapping[str, Any]) -> str:
    """Return the text of a YAML file, with short values on one line.

    >>> yaml_text({"a": ["x", "12", None], "$b": "${DATA}/in"})
    "a: [x, '12', null]\\n$$b: ${DATA}/in\\n"
    """
    text = yaml.dump(_File(tree), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=float("inf"))
    # After a tag without value, a space is needed only before a comma or bracket.
    return re.sub(r"(![a-z_]+) +$", r"\1", str(text), flags=re.MULTILINE)


def yaml_line(value: Any) -> str:
    """Return a value on one line, in the syntax of expected files.

    >>> yaml_line({"name": Matcher("regex", "/in/.*"), "size": Matcher("integer"), "v": "5"})
    "{name: !regex '/in/.*', size: !integer , v: '5'}"
    """
    text = yaml.dump(value, Dumper=_LineDumper, sort_keys=False, allow_unicode=True, width=float("inf"))
    # A document that is a single value may end in a line of dots.
    return str(text).removesuffix("...\n").strip()


_STANDARD = "tag:yaml.org,2002:"


class _File(dict[str, Any]):
    """The value of a whole file: every key starts a line."""


class _Dumper(yaml.SafeDumper):
    """Writes matchers as tags, short objects and lists on one line, and texts of several lines as blocks."""

    is_line = False
    """True to write everything on one line."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def choose_scalar_style(self) -> Any:
        # PyYAML would write quotes after a tag: `!uuid ''`, `!optional '5'`.
        event: Any = self.event
        is_matcher = (event.tag or "").startswith("!")
        return "" if is_matcher and not event.style else super().choose_scalar_style()

    def write_plain(self, text: str, split: bool = True) -> None:
        if text:
            super().write_plain(text, split)
        else:  # YAML reads a comma or bracket right after a tag as part of its name
            self.write_indicator("", True)


def _represent_matcher(dumper: yaml.SafeDumper, matcher: Matcher) -> yaml.Node:
    argument, tag = matcher.argument, f"!{matcher.name}"
    if argument is None:
        return dumper.represent_scalar(tag, "")
    if isinstance(argument, str):
        return dumper.represent_scalar(tag, argument, style="'" if argument.isprintable() else '"')
    if isinstance(argument, Matcher):  # YAML does not allow a tag after a tag
        held = {} if argument.argument is None else {"value": argument.argument}
        return dumper.represent_mapping(tag, {"$match": argument.name, **held}, flow_style=True)
    node = dumper.represent_data(argument)
    node.tag = tag
    return node


def _represent_mapping(dumper: _Dumper, mapping: Any) -> yaml.Node:
    is_flow = not isinstance(mapping, _File) and _is_flow(dumper, mapping)
    escaped = {f"${key}" if f"{key}".startswith("$") else f"{key}": item for key, item in mapping.items()}
    return dumper.represent_mapping(f"{_STANDARD}map", escaped, flow_style=is_flow)


def _represent_list(dumper: _Dumper, items: Any) -> yaml.Node:
    return dumper.represent_sequence(f"{_STANDARD}seq", items, flow_style=_is_flow(dumper, items))


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    is_printable = all(line.isprintable() for line in text.split("\n"))
    style = ("|" if "\n" in text else None) if is_printable else '"'
    return dumper.represent_scalar(f"{_STANDARD}str", text, style=style)


def _is_flow(dumper: _Dumper, value: Any) -> bool:
    text = json_text(value)
    return dumper.is_line or (len(text) <= LONGEST_LINE and "\\n" not in text)


_Dumper.add_representer(Matcher, _represent_matcher)
_Dumper.add_representer(dict, _represent_mapping)
_Dumper.add_representer(_File, _represent_mapping)
_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(tuple, _represent_list)
# Events that a caller passes may have other mappings.
_Dumper.add_multi_representer(object, _represent_mapping)
_Dumper.add_representer(str, _represent_text)
# `expected` reads `1e3` as a number, but PyYAML does not: quote it.
_Dumper.add_implicit_resolver(
    f"{_STANDARD}float", re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"), list("-0123456789")
)


class _LineDumper(_Dumper):
    """Writes everything on one line."""

    is_line = True
