"""What a program's text says that it will read and write: plain values, with no names of datasets.

`planned.python` and `planned.sql` make them; nothing here has run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

HOLE = "\ufdd0"
"""Stands, inside a text, for a part that is not known; no file or table can have this character."""


@dataclass(frozen=True)
class Access:
    """One read or one write."""

    line: int
    change: str = ""
    """Empty for a read; otherwise a word of `lineage.model.Mode`: `create`, `append`, `drop`, ..."""

    format: str = ""
    """As the text has it, `parquet` or a class name; empty for a table, and for Spark's default."""

    paths: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    """Parts of a table's name, its database included; empty for paths and options alone."""

    catalog: str = ""
    """The session's name of the table's catalog; empty for the session's own catalog."""

    options: tuple[tuple[str, str], ...] = ()
    """Names in lower case."""

    unknown_options: tuple[str, ...] = ()
    """Names of options whose values are not constants; `*` where there may be any."""

    certain: bool = True
    """False below a condition, in a loop, and in a function that the text does not call."""

    partial: bool = False
    """An overwrite that keeps some rows."""

    rewrites: bool = False
    """UPDATE, DELETE or MERGE."""

    if_exists: bool = False
    """IF EXISTS of a DROP, or IF NOT EXISTS of a CREATE."""

    has_rows: bool = True
    """False for a CREATE of a table without a query."""

    is_view: bool = False
    previous: tuple[str, ...] = ()
    """Parts of the name that a renamed table had."""


@dataclass(frozen=True)
class Unread:
    """A part of the text that could not be understood, or whose value only the run knows."""

    line: int
    reason: str


@dataclass
class Program:
    """Everything that a text says, in the order in which it runs as far as that is known."""

    steps: list[Access | Unread] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    """Spark's settings that the text itself makes."""

    def add(self, steps: Iterable[Access | Unread]) -> None:
        """Add steps; the same one at the same line counts once."""
        for step in steps:
            if step not in self._known:
                self._known.add(step)
                self.steps.append(step)

    _known: set[Access | Unread] = field(default_factory=set, repr=False)
