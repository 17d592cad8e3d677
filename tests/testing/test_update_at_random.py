"""Whatever changes in the events, an update makes the file pass and touches nothing else."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from testing.updating import Documents, update

from airflow_provider_spark_lineage.testing.notation import parse_tree
from airflow_provider_spark_lineage.testing.places import Place, yaml_places
from airflow_provider_spark_lineage.testing.updates.writing import Yaml

Path_ = tuple[str | int, ...]


def elements(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The path of everything in a value."""
    if path:
        yield path
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in list(children):
        yield from elements(child, (*path, key))


def changed_at_random(events: Documents, chance: random.Random) -> Documents:
    """Up to three changes of values, keys, elements, whole events, or of what task instances they are of."""
    events = copy.deepcopy(events)
    for _ in range(chance.randint(1, 3)):
        if chance.random() < AGAIN:
            events.append(again_at_random(chance.choice(events), chance))
            continue
        *way, last = chance.choice([path for path in elements(events) if path[1:2] not in PINNED])
        place: Any = events
        for part in way:
            place = place[part]
        new = chance.choice([None, "new", 7, 0.5, True, [], {}, ["a"], {"name": "n"}, "/in/x", "a\nb"])
        if len(way) == 0:
            new = copy.deepcopy(chance.choice(events))
        action = chance.choice(["set", "drop", "add"])
        if action == "drop" and (way or len(events) > 1):
            del place[last]
        elif action == "add" and isinstance(place, list):
            place.insert(chance.randint(0, len(place)), copy.deepcopy(place[last]) if way else new)
        else:
            place[last] = new
    return events


