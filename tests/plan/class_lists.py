"""Reads the lists of `classes/`: which plan nodes, commands and expressions each version of Spark has."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

PLACE = Path(__file__).resolve().parent

Lists = dict[str, dict[str, list[str]]]
"""Version -> kind -> full class names."""


def read(path: Path) -> dict[str, list[str]]:
    """Return kind -> full class names of one list."""
    found = defaultdict(list)
    kind = package = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind, package = line.strip("[]").split(" ")
        elif line:
            found[kind].append(f"{package}.{line}")
    return found


def lists(pattern: str) -> Lists:
    return {path.stem: read(path) for path in sorted((PLACE / "classes").glob(f"{pattern}.txt"))}


SPARK = lists("spark-*")
LIBRARIES = {name: found for name, found in lists("*").items() if name not in SPARK}

DEFAULT_EXPRESSIONS = frozenset((PLACE / "default_expressions.txt").read_text(encoding="utf-8").split())
"""Expressions that somebody looked at, and found a transformation of all their children."""


def names(found: Lists, *kinds: str) -> set[str]:
    """Return the simple names of kinds over all versions."""
    return {
        one.rsplit(".", 1)[1] for of_version in found.values() for kind in kinds for one in of_version[kind]
    }
