"""Reads the lists of `classes/`: which plan nodes, commands and expressions each version of Spark has.

The oldest version has a whole list. Each later one has the difference to the version before: `+` and `-`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PLACE = Path(__file__).resolve().parent

Lists = dict[str, dict[str, list[str]]]
"""Version -> kind -> full class names."""


def read(path: Path, before: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return kind -> full class names of one list, which may be a difference to another one."""
    classes = {(kind, name) for kind, names in before.items() for name in names}
    kind = package = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        sign, name = (line[0], line[2:]) if line.startswith(("+ ", "- ")) else ("+", line)
        if line.startswith("["):
            kind, package = line.strip("[]").split(" ")
        elif sign == "-":
            classes.remove((kind, f"{package}.{name}"))
        elif line:
            classes.add((kind, f"{package}.{name}"))
    sections: dict[str, list[str]] = {}
    for kind, name in sorted(classes):
        sections.setdefault(kind, []).append(name)
    return sections


def spark_lists() -> Lists:
    lists: Lists = {}
    before: dict[str, list[str]] = {}
    for path in sorted((PLACE / "classes").glob("spark-*.txt")):
        before = lists[path.stem] = read(path, before)
    return lists


SPARK = spark_lists()
LIBRARIES = {
    path.stem: read(path, {}) for path in sorted((PLACE / "classes").glob("*.txt")) if path.stem not in SPARK
}

DEFAULT_EXPRESSIONS = frozenset((PLACE / "default_expressions.txt").read_text(encoding="utf-8").split())
"""Expressions that somebody looked at, and found a transformation of all their children."""


def names(lists: Lists, *kinds: str) -> set[str]:
    """Return the simple names of kinds over all versions."""
    return {
        name.rsplit(".", 1)[1] for of_version in lists.values() for kind in kinds for name in of_version[kind]
    }
