"""Says where in the text of an expected file each value stands: one is changed, and the rest stays.

Meaning is `notation`'s job: here a value is a piece of text with a start and an end. What a YAML parser calls
the end of a block is where the next thing begins; here it is where the block's last value ends, so that
comments and blank lines behind it belong to nobody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import yaml

_COMMENT = re.compile(r"#[^\n]*")
_BLANK = re.compile(r"[ \t\r\n]*")


class Key(NamedTuple):
    """A key of a mapping as it is written, quotes taken off, and where its text is."""

    text: str
    start: int
    end: int


@dataclass
class Place:
    """One value in the text; a tag or an anchor before it is part of it.

    >>> json_places('{"a": [1, 22]}').items[0].items[1]
    Place(start=10, end=12, kind='scalar', block=False, keys=[], items=[], anchored=False)
    """

    start: int
    end: int

    kind: Literal["scalar", "mapping", "list", "alias"]

    block: bool = False
    """A collection that is laid out by indentation, not by brackets."""

    keys: list[Key] = field(default_factory=list)
    """Of a mapping, in the order of the text; merge keys are among them."""

    items: list[Place] = field(default_factory=list)
    """The elements of a list, or the values of a mapping beside their keys."""

    anchored: bool = False
    """It has a YAML anchor: what changes in it changes wherever an alias repeats it."""

    def at(self, key: str) -> int | None:
        """The position of a key; None where the mapping does not write it itself."""
        written = f"${key}" if key.startswith("$") else key
        return next((i for i, one in enumerate(self.keys) if one.text == written), None)

    def shared(self) -> bool:
        """Whether an anchor or an alias in it ties it to another place."""
        return self.anchored or self.kind == "alias" or any(item.shared() for item in self.items)


def line_of(text: str, path: Sequence[str | int], *, is_json: bool) -> int:
    """On which line the value at a path begins, counted from 1; of what it is in, where YAML merges it in.

    >>> line_of("a:\\n  b: [1,\\n    2]\\n", ("a", "b", 1), is_json=False)
    3
    """
    place, start = (json_places if is_json else yaml_places)(text), 0
    for part in path:
        matched = [key.text for key in place.keys]
        if "$match" in matched and "value" in matched:
            place = place.items[matched.index("value")]
        position = part if isinstance(part, int) else place.at(part)
        if position is None or position >= len(place.items):
            break
        start = place.keys[position].start if place.keys else place.items[position].start
        place = place.items[position]
    return text.count("\n", 0, start) + 1


def yaml_places(text: str) -> Place:
    """The only document of a YAML text that `notation` has read without complaint."""
    # The pure parser: libyaml's marks do not count characters but what it made of them.
    events = (
        event
        for event in yaml.parse(text, Loader=yaml.BaseLoader)
        if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent)
    )
    return _yaml_place(next(events), events, text)


def yaml_comments(text: str) -> list[tuple[int, str]]:
    """Every comment of a YAML text with its line, counted from 1.

    >>> yaml_comments("a: |  # one\\n  # text\\n# two\\n")
    [(1, '# one'), (3, '# two')]
    """
    found, position = [], 0
    for token in yaml.scan(text, Loader=yaml.BaseLoader):
        start, end = token.start_mark.index, token.end_mark.index
        spaces = [(position, start)]
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            spaces.append((start, text.find("\n", start)))
        for first, last in spaces:
            found += [
                (text.count("\n", 0, comment.start()) + 1, comment[0].rstrip())
                for comment in _COMMENT.finditer(text, first, last)
            ]
        position = max(position, end)
    return found


def _yaml_place(event: Any, events: Iterator[Any], text: str) -> Place:
    start, end = event.start_mark.index, _end(event)
    anchored = event.anchor is not None
    if isinstance(event, yaml.AliasEvent):
        return Place(start, end, "alias")
    if isinstance(event, yaml.ScalarEvent):
        # A block scalar reaches to the next line; its last line break ends the line like any other.
        end = len(text[:end].rstrip()) if event.style in ("|", ">") else end
        return Place(start, end, "scalar", anchored=anchored)
    kind: Literal["mapping", "list"] = "mapping" if isinstance(event, yaml.MappingStartEvent) else "list"
    place = Place(start, end, kind, block=not event.flow_style, anchored=anchored)
    inner = next(events)
    while not isinstance(inner, yaml.CollectionEndEvent):
        if kind == "mapping":
            key = _yaml_place(inner, events, text)
            place.keys.append(Key(getattr(inner, "value", ""), key.start, key.end))
            inner = next(events)
        place.items.append(_yaml_place(inner, events, text))
        inner = next(events)
    place.end = place.items[-1].end if place.block else _end(inner)
    return place


def _end(event: Any) -> int:
    # In the stubs an event may have no mark; those of a parser have one.
    end: int = event.end_mark.index
    return end


def json_places(text: str) -> Place:
    """The only value of a JSON text that `notation` has read without complaint."""
    return _json_place(text, _after_blank(text, 0))


def _json_place(text: str, start: int) -> Place:
    if text[start] not in "{[":
        _, end = _JSON.raw_decode(text, start)
        return Place(start, end, "scalar")
    place = Place(start, start, "mapping" if text[start] == "{" else "list")
    position = _after_blank(text, start + 1)
    while text[position] not in "}]":
        if place.kind == "mapping":
            key, end = _JSON.raw_decode(text, position)
            place.keys.append(Key(key, position, end))
            position = _after_blank(text, _after_blank(text, end) + 1)
        place.items.append(_json_place(text, position))
        position = _after_blank(text, place.items[-1].end)
        if text[position] == ",":
            position = _after_blank(text, position + 1)
    place.end = position + 1
    return place


_JSON = json.JSONDecoder()


def _after_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position
