"""Messages on standard error and the exit code 2, for input that a command cannot use; NAME=VALUE options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import IO, Any, NoReturn

import click

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.spark.lineage.text import printable


class Refusal(click.ClickException):
    """A sentence that ends the command with code 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence with the prefix of all commands."""
        say(self.format_message())


def say(sentence: str) -> None:
    """Print a sentence with the prefix `spark-lineage` on standard error."""
    lines = map(printable, f"spark-lineage: {sentence}".split("\n"))
    click.echo("\n".join(lines), err=True)


def complain(problems: Sequence[str]) -> NoReturn:
    """End the command: with code 2 and a sentence for each problem, or with code 0."""
    for problem in problems:
        say(problem)
    raise SystemExit(2 if problems else 0)


def refuse(sentence: str) -> NoReturn:
    """End the command with one sentence and code 2."""
    say(sentence)
    raise SystemExit(2)


def pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    """Return the values by name; if a name is given twice, the last value.

    >>> pairs("--var", ["DATA=/tmp/a=b"])
    {'DATA': '/tmp/a=b'}
    """
    values = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise BadInputError(f"{option} {text}: not NAME=VALUE.")
        values[name] = value
    return values