def again_at_random(event: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The event once more, of another try and maybe of another instance, if its task is mapped."""
    event = copy.deepcopy(event)
    instance = event["run"]["facets"]["airflow"]["taskInstance"]
    instance["try_number"] = chance.randint(1, 3)
    if instance["map_index"] is not None:
        instance["map_index"] = chance.randint(0, 3)
    event["run"]["runId"] = f"018f3a5e-7d2b-7c43-8f6a-{chance.randint(0, 999):012d}"
    return event


AGAIN = 0.3

PINNED = {("eventType",), ("job",), ("run",)}
"""Without these an event has no key."""


def with_comments(text: str) -> str:
    """A comment above every line and behind it."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        lines += [f"{' ' * (len(line) - len(line.lstrip()))}# above {number}", f"{line}  # at {number}"]
    return "\n".join([*lines, ""])


def indented(text: str) -> str:
    """Lists deeper than their keys, as other tools write them."""
    lines, deeper = [], [0]
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        while len(deeper) > 1 and (indent < deeper[-1] or (indent == deeper[-1] and line[indent] != "-")):
            deeper.pop()
        if line[indent] == "-" and deeper[-1] != indent:
            deeper.append(indent)
        lines.append("  " * (len(deeper) - 1) + line)
    return "\n".join([*lines, ""])


def spread(text: str) -> str:
    """Every key and element on a line of its own, with comments."""
    return with_comments("\n".join([*lines_of(parse_tree(text, Path("x.yaml")), ""), ""]))


def lines_of(value: Any, margin: str) -> Iterator[str]:
    """A value in blocks, from its second line on."""
    if not isinstance(value, dict | list) or not value:
        yield f"{margin}{Yaml().one_line(value)}"
    elif isinstance(value, list):
        for item in value:
            first, *rest = lines_of(item, f"{margin}  ")
            yield from (f"{margin}- {first[len(margin) + 2 :]}", *rest)
    else:
        for key, item in value.items():
            first, *rest = lines_of(item, f"{margin}  ")
            name = f"{margin}{Yaml().one_line(key)}:"
            yield from (
                (name, first, *rest)
                if isinstance(item, dict | list) and item
                else [f"{name} {first.lstrip()}"]
            )


LAYOUTS = {
    "yaml": lambda text: text,
    "comments": with_comments,
    "spread": spread,
    "indented": indented,
    "windows": lambda text: text.replace("\n", "\r\n"),
}
JSON_LAYOUTS: dict[str, Any] = {
    "json": lambda tree: json.dumps(tree, indent=2),
    "tabs": lambda tree: json.dumps(tree, indent="\t"),
    "flat": json.dumps,
}


@pytest.mark.parametrize("retries", [0, 2])
@pytest.mark.parametrize("layout", [*LAYOUTS, *JSON_LAYOUTS])
def test_whatever_changes_an_update_passes(tmp_path, shop, layout, retries):
    """After any change: the update passes, again it changes nothing, other events are untouched."""
    chance = random.Random(layout)  # noqa: S311 - for examples, not for secrets
    shop += [again_at_random(chance.choice(shop), chance) for _ in range(retries)]
    file = tmp_path / ("shop.json" if layout in JSON_LAYOUTS else "shop.yaml")
    update(file, shop)
    if layout in JSON_LAYOUTS:
        start = JSON_LAYOUTS[layout](json.loads(file.read_text()))
    else:
        start = LAYOUTS[layout](file.read_text())
    file.write_bytes(start.encode())
    assert not update(file, shop).changed
    for _ in range(15):
        file.write_bytes(start.encode())
        events = changed_at_random(shop, chance)
        found = update(file, events)
        touched = {*found.added, *found.refreshed, *found.removed}
        if layout in LAYOUTS:
            after = file.read_bytes().decode()
            check_untouched(start, after, touched)
            check_comments(start, after, found.text())
        else:
            assert list(json.loads(file.read_text())) or touched


def check_untouched(before: str, after: str, touched: set[str]) -> None:
    """The text of every event that is not in the update is the same."""
    for key, text in sections(before).items():
        if key not in touched:
            assert sections(after)[key] == text


def check_comments(before: str, after: str, told: str) -> None:
    """What is still expected has its comments behind it; every other one is kept, too, or named."""
    left = set(re.findall(r"# (?:at|above) \d+", after))
    gone = set(re.findall(r"# (?:at|above) \d+", before)) - left
    assert all(f"{comment}\n" in told for comment in gone)
    old, new = expectations(before), expectations(after)
    for path, line in old.items():
        for comment in re.findall(r"# at \d+", line) if path in new else ():
            assert comment in left, f"{path}: {line}\n{after}"


def expectations(text: str) -> dict[Path_, str]:
    """The first line of everything that is expected, by what says which it is."""
    value = parse_tree(text, Path("x.yaml"))
    return {path: text[at:].partition("\n")[0] for path, at in starts(value, yaml_places(text))}


def starts(value: Any, place: Place, path: Path_ = (), at: int = 0) -> Iterator[tuple[Path_, int]]:
    """Elements of a list by their names, or by their position among as many; of those, what is in them."""
    if path and not (isinstance(path[-1], int) and isinstance(value, dict | list)):
        yield path, at
    if isinstance(value, dict):
        for (key, item), written, inner in zip(value.items(), place.keys, place.items, strict=True):
            yield from starts(item, inner, (*path, key), written.start)
    elif isinstance(value, list):
        among = "" if all(map(named, value)) else f"{len(value)} elements"
        for i, (item, inner) in enumerate(zip(value, place.items, strict=True)):
            if [named(one) for one in value].count(named(item)) == 1 or among:
                yield from starts(item, inner, (*path, among, named(item) or i), inner.start)


def named(item: Any) -> str:
    """What a list element is known by."""
    keys = ("namespace", "name", "field")
    return " ".join(str(item.get(key)) for key in keys) if isinstance(item, dict) and "name" in item else ""


def sections(text: str) -> dict[str, str]:
    """The text of every key, without what stands above it."""
    starts = [
        (found[1], found.start()) for found in re.finditer(r"(?m)^'?([^\s#'][^\n]*?\.event\.\w+)'?:", text)
    ]
    ends = [start for _, start in starts[1:]] + [len(text)]
    return {
        key: re.sub(r"(\n#[^\n]*)*\s*\Z", "", text[start:end])
        for (key, start), end in zip(starts, ends, strict=True)
    }
