"""Turns the doctests of docstrings into blocks of code: in Markdown, lines with `>>>` are quotations."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)
"""A doctest with its output, up to the next empty line."""

DIRECTIVE = re.compile(r"\s*# doctest: .*$", re.MULTILINE)


class Examples(griffe.Extension):
    """Extension of griffe, which reads the docstrings for the reference."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object, if it has one."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(_block, obj.docstring.value)


def _block(example: re.Match[str]) -> str:
    return f"```pycon\n{DIRECTIVE.sub('', example[0])}\n```"
