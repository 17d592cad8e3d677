"""Prints texts with names from events on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click


def echo(text: str) -> None:
    """Print a text as it is; a half of a surrogate pair, which JSON allows, as an escape."""
    click.echo(encodable(text), nl=False)


def encodable(text: str) -> str:
    r"""Return a text with each half of a surrogate pair as an escape.

    >>> print(encodable("caf\u00e9 \ud800"))
    café \ud800
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def print_json(value: object) -> None:
    """Print a value as JSON for people and programs."""
    echo(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def print_deep_json(value: Any) -> None:
    """Print a value as `print_json` does, however deep its lists and objects are."""
    echo("".join(_json_pieces(value)) + "\n")


_MOST_INDENTED = 50
"""Limit of the levels that are indented: the spaces of thousands of levels would be most of the text."""


def _json_pieces(value: Any) -> Iterator[str]:
    waiting: list[Any] = [(value, 0)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
            continue
        each, depth = item
        if not (isinstance(each, (dict, list)) and each):
            yield json.dumps(each, ensure_ascii=False)
            continue
        outer, inner = ("\n" + "  " * min(level, _MOST_INDENTED) for level in (depth, depth + 1))
        is_object = isinstance(each, dict)
        parts: list[Any] = []
        for key in each:
            parts.append(("," if parts else "") + inner)
            if is_object:
                parts[-1] += f"{json.dumps(key, ensure_ascii=False)}: "
            parts.append((each[key] if is_object else key, depth + 1))
        yield "{" if is_object else "["
        waiting += [outer + ("}" if is_object else "]"), *reversed(parts)]
