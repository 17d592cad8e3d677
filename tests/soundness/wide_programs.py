"""Seeded programs over datasets with different columns, which they rename, drop, retype and replace.

The writer of a program knows the columns of each dataset after each step, and the base columns that the text
of the program names for each of them. It knows this from its own tables, never from a plan.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from programs import Program, Source, Step
from wide_steps import (
    EXPRESSIONS,
    LAKES,
    LETTERS,
    NAMES,
    SHAPES,
    STRUCT,
    WIDE_ROWS,
    Expression,
    Shape,
    WideRow,
)

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


class _UnfitError(Exception):
    """There is nothing that the row could be applied to."""


def wide_of_seed(seed: int) -> Program:
    """Return the program of a seed: one of two runs in a session with lakes."""
    return _Writer(seed, lakes=seed % 2 == 1).program()


class _Writer:
    """Writes a program step by step, and knows the state after each."""

    def __init__(self, seed: int, lakes: bool) -> None:
        self.seed, self.lakes = seed, lakes
        self.random = random.Random(seed)
        self.database = f"p{seed}"
        self.things: list[Thing] = []
        self.variables: dict[str, Frame] = {}
        self.dropped: list[Thing] = []
        self.numbers = 0

    def program(self) -> Program:
        """Write all of it."""
        sources = tuple(self._source() for _ in range(self.random.choice((1, 2, 2))))
        steps: list[Step] = []
        wanted = self.random.choice(LENGTHS)
        while len(steps) < wanted:
            (row,) = self.random.choices(WIDE_ROWS, [row.weight for row in WIDE_ROWS])
            try:
                steps.append(_Taken(self, row).step())
            except _UnfitError:
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


class _Taken:
    """One step that a writer takes; `_UnfitError` if there is nothing to take it with."""

    def __init__(self, writer: _Writer, row: WideRow) -> None:
        self.writer, self.row, self.random = writer, row, writer.random
        self.words: dict[str, str] = {}
        self.reads: list[str] = []

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
            state=f"STATE/{self.writer.name('c')}",
            view=f"{self.writer.database}.{self.writer.name('v')}",
            temporary=f"k{self.writer.seed}_{self.writer.numbers}",
            variable=f"x{self.writer.seed}_{self.writer.numbers}",
            new=self.writer.name("n"),
        )
        EFFECTS[row.does](self, target)
        text = row.text.format(**self.words)
        columns = self._columns_of(target.place)
        return Step(text, tuple(dict.fromkeys(self.reads)), (), target=target.place, columns=columns)

    def _columns_of(self, place: str) -> tuple[tuple[str, str], ...]:
        for thing in self.writer.things:
            if thing.place == place != "":
                return tuple((column.name, column.type) for column in thing.columns)
        return ()

    def _target(self) -> Thing:
        row, lakes = self.row, self.writer.lakes
        if row.on:
            return self._any(thing for thing in self.writer.things if KINDS[row.on](thing))
        forms = [form for form in row.forms if lakes or form not in LAKES]
        if lakes and self.random.random() < 0.6:
            forms = [form for form in forms if form in LAKES] or forms
        if not forms:
            raise _UnfitError
        again = [thing for thing in self.writer.dropped if thing.kind == row.makes and thing.form in forms]
        if again and self.random.random() < 0.4:
            return self.random.choice(again)
        form, name = self.random.choice(forms), self.writer.name()
        folder = "LAKE" if form == "iceberg" else "DB" if "table" in row.makes else "ROOT"
        place = "" if row.makes in ("frame", "variable") else f"{folder}/{name}"
        return Thing(name, row.makes, form, place)

    def _any(self, things: Iterable[Thing]) -> Thing:
        listed = list(things)
        if not listed:
            raise _UnfitError
        return self.random.choice(listed)

    def _table(self, thing: Thing) -> str:
        catalog = "lake." if thing.form == "iceberg" else ""
        return f"{catalog}{self.writer.database}.{thing.name}"

    def _name(self, thing: Thing) -> str:
        """Return the name of a thing in SQL; empty if it has none."""
        if thing.kind == "frame":
            return thing.name if thing.text.startswith("spark.table") else ""
        return "" if thing.kind in ("path", "sunk") else self._table(thing)

    # What a step reads.

    def frame_of(self, thing: Thing, *, streams: bool = False) -> Frame:
        """Return all rows of a thing."""
        reader = "spark.readStream" if streams else "spark.read"
        if thing.kind == "frame":
            text = thing.text
        elif thing.kind in ("path", "sunk"):
            listed = ", ".join(f"{column.name} {column.type}" for column in thing.columns)
            tells = thing.form == "delta" or (thing.form == "parquet" and not streams)
            typed = "" if tells else f".schema('{listed}')"
            header = ".option('header', True)" if thing.form == "csv" else ""
            text = f"{reader}.format('{thing.form}'){header}{typed}.load('{thing.place}')"
        else:
            text = f"spark.table('{self._table(thing)}')"
        return Frame(text, thing.columns, thing.rows, thing.below, (thing.name, *thing.needs), streams)

    def source(self, target: Thing) -> Frame:
        """Return some rows that are not the target's."""
        frame = self.frame_of(self._readable(target))
        for _ in range(self.random.choice((0, 1, 1, 2))):
            frame = self.shaped(frame, target)
        return frame

    def _readable(self, target: Thing) -> Thing:
        return self._any(
            thing
            for thing in self.writer.things
            if thing.columns and target.name not in (thing.name, *thing.needs)
        )

    def shaped(self, frame: Frame, target: Thing) -> Frame:
        """Return a frame over another one, of a random shape that fits; itself if none was found."""
        for _ in range(4):
            (shape,) = self.random.choices(SHAPES, [shape.weight for shape in SHAPES])
            try:
                second = self.frame_of(self._readable(target)) if shape.has_second else None
                return self._over(shape, frame, second)
            except _UnfitError:
                continue
        return frame

    def _over(self, shape: Shape, frame: Frame, second: Frame | None) -> Frame:
        letters = self._letters(shape.text, frame)
        if second:
            of_second = re.sub(r"\{(\w)1\}", r"{_\1}", shape.text)
            letters |= {f"{key}1": column for key, column in self._letters(of_second, second, "_").items()}
        keys = [key for key in ("new", "new2", "new3") if f"{{{key}}}" in shape.text]
        numbered = {key: self.writer.name("n") for key in keys}
        words = {key: column.name for key, column in letters.items()} | numbered
        text = shape.text.format(**words, l="{l}", r="{r}")
        # The first `{l}` of a call of `spark.sql` is a name in its text.
        text = _replaced_last(text, "{l}", frame.text)
        text = _replaced_last(text, "{r}", second.text) if second else text
        label = shape.text.partition("(")[2] if shape.text.startswith("spark.sql") else shape.text

        def used(names: str) -> Uses:
            columns = [letters[f"{letter}1" if is_second else letter] for letter, is_second in _pairs(names)]
            return _last(columns, label)

        added = tuple(Column(name.format(**words), kind, used(names)) for name, kind, names in shape.adds)
        columns = (*frame.columns, *added) if shape.keeps else added
        rows = _joined(frame.rows, second.rows if second else {})
        rows = _joined(rows, _last(frame.columns, label) if shape.decides == "*" else used(shape.decides))
        below = (*frame.below, *(second.below if second else ()))
        return Frame(text, columns, rows, below, (*frame.needs, *(second.needs if second else ())))

    def _letters(self, text: str, frame: Frame, prefix: str = "") -> dict[str, Column]:
        """Choose a column for each letter of a text."""
        chosen: dict[str, Column] = {}
        for letter in dict.fromkeys(re.findall(rf"\{{{prefix}([nmstdix])\}}", text)):
            fitting = [column for column in frame.columns if column.type == LETTERS[letter]]
            fresh = [column for column in fitting if column not in chosen.values()]
            if not fitting:
                raise _UnfitError
            chosen[letter] = self.random.choice(fresh or fitting)
        return chosen

    def selected(self, frame: Frame, wanted: Iterable[tuple[str, str]]) -> Frame:
        """Return a frame with these columns, computed of another one's."""
        columns, texts, before = [], [], len(self.reads)
        for name, kind in wanted:
            text, uses = self._value(frame, kind)
            texts.append(f"{text} {name}")
            columns.append(Column(name, kind, uses))
        listed = ", ".join(repr(text) for text in texts)
        below = (*frame.below, *self.reads[before:])
        text = f"{frame.text}.selectExpr({listed})"
        return replace(frame, text=text, columns=tuple(columns), below=below)

    def _value(self, frame: Frame, kind: str) -> tuple[str, Uses]:
        fitting = [each for each in EXPRESSIONS if each.type == kind]
        while True:
            (expression,) = self.random.choices(fitting, [each.weight for each in fitting])
            try:
                return self._computed(expression, frame)
            except _UnfitError:
                fitting.remove(expression)

    def _computed(self, expression: Expression, frame: Frame) -> tuple[str, Uses]:
        letters = self._letters(expression.text, frame)
        words = {letter: column.name for letter, column in letters.items()}
        uses = _last(letters.values(), expression.text)
        if "{v}" in expression.text:
            if frame.streams or not self.writer.variables:
                raise _UnfitError
            words["v"] = self.random.choice(list(self.writer.variables))
            uses = _joined(uses, self._of_variable(words["v"], expression.text))
        return expression.text.format(**words), uses

    def columns_anew(self, target: Thing) -> list[tuple[str, str]]:
        """Return new columns for a dataset."""
        types = ["bigint", "string", "bigint", "string", "double", "int", STRUCT]
        if target.form == "csv":
            types.remove(STRUCT)
        names = self.random.sample(NAMES, self.random.choice((2, 3, 3, 4)))
        return [(name, self.random.choice(types)) for name in names]

    def used_frame(self, frame: Frame) -> Frame:
        """Note that a step reads a frame, and put it into the text."""
        self.words["frame"] = frame.text
        self.reads += frame.below
        return frame

    # What it does.

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
            replace(
                column, uses=_joined(column.uses, added[column.name].uses if column.name in added else {})
            )
            for column in target.columns
        )
        self.fill(target, frame, columns=columns, rows=_joined(target.rows, frame.rows))

    def fill(self, target: Thing, frame: Frame | None, *, columns: tuple[Column, ...], rows: Uses) -> None:
        """Note the new state of a dataset."""
        new = replace(target, columns=columns, rows=rows, below=(target.place,), filled=frame is not None)
        if target in self.writer.things:
            same = [(c.name, c.type) for c in columns] == [(c.name, c.type) for c in target.columns]
            self.writer.put(target, new, other_columns=not same)
        else:
            self.writer.things.append(new)
            self.writer.dropped = [thing for thing in self.writer.dropped if thing.name != target.name]

    def _with_columns(self, target: Thing, columns: Iterable[Column]) -> None:
        self.writer.put(target, replace(target, columns=tuple(columns)), other_columns=True)

    def _column(self, target: Thing, kind: str = "") -> Column:
        some = [column for column in target.columns if kind in ("", column.type)]
        if not some:
            raise _UnfitError
        chosen = self.random.choice(some)
        self.words["old"] = chosen.name
        return chosen

    def adds_a_column(self, target: Thing) -> None:
        """Add a column without values."""
        free = [name for name in NAMES if name not in [column.name for column in target.columns]]
        if not free:
            raise _UnfitError
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
            raise _UnfitError
        old = self._column(target)
        self._with_columns(target, (column for column in target.columns if column is not old))

    def retypes(self, target: Thing) -> None:
        """Widen a column."""
        old = self._column(target, "int")
        self._with_columns(target, (replace(c, type="bigint") if c is old else c for c in target.columns))

    def maps(self, target: Thing) -> None:
        """Let Delta rename and drop columns."""
        self.writer.put(target, replace(target, mapped=True), other_columns=False)

    def _own(self, target: Thing, text: str) -> dict[str, Column]:
        letters = self._letters(text, self.frame_of(target))
        self.words.update({letter: column.name for letter, column in letters.items()})
        self.reads.append(target.place)
        return letters

    def updates(self, target: Thing) -> None:
        """Change values of some rows."""
        own = self._own(target, self.row.text)
        uses = _joined(own["s"].uses, _last(own.values(), self.row.text))
        columns = (replace(c, uses=uses) if c is own["s"] else c for c in target.columns)
        self.writer.put(target, replace(target, columns=tuple(columns)), other_columns=False)

    def deletes(self, target: Thing) -> None:
        """Remove some rows."""
        own = self._own(target, self.row.text)
        rows = _joined(target.rows, _last(own.values(), self.row.text))
        self.writer.put(target, replace(target, rows=rows), other_columns=False)

    def merges(self, target: Thing) -> None:
        """Change some rows and add some."""
        own = self._own(target, "{n} {s}")
        frame = self.used_frame(self.source(target))
        of_frame = self._letters("{n} {s}", frame)
        self.words |= {"n0": own["n"].name, "s0": own["s"].name}
        self.words |= {letter: column.name for letter, column in of_frame.items()}
        added = {own[letter].name: _last([column], self.row.text) for letter, column in of_frame.items()}
        columns = tuple(replace(c, uses=_joined(c.uses, added.get(c.name, {}))) for c in target.columns)
        deciding = _last([own["n"], *of_frame.values()], self.row.text)
        rows = _joined(_joined(target.rows, frame.rows), deciding)
        self.writer.put(target, replace(target, columns=columns, rows=rows), other_columns=False)

    def is_renamed(self, target: Thing) -> None:
        """Give a table another name."""
        name = self.writer.name()
        self.words["renamed"] = f"{self.writer.database}.{name}"
        place = f"DB/{name}"
        self.writer.put(target, None, other_columns=True)
        self.writer.things.append(replace(target, name=name, place=place, below=(place,)))
        self.writer.dropped.append(target)

    def is_dropped(self, target: Thing) -> None:
        """Drop a table."""
        self.writer.put(target, None, other_columns=True)
        self.writer.dropped.append(Thing(target.name, target.kind, target.form, target.place))

    def _listed(self, target: Thing) -> tuple[Column, ...]:
        columns = self.random.sample(target.columns, self.random.randint(1, len(target.columns)))
        self.words["listed"] = ", ".join(column.name for column in columns)
        return tuple(columns)

    def is_viewed(self, target: Thing) -> None:
        """Make a view of a table."""
        columns = self._listed(target)
        name = self.words["view"].partition(".")[2]
        below, needs = target.below, (target.name, *target.needs)
        self.writer.things.append(Thing(name, "view", "", "", columns, target.rows, below, needs))
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
        self.writer.things.append(
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
        frame = replace(frame, rows=_joined(column.uses, frame.rows))
        self.writer.variables[self.words["variable"]] = frame

    def _of_variable(self, name: str, label: str, *, is_read: bool = True) -> Uses:
        """Return the base columns of a variable's value, which count as read again."""
        frame = self.writer.variables[name]
        self.reads += frame.below if is_read else ()
        return {base: frozenset({label}) for base in frame.rows}

    def executes(self, target: Thing) -> None:
        """Run a text with a parameter."""
        # With the extensions of Delta and Iceberg, Spark leaves the parameter unbound.
        if self.writer.lakes or not self.writer.variables:
            raise _UnfitError
        source = self._any(thing for thing in self.writer.things if self._name(thing))
        name = self.words["variable"] = self.random.choice(list(self.writer.variables))
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
        files = [thing for thing in self.writer.things if thing.kind in ("path", "sunk")]
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


def _pairs(names: str) -> Iterable[tuple[str, bool]]:
    """Yield the letters of a text like `n1s`: a `1` says that the next one is of the second frame."""
    for second, letter in re.findall(r"(1?)([a-z])", names):
        yield letter, bool(second)


def _last(columns: Iterable[Column], label: str) -> Uses:
    """Return the base columns of some columns, all used by one text."""
    return {base: frozenset({label}) for column in columns for base in column.uses}


def _joined(some: Uses, more: Uses) -> Uses:
    return {base: some.get(base, frozenset()) | more.get(base, frozenset()) for base in {**some, **more}}


def _replaced_last(text: str, old: str, new: str) -> str:
    before, _, after = text.rpartition(old)
    return f"{before}{new}{after}"
