"""Prints texts with names from events on standard output."""

from __future__ import annotations

import json

import click


def echo(text: str) -> None:
    """Print a text as it is; a half of a surrogate pair, which JSON allows, as an escape."""
    click.echo(text.encode("utf-8", "backslashreplace").decode("utf-8"), nl=False)


def print_json(value: object) -> None:
    """Print a value as JSON for people and programs."""
    echo(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
