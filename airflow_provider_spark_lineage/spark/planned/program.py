"""Planned reads and writes of a program: plain values, without names of datasets.

`planned.python` and `planned.sql` read them from the text, before anything has run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from airflow_provider_spark_lineage.spark.gaps.kinds import Reason

HOLE = "\ufdd0"
"""Placeholder in a text for an unknown part; no name of a file or table can have this character."""

UNKNOWN_FORMAT = "?"
"""Format of an access whose format is not a constant."""


@dataclass(frozen=True)
class Access:
    """One read or one write."""

    line: int
    change: str = ""
    """Empty for a read; otherwise a word of `lineage.model.Mode`: `create`, `append`, `drop`, ..."""

    format: str = ""
    """As in the text, `parquet` or a class name; empty for a table, and for Spark's default."""

    paths: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    """Parts of a table's name, with its database; empty if only paths and options name the dataset."""

    catalog: str = ""
    """The session's name of the table's catalog; empty for the session's own catalog."""

    options: tuple[tuple[str, str], ...] = ()
    """Names in lower case."""

    unknown_options: tuple[str, ...] = ()
    """Names of options whose values are not constants; `*` if there may be any other options."""

    is_certain: bool = True
    """False inside a condition, a loop, or a function that the text does not call."""

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
    """Parts of the old name of a renamed table."""

    file: str = ""
    """The module that has the line; empty for the script itself."""


@dataclass(frozen=True)
class Unread:
    """A part of the text that could not be understood, or whose value only the run knows."""

    line: int
    reason: Reason
    file: str = ""
    """As in `Access`."""


@dataclass
class Program:
    """All steps and settings of a text, in the order of running, as far as that is known."""

    steps: dict[Access | Unread, None] = field(default_factory=dict)
    """Equal steps at the same line are one step."""

    settings: dict[str, str] = field(default_factory=dict)
    """Spark's settings that the text itself sets."""

    def add(self, steps: Iterable[Access | Unread]) -> None:
        """Add steps after the others."""
        self.steps.update(dict.fromkeys(steps))
