"""Splits a text of Spark SQL into statements, and fills in its variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from airflow_provider_spark_lineage.planned.program import HOLE

_TOKEN = re.compile(
    r"""
      --[^\n]*
    | /\*
    | (?<![\w]) [rR](?:'[^']*'|"[^"]*")      # raw: a backslash is a letter
    | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`]|``)*`
    | ['"`].*                                # not closed: all that follows is inside
    | ;
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")
_VARIABLE = re.compile(r"\$\{(?:(hivevar|hiveconf|sparkconf|spark|env|system):)?([^{}$]*)\}")

MAX_LENGTH = 1_000_000
"""Limit, in letters: a text whose variables make it longer is left as it is."""


@dataclass(frozen=True)
class Statement:
    """One statement, without its comments."""

    line: int
    """Where its first word is."""

    text: str


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements of a text; those that are empty but for comments are left out."""
    parts: list[str] = []
    start = 0

    def statement() -> Iterator[Statement]:
        whole = "".join(parts)
        stripped = whole.strip()
        if stripped:
            before = whole[: len(whole) - len(whole.lstrip())]
            yield Statement(first_line + before.count("\n"), stripped)

    position, counted, first_line = 0, 0, 1
    while match := _TOKEN.search(text, position):
        position = match.end()
        if match[0] == ";":
            parts.append(text[start : match.start()])
            yield from statement()
            first_line += text.count("\n", counted, position)
            parts, start, counted = [], position, position
        elif match[0] == "/*" or match[0].startswith("--"):
            if text.startswith("/*+", match.start()):
                continue
            parts.append(text[start : match.start()])
            position = _end_of_comment(text, position) if match[0] == "/*" else position
            # Line breaks stay, so that lines are counted right.
            parts.append(" " + "\n" * text.count("\n", match.start(), position))
            start = position
    parts.append(text[start:])
    yield from statement()


def _end_of_comment(text: str, position: int) -> int:
    """Return where a comment ends; comments may be inside each other."""
    depth = 1
    while depth:
        match = _COMMENT.search(text, position)
        if match is None:
            return len(text)
        position = match.end()
        depth += 1 if match[0] == "/*" else -1
    return position


def with_variables(text: str, variables: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return a text with its `${...}` filled in, and the names of those that are not known."""
    missing: dict[str, None] = {}
    length = len(text)

    def value(match: re.Match[str], depth: int) -> str:
        nonlocal length
        prefix, name = match[1], match[2].strip()
        found = variables.get(f"{prefix}:{name}") if prefix else None
        if found is None and prefix not in ("env", "system"):
            found = variables.get(name)
        if found is None:
            missing[name] = None
            return HOLE
        length += len(found)
        if length > MAX_LENGTH:
            return HOLE
        return filled(found, depth - 1) if depth else found

    def filled(part: str, depth: int) -> str:
        # A value may have variables itself.
        return _VARIABLE.sub(lambda match: value(match, depth), part)

    return filled(text, 3), tuple(missing)
