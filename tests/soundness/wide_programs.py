"""Seeded programs over datasets with different columns, which they rename, drop, retype and replace.

The writer of a program knows the columns of each dataset after each step, and the base columns that the text
of the program names for each of them. It knows this from its own tables, never from a plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from programs import Program, Source, Step
from wide_frames import Reads
from wide_state import KINDS, Column, Frame, State, Thing, UnfitError, Uses, joined, last
from wide_steps import LAKES, NAMES, STRUCT, WIDE_ROWS, WideRow

WIDE = range(1000, 1500)
"""The seeds of `make soundness`."""

LENGTHS = range(4, 8)
BASES = (
    ("name", "string"),
    ("city", "string"),
    ("qty", "bigint"),
    ("ref", "bigint"),
    ("price", "double"),
    ("age", "int"),
    ("st", STRUCT),
)
"""Columns of a source besides its `id`."""


def wide_of_seed(seed: int) -> Program:
    """Return the program of a seed: one of two runs in a session with lakes."""
    return _Writer(seed, lakes=seed % 2 == 1).program()


class _Writer(State):
    """Writes a program step by step, and knows the state after each."""

    def program(self) -> Program:
        """Write all of it."""
        sources = tuple(self._source() for _ in range(self.random.choice((1, 2, 2))))
        steps: list[Step] = []
        wanted = self.random.choice(LENGTHS)
        while len(steps) < wanted:
            (row,) = self.random.choices(WIDE_ROWS, [row.weight for row in WIDE_ROWS])
            try:
                steps.append(_Taken(self, row).step())
            except UnfitError:
                continue
        return Program(
            self.seed, self.lakes, sources, (), tuple(steps), raises=False, is_wide=True, uses=self._uses()
        )

    def _uses(self) -> dict[tuple[str, str], Uses]:
        by_output: dict[tuple[str, str], Uses] = {}
        for thing in self.things:
            name = thing.place or f"{self.database}.{thing.name}"
            by_output |= {(name, column.name): column.uses for column in thing.columns}
            by_output[name, ""] = thing.rows
        return by_output

    def _source(self) -> Source:
        form = self.random.choice(("parquet", "parquet", "csv", "json"))
        place = f"ROOT/{self.name()}"
        known = [base for base in BASES if form != "csv" or base[1] != STRUCT]
        columns = (("id", "bigint"), *self.random.sample(known, self.random.choice((2, 3))))
        uses = {name: {f"{place}.{name}": frozenset({"as it is"})} for name, _ in columns}
        thing = Thing(place[5:], "path", form, place, tuple(Column(*each, uses[each[0]]) for each in columns))
        self.things.append(replace(thing, below=(place,)))
        return Source(place, form, 2, columns)


class _Taken(Reads):
    """One step that a writer takes; `UnfitError` if there is nothing to take it with."""

    def __init__(self, state: State, row: WideRow) -> None:
        super().__init__(state)
        self.row = row

    def step(self) -> Step:
        """Return the step, and note its effect."""
        row = self.row
        target = self._target()
        self.words.update(
            table=self._table(target),
            place=target.place,
            form=target.form,
            options=".option('header', True)" if target.form == "csv" else "",
            schema=".option('overwriteSchema', True)" if target.form == "delta" else "",
            state=f"STATE/{self.state.name('c')}",
            view=f"{self.state.database}.{self.state.name('v')}",
            temporary=f"k{self.state.seed}_{self.state.numbers}",
            variable=f"x{self.state.seed}_{self.state.numbers}",
            new=self.state.name("n"),
        )
        EFFECTS[row.does](self, target)
        text = row.text.format(**self.words)
        columns = self._columns_of(target.place)
        return Step(text, tuple(dict.fromkeys(self.reads)), (), target=target.place, columns=columns)

    def _columns_of(self, place: str) -> tuple[tuple[str, str], ...]:
        for thing in self.state.things:
            if thing.place == place != "":
                return tuple((column.name, column.type) for column in thing.columns)
        return ()

    def _target(self) -> Thing:
        row, lakes = self.row, self.state.lakes
        if row.on:
            return self._any(thing for thing in self.state.things if KINDS[row.on](thing))
        forms = [form for form in row.forms if lakes or form not in LAKES]
        if lakes and self.random.random() < 0.6:
            forms = [form for form in forms if form in LAKES] or forms
        if not forms:
            raise UnfitError
        again = [thing for thing in self.state.dropped if thing.kind == row.makes and thing.form in forms]
        if again and self.random.random() < 0.4:
            return self.random.choice(again)
        form, name = self.random.choice(forms), self.state.name()
        folder = "LAKE" if form == "iceberg" else "DB" if "table" in row.makes else "ROOT"
        place = "" if row.makes in ("frame", "variable") else f"{folder}/{name}"
        return Thing(name, row.makes, form, place)

    def fills_anew(self, target: Thing) -> None:
        """Replace rows and columns."""
        frame = self.used_frame(self.selected(self.source(target), self.columns_anew(target)))
        self.fill(target, frame, columns=frame.columns, rows=frame.rows)

    def is_empty(self, target: Thing) -> None:
        """Make columns without rows."""
        columns = self.columns_anew(target)
        self.words["columns"] = ", ".join(f"{name} {kind}" for name, kind in columns)
        self.fill(target, None, columns=tuple(Column(*column) for column in columns), rows={})

    def adds(self, target: Thing) -> None:
        """Add rows of the same columns."""
        frame = self._same(target, [(column.name, column.type) for column in target.columns])
        self.add(target, frame)

    def adds_some(self, target: Thing) -> None:
        """Add rows without values for some columns."""
        wanted = [(column.name, column.type) for column in target.columns]
        wanted = self.random.sample(wanted, self.random.randint(1, len(wanted)))
        self.words["some"] = ", ".join(name for name, _ in wanted)
        self.add(target, self._same(target, wanted))

    def fills(self, target: Thing) -> None:
        """Replace all rows."""
        frame = self._same(target, [(column.name, column.type) for column in target.columns])
        self.fill(target, frame, columns=frame.columns, rows=frame.rows)

    def _same(self, target: Thing, wanted: list[tuple[str, str]]) -> Frame:
        return self.used_frame(self.selected(self.source(target), wanted))

    def add(self, target: Thing, frame: Frame) -> None:
        """Note the rows that were added."""
        added = {column.name: column for column in frame.columns}
        columns = tuple(
            replace(column, uses=joined(column.uses, added[column.name].uses if column.name in added else {}))
            for column in target.columns
        )
        self.fill(target, frame, columns=columns, rows=joined(target.rows, frame.rows))

    def fill(self, target: Thing, frame: Frame | None, *, columns: tuple[Column, ...], rows: Uses) -> None:
        """Note the new state of a dataset."""
        new = replace(target, columns=columns, rows=rows, below=(target.place,), filled=frame is not None)
        if target in self.state.things:
            same = [(c.name, c.type) for c in columns] == [(c.name, c.type) for c in target.columns]
            self.state.put(target, new, other_columns=not same)
        else:
            self.state.things.append(new)
            self.state.dropped = [thing for thing in self.state.dropped if thing.name != target.name]

    def _with_columns(self, target: Thing, columns: Iterable[Column]) -> None:
        self.state.put(target, replace(target, columns=tuple(columns)), other_columns=True)

    def _column(self, target: Thing, kind: str = "") -> Column:
        some = [column for column in target.columns if kind in ("", column.type)]
        if not some:
            raise UnfitError
        chosen = self.random.choice(some)
        self.words["old"] = chosen.name
        return chosen

    def adds_a_column(self, target: Thing) -> None:
        """Add a column without values."""
        free = [name for name in NAMES if name not in [column.name for column in target.columns]]
        if not free:
            raise UnfitError
        new = Column(self.random.choice(free), self.random.choice(("bigint", "string")))
        self.words["more"] = f"{new.name} {new.type}"
        self._with_columns(target, (*target.columns, new))

    def renames(self, target: Thing) -> None:
        """Give a column another name, maybe one that another column had."""
        old = self._column(target)
        free = [name for name in NAMES if name not in [column.name for column in target.columns]]
        self.words["new"] = new = self.random.choice(free) if free else self.words["new"]
        self._with_columns(target, (replace(c, name=new) if c is old else c for c in target.columns))

    def drops_a_column(self, target: Thing) -> None:
        """Drop a column."""
        if len(target.columns) < 2:
            raise UnfitError
        old = self._column(target)
        self._with_columns(target, (column for column in target.columns if column is not old))

    def retypes(self, target: Thing) -> None:
        """Widen a column."""
        old = self._column(target, "int")
        self._with_columns(target, (replace(c, type="bigint") if c is old else c for c in target.columns))

    def maps(self, target: Thing) -> None:
        """Let Delta rename and drop columns."""
        self.state.put(target, replace(target, mapped=True), other_columns=False)

    def _own(self, target: Thing, text: str) -> dict[str, Column]:
        letters = self._letters(text, self.frame_of(target))
        self.words.update({letter: column.name for letter, column in letters.items()})
        self.reads.append(target.place)
        return letters

    def updates(self, target: Thing) -> None:
        """Change values of some rows."""
        own = self._own(target, self.row.text)
        uses = joined(own["s"].uses, last(own.values(), self.row.text))
        columns = (replace(c, uses=uses) if c is own["s"] else c for c in target.columns)
        self.state.put(target, replace(target, columns=tuple(columns)), other_columns=False)

    def deletes(self, target: Thing) -> None:
        """Remove some rows."""
        own = self._own(target, self.row.text)
        rows = joined(target.rows, last(own.values(), self.row.text))
        self.state.put(target, replace(target, rows=rows), other_columns=False)

    def merges(self, target: Thing) -> None:
        """Change some rows and add some."""
        own = self._own(target, "{n} {s}")
        frame = self.used_frame(self.source(target))
        of_frame = self._letters("{n} {s}", frame)
        self.words |= {"n0": own["n"].name, "s0": own["s"].name}
        self.words |= {letter: column.name for letter, column in of_frame.items()}
        added = {own[letter].name: last([column], self.row.text) for letter, column in of_frame.items()}
        columns = tuple(replace(c, uses=joined(c.uses, added.get(c.name, {}))) for c in target.columns)
        deciding = last([own["n"], *of_frame.values()], self.row.text)
        rows = joined(joined(target.rows, frame.rows), deciding)
        self.state.put(target, replace(target, columns=columns, rows=rows), other_columns=False)

    def is_renamed(self, target: Thing) -> None:
        """Give a table another name."""
        name = self.state.name()
        self.words["renamed"] = f"{self.state.database}.{name}"
        place = f"DB/{name}"
        self.state.put(target, None, other_columns=True)
        self.state.things.append(replace(target, name=name, place=place, below=(place,)))
        self.state.dropped.append(target)

    def is_dropped(self, target: Thing) -> None:
        """Drop a table."""
        self.state.put(target, None, other_columns=True)
        self.state.dropped.append(Thing(target.name, target.kind, target.form, target.place))

    def _listed(self, target: Thing) -> tuple[Column, ...]:
        columns = self.random.sample(target.columns, self.random.randint(1, len(target.columns)))
        self.words["listed"] = ", ".join(column.name for column in columns)
        return tuple(columns)

    def is_viewed(self, target: Thing) -> None:
        """Make a view of a table."""
        columns = self._listed(target)
        name = self.words["view"].partition(".")[2]
        below, needs = target.below, (target.name, *target.needs)
        self.state.things.append(Thing(name, "view", "", "", columns, target.rows, below, needs))
        self.reads += target.below

    def is_named(self, target: Thing, *, eager: bool = False) -> None:
        """Name a frame."""
        before = len(self.reads)
        frame = self.selected(self.source(target), self.columns_anew(target))
        # A checkpoint inside would read some of its datasets in this step.
        self.words["frame"] = frame.text if eager else frame.text.replace(".localCheckpoint()", "")
        name = self.words["temporary"]
        text = f"spark.table('{name}')" if "TempView" in self.row.text else name
        # A variable in its text is read where the frame is.
        self.reads[before:] = frame.below if eager else ()
        self.state.things.append(
            Thing(
                name,
                "frame",
                "",
                "",
                frame.columns,
                frame.rows,
                frame.below,
                () if eager else frame.needs,
                text,
            )
        )

    def is_kept(self, target: Thing) -> None:
        """Keep the rows of a frame."""
        self.is_named(target, eager=True)

    def sets(self, target: Thing) -> None:
        """Give a variable a value that was read."""
        frame = self.used_frame(self.frame_of(self._readable(target)))
        column = self._letters("{n}", frame)["n"]
        self.words["n"] = column.name
        frame = replace(frame, rows=joined(column.uses, frame.rows))
        self.state.variables[self.words["variable"]] = frame

    def executes(self, target: Thing) -> None:
        """Run a text with a parameter."""
        # With the extensions of Delta and Iceberg, Spark leaves the parameter unbound.
        if self.state.lakes or not self.state.variables:
            raise UnfitError
        source = self._any(thing for thing in self.state.things if self._name(thing))
        name = self.words["variable"] = self.random.choice(list(self.state.variables))
        self.words["table"] = self._name(source)
        frame = self.frame_of(source)
        # The plan has only the variable's value: what it was read from is a gap of the column.
        uses = self._of_variable(name, "execute immediate", is_read=False)
        new = Column(self.words["new"], "bigint", uses)
        frame = replace(frame, columns=(*self._listed(source), new))
        self.reads += frame.below
        self.fill(target, frame, columns=frame.columns, rows=frame.rows)

    def streams(self, target: Thing) -> None:
        """Write a stream."""
        files = [thing for thing in self.state.things if thing.kind in ("path", "sunk")]
        source = self._any(thing for thing in files if thing.name != target.name)
        frame = self.selected(self.frame_of(source, streams=True), self.columns_anew(target))
        self.words["stream"] = frame.text
        self.reads += frame.below
        self.fill(target, frame, columns=frame.columns, rows=frame.rows)


EFFECTS = {
    "fills anew": _Taken.fills_anew,
    "is empty": _Taken.is_empty,
    "adds": _Taken.adds,
    "adds some": _Taken.adds_some,
    "fills": _Taken.fills,
    "adds a column": _Taken.adds_a_column,
    "renames": _Taken.renames,
    "drops a column": _Taken.drops_a_column,
    "retypes": _Taken.retypes,
    "maps": _Taken.maps,
    "updates": _Taken.updates,
    "deletes": _Taken.deletes,
    "merges": _Taken.merges,
    "is renamed": _Taken.is_renamed,
    "is dropped": _Taken.is_dropped,
    "is viewed": _Taken.is_viewed,
    "is named": _Taken.is_named,
    "is kept": _Taken.is_kept,
    "sets": _Taken.sets,
    "executes": _Taken.executes,
    "streams": _Taken.streams,
}
"""Key of a row -> the effect of its steps."""
