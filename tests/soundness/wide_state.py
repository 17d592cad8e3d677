"""State of a program over wide columns: its datasets, its names for rows, and the sources of each column."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from wide_steps import LAKES

Uses = Mapping[str, frozenset[str]]
"""Base column, as `place.column` -> the texts that use it last."""


@dataclass(frozen=True)
class Column:
    """A column, and what its values are computed from."""

    name: str
    type: str
    uses: Uses = field(default_factory=dict)


@dataclass(frozen=True)
class Frame:
    """Rows that a step may read: the text of a DataFrame."""

    text: str
    columns: tuple[Column, ...]
    rows: Uses
    """What decides which rows there are."""

    below: tuple[str, ...]
    """The places that are read."""

    needs: tuple[str, ...] = ()
    """The names of the things that it was made of: it is not used once they have changed."""

    streams: bool = False


@dataclass(frozen=True)
class Thing:
    """A dataset, or a name for rows."""

    name: str
    kind: str
    """`path`, `table`, `view` or `frame`; `sunk` and `sunk table` are written by a stream alone."""

    form: str
    place: str
    columns: tuple[Column, ...] = ()
    rows: Uses = field(default_factory=dict)
    below: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    text: str = ""
    """Of a frame."""

    filled: bool = True
    mapped: bool = False
    """Delta maps the names of its columns."""


KINDS = {
    "path": lambda thing: thing.kind == "path",
    "table": lambda thing: thing.kind == "table",
    "session table": lambda thing: thing.kind == "table" and thing.form != "iceberg",
    "lake": lambda thing: thing.kind == "table" and thing.form in LAKES,
    "iceberg": lambda thing: thing.kind == "table" and thing.form == "iceberg",
    "mapped": lambda thing: thing.kind == "table" and (thing.mapped or thing.form == "iceberg"),
    "unmapped": lambda thing: thing.kind == "table" and thing.form == "delta" and not thing.mapped,
}
"""Key -> the things that a row may change."""


class UnfitError(Exception):
    """There is nothing that the row could be applied to."""


class State:
    """What there is before and after each step."""

    def __init__(self, seed: int, lakes: bool) -> None:
        self.seed, self.lakes = seed, lakes
        self.random = random.Random(seed)
        self.database = f"p{seed}"
        self.things: list[Thing] = []
        self.variables: dict[str, Frame] = {}
        self.dropped: list[Thing] = []
        self.numbers = 0

    def name(self, letter: str = "t") -> str:
        """Return a name that nothing has yet."""
        self.numbers += 1
        return f"{letter}{self.numbers}"

    def put(self, old: Thing, new: Thing | None, *, other_columns: bool) -> None:
        """Replace a thing; frames and views of it are not used any more."""
        spoiled = {old.name}
        for thing in self.things:
            if spoiled & set(thing.needs) and (other_columns or thing.kind == "frame"):
                spoiled.add(thing.name)
        self.things = [thing for thing in self.things if thing is old or thing.name not in spoiled]
        self.things = [new if thing is old else thing for thing in self.things if thing is not old or new]


def last(columns: Iterable[Column], label: str) -> Uses:
    """Return the base columns of some columns, all used by one text."""
    return {base: frozenset({label}) for column in columns for base in column.uses}


def joined(some: Uses, more: Uses) -> Uses:
    return {base: some.get(base, frozenset()) | more.get(base, frozenset()) for base in {**some, **more}}
