"""Split of a Spark SQL text into statements, and replacement of its variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from airflow_provider_spark_lineage.spark.planned.program import HOLE

_TOKEN = re.compile(
    r"""
      --[^\n]*
    | /\*
    | (?<![\w]) [rR](?:'[^']*'|"[^"]*")      # raw: a backslash is a letter
    | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`]|``)*`
    | ['"`].*                                # not closed: the rest of the text is inside
    | ;
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")
_VARIABLE = re.compile(r"\$\{(?:(hivevar|hiveconf|sparkconf|spark|env|system):)?([^{}$]*)\}")

MAX_LENGTH = 1_000_000
"""Limit, in characters: longer values of variables are not filled in."""


@dataclass(frozen=True)
class Statement:
    """One statement, without its comments."""

    line: int
    """Line of its first word."""

    text: str


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements of a text, without empty statements and statements of comments only."""
    text = _without_comments(text)
    line, start = 1, 0
    ends = [match.start() for match in _TOKEN.finditer(text) if match[0] == ";"]
    for end in (*ends, len(text)):
        whole = text[start:end]
        before = whole[: len(whole) - len(whole.lstrip())]
        if whole.strip():
            yield Statement(line + before.count("\n"), whole.strip())
        line += whole.count("\n")
        start = end + 1


def _without_comments(text: str) -> str:
    """Return a text with blanks for comments except hints; their line breaks remain, for line numbers."""
    parts: list[str] = []
    start = position = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        if match[0].startswith(("/*", "--")) and not text.startswith("/*+", match.start()):
            position = _end_of_comment(text, position) if match[0] == "/*" else position
            parts += [text[start : match.start()], " " + "\n" * text.count("\n", match.start(), position)]
            start = position
    return "".join((*parts, text[start:]))


def _end_of_comment(text: str, position: int) -> int:
    """Return the end of a comment; comments may be nested."""
    depth = 1
    while depth:
        match = _COMMENT.search(text, position)
        if match is None:
            return len(text)
        position = match.end()
        depth += 1 if match[0] == "/*" else -1
    return position


def with_variables(text: str, variables: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return a text with its `${...}` filled in, and the names of unknown variables."""
    missing: dict[str, None] = {}
    length = len(text)

    def value(match: re.Match[str], depth: int) -> str:
        nonlocal length
        prefix, name = match[1], match[2].strip()
        given = variables.get(f"{prefix}:{name}") if prefix else None
        if given is None and prefix not in ("env", "system"):
            given = variables.get(name)
        if given is None:
            missing[name] = None
            return HOLE
        length += len(given)
        if length > MAX_LENGTH:
            return HOLE
        return filled(given, depth - 1) if depth else given

    def filled(part: str, depth: int) -> str:
        # A value may contain variables itself.
        return _VARIABLE.sub(lambda match: value(match, depth), part)

    return filled(text, 3), tuple(missing)
