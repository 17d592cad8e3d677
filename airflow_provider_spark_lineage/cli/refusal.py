"""Messages on standard error, and the exit code 2 of a command that cannot do its work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any, NoReturn

import click


class Refusal(click.ClickException):
    """A sentence that ends the command with code 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence with the prefix of all commands."""
        say(self.format_message())


def say(sentence: str) -> None:
    """Print a sentence with the prefix `spark-lineage` on standard error."""
    click.echo(f"spark-lineage: {sentence}", err=True)


def complain(problems: Sequence[str]) -> NoReturn:
    """End the command: with code 2 and a sentence for each problem, or with code 0."""
    for problem in problems:
        say(problem)
    raise SystemExit(2 if problems else 0)


def refuse(sentence: str) -> NoReturn:
    """End the command with one sentence and code 2."""
    say(sentence)
    raise SystemExit(2)
