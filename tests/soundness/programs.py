"""Seeded programs that make, read, change, rename and drop datasets: short lists of steps.

A step is one line: a statement of SQL, or Python with `spark` at hand. `ROOT`, `DB` and `LAKE` are the
folders of the program's files, of its database and of its Iceberg tables. A step names its sources, because
nothing on the disk tells; its writes are found by looking.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from steps import COLUMNS, FILES, FOLDER, KEPT, KINDS, LAKES, ROWS, Row, Thing

LENGTHS = range(4, 9)
VALUES = "select * from values (1L, 'a', 1), (2L, 'b', 2), (3L, 'c', 2) as v(id, name, p)"
RANGE = "spark.range(1, 5).selectExpr('id', \"concat('n', id) name\", 'int(id % 2) p')"
KEEPING = (".localCheckpoint()", ".localCheckpoint(eager=False)", ".cache()")
TYPED = ".selectExpr('bigint(id) id', 'string(name) name', 'int(p) p')"


@dataclass(frozen=True)
class Step:
    """One line of a program."""

    text: str
    reads: tuple[str, ...] = ()
    """The places that it reads."""

    counted: tuple[str, ...] = ()
    """Those that it reads in full."""

    fails: bool = False
    """It raises, and the program goes on."""

    target: str = ""
    """The place that it changes, where the program knows it."""

    columns: tuple[tuple[str, str], ...] = ()
    """Names and types of the target's columns afterwards."""


@dataclass(frozen=True)
class Source:
    """Files that are there before the program."""

    place: str
    form: str
    files: int
    columns: tuple[tuple[str, str], ...] = (("id", "bigint"), ("name", "string"), ("p", "int"))
    """Names and types."""


@dataclass(frozen=True)
class Program:
    """The state before, and the steps under capture."""

    seed: int
    lakes: bool
    sources: tuple[Source, ...]
    before: tuple[Step, ...]
    steps: tuple[Step, ...]
    raises: bool
    """It ends with an exception."""

    is_wide: bool = False
    """Its steps tell the columns of their targets."""

    uses: Mapping[tuple[str, str], Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """Output and column, empty for its rows -> base column -> the texts that use it last."""

    def __str__(self) -> str:
        lines = [f"seed {self.seed}"]
        lines += [
            f"  there     {source.files} files of {source.form} in {source.place}" for source in self.sources
        ]
        lines += [f"  before    {step.text}" for step in self.before]
        lines += [f"  {n:<3}{'fails' * step.fails:<7}{step.text}" for n, step in enumerate(self.steps, 1)]
        return "\n".join(lines + ["  raises"] * self.raises)


ALL = range(500)
"""The seeds of `make soundness`."""


def of_seed(seed: int) -> Program:
    """Return the program of a seed: one of four runs in a session with lakes."""
    return _Writer(seed, lakes=seed % 4 == 3).program()


class _Writer:
    """Writes a program step by step, and knows the state after each."""

    def __init__(self, seed: int, lakes: bool) -> None:
        self.seed, self.lakes = seed, lakes
        self.random = random.Random(seed)
        self.database = f"p{seed}"
        self.has_database = True
        self.things: list[Thing] = []
        self.names = 0

    def program(self) -> Program:
        """Write all of it."""
        sources = tuple(self._source() for _ in range(self.random.randint(1, 3)))
        before = self._steps(self.random.choice((0, 0, 1, 2)), recorded=False)
        steps = self._steps(self.random.choice(LENGTHS), recorded=True)
        return Program(self.seed, self.lakes, sources, before, steps, self.random.random() < 0.1)

    def _source(self) -> Source:
        thing = replace(self._new("path", self.random.choice(FILES)), filled=True, parted=False)
        self.things.append(thing)
        return Source(thing.place, thing.form, self.random.randint(1, 3))

    def _steps(self, wanted: int, *, recorded: bool) -> tuple[Step, ...]:
        steps: list[Step] = []
        while len(steps) < wanted:
            (row,) = self.random.choices(ROWS, [row.weight for row in ROWS])
            step = self._step(row) if recorded or row.makes else None
            if step is not None:
                steps.append(step)
        return tuple(steps)

    def _step(self, row: Row) -> Step | None:
        """Return a step of a kind; None where there is nothing to do it to."""
        target = self._target(row)
        needs_database = "{table}" in row.text or "{database}" in row.text
        if target is None or (needs_database and not self.has_database):
            return None
        some = self._sources_of(row, target)
        if row.fails and "raise_error" in row.text and not any(thing.filled for thing in some):
            return None
        if "{stream}" in row.text and not some:
            return None
        reads = tuple(dict.fromkeys(place for thing in some for place in _places(thing)))
        text = self._text(row, target, some)
        self._after(row, target, some, text)
        counted = () if row.partly or row.fails else reads
        reads += (target.place,) if row.rewrites else ()
        return Step(text, *(((), ()) if row.idle and KEPT not in text else (reads, counted)), fails=row.fails)

    def _target(self, row: Row) -> Thing | None:
        if row.on:
            things = [thing for thing in self.things if KINDS[row.on](thing)]
            if "name" not in row.leaves:
                things = [thing for thing in things if not thing.stale]
            return self.random.choice(things) if things else None
        forms = [form for form in row.forms if self.lakes or form not in LAKES]
        if self.lakes and self.random.random() < 0.6:
            forms = [form for form in forms if form in LAKES] or forms
        return self._new(row.makes or "managed", self.random.choice(forms)) if forms else None

    def _new(self, kind: str, form: str) -> Thing:
        self.names += 1
        name, parted = f"t{self.names}", self.random.random() < 0.3
        folder = "LAKE" if form == "iceberg" else "DB" if kind in ("managed", "sunk table") else "ROOT"
        return Thing(name, kind, form, "" if kind == "view" else f"{folder}/{name}", parted)

    def _sources_of(self, row: Row, target: Thing) -> list[Thing]:
        """Choose the sources of a step."""
        # A view needs the name of its source, too: files outlive the table that is dropped.
        there = {(thing.name, thing.place, thing.has_name) for thing in self.things if not thing.stale}

        def is_readable(thing: Thing) -> bool:
            return (
                not thing.stale
                and (row.itself or not target.place or target.place not in _places(thing))
                and not (row.on == "view" and _needs(thing, target))
                and (thing.filled or thing.has_name)
                and all(
                    (each.name, each.place, each.has_name) in there and is_readable(each)
                    for each in thing.below
                )
            )

        things = [thing for thing in self.things if is_readable(thing)]
        if row.fails:
            # Spark computes at once any rows that it has no files for.
            things = [thing for thing in things if _places(thing)]
        if "{query}" in row.text:
            things = [thing for thing in things if thing.has_name or _has_path(thing)]
        if "{stream}" in row.text:
            things = [thing for thing in things if thing.kind == "path"]
            return self.random.sample(things, min(len(things), 1))
        if "{frame}" in row.text or "{query}" in row.text:
            return self.random.sample(things, min(len(things), self.random.choice((1, 1, 1, 2))))
        return []

    def _text(self, row: Row, target: Thing, some: list[Thing]) -> str:
        header, table = target.form == "csv", self._table(target)
        partitioned = "{by}" in row.text or "{parted}" in row.text or "{parted_by}" in row.text
        parted = target.parted and partitioned
        return row.text.format(
            frame=self._frame(some, fails=row.fails) if "{frame}" in row.text else "",
            query=self._query(some) if "{query}" in row.text else "",
            stream=self._stream(some[0]) if "{stream}" in row.text else "",
            state=f"STATE/{self.names}-{self.random.random():.8f}",
            table=f"{self.database}.{self._second_name(target)}" if row.makes and row.on else table,
            new=f"{self.database}.{target.name}r",
            database=self.database,
            place=target.place,
            form=target.form,
            columns=COLUMNS,
            options=".option('header', True)" if header else "",
            header="options (header 'true', inferSchema 'true')" if header else "",
            by=".partitionBy('p')" if parted else "",
            parted="partitioned by (p)" if parted else "",
            parted_by=".partitionedBy(col('p'))" if parted else "",
        )

    def _second_name(self, thing: Thing) -> str:
        """Return another name for the same files."""
        return f"{thing.name}n{len([each for each in self.things if each.place == thing.place])}"

    def _table(self, thing: Thing) -> str:
        catalog = "lake." if thing.form == "iceberg" else ""
        return f"{catalog}{self.database}.{thing.name}"

    def _query(self, things: list[Thing]) -> str:
        return " union all ".join(self._select(thing) for thing in things) or VALUES

    def _select(self, thing: Thing) -> str:
        by_path = not thing.has_name or (_has_path(thing) and self.random.random() < 0.2)
        return f"select id, name, p from {f'{thing.form}.`{thing.place}`' if by_path else self._table(thing)}"

    def _frame(self, things: list[Thing], *, fails: bool) -> str:
        if _are_alike(things) and self.random.random() < 0.5:
            return self._in_one_read(things)
        frames = [self._rows(thing) for thing in things] or [RANGE]
        # What a checkpoint read before the step failed, it did read.
        keeping = "" if fails else self.random.choice(KEEPING)
        again = f".union({frames[0]})"
        more = self.random.choice(("", "", "", "", ".distinct()", ".repartition(2)", again, keeping))
        return (frames[0] if len(frames) == 1 else f"{frames[0]}.union({frames[1]})") + more

    def _rows(self, thing: Thing) -> str:
        by_path = not thing.has_name or (_has_path(thing) and self.random.random() < 0.2)
        if not by_path:
            return f"spark.table('{self._table(thing)}')"
        if KINDS["parted file path"](thing) and thing.filled and self.random.random() < 0.5:
            reader, _ = _reader(thing, "spark.read", with_schema=True)
            return f"{reader}.load('{thing.place}/p=*').selectExpr('id', 'name', '1 p')"
        glob = f"/*.{thing.form}" if self._is_flat(thing) and self.random.random() < 0.2 else ""
        reader, typed = _reader(thing, "spark.read", with_schema=self.random.random() < 0.5)
        return f"{reader}.load('{thing.place}{glob}'){typed}"

    def _in_one_read(self, things: list[Thing]) -> str:
        """Read two datasets of files at once: Spark counts the rows of both together."""
        reader, typed = _reader(things[0], "spark.read", with_schema=True)
        return f"{reader}.load({[thing.place for thing in things]}){typed}"

    def _stream(self, thing: Thing) -> str:
        reader, typed = _reader(thing, "spark.readStream", with_schema=thing.form != "delta")
        slowly = ".option('maxFilesPerTrigger', 1)" if self.random.random() < 0.3 else ""
        glob = f"/*.{thing.form}" if self._is_flat(thing) and self.random.random() < 0.3 else ""
        return f"{reader}{slowly}.load('{thing.place}{glob}'){typed}"

    def _is_flat(self, thing: Thing) -> bool:
        """Return whether a pattern finds the files of a folder."""
        return thing.kind == "path" and thing.form in FILES and not thing.parted

    def _after(self, row: Row, target: Thing, some: list[Thing], text: str) -> None:
        """Note the places that a step leaves."""
        filled = any(thing.filled for thing in some) or not (some or row.rewrites)
        row_by_row = (
            "overwrite" not in row.text.lower() or "partition" in row.text.lower() or FOLDER in row.text
        )
        if "mode('overwrite')" in row.text and "saveAsTable" in row.text and target.form in FILES:
            # Spark drops the table and makes another, which it manages.
            self._drop(target)
            place = f"DB/{target.name}"
            self.things.append(replace(target, kind="managed", place=place, filled=filled, stale=False))
        elif row.makes and row.on:
            self.things.append(replace(target, name=self._second_name(target), kind=row.makes))
        elif row.makes == "view":
            self.things.append(replace(target, below=tuple(some)))
        elif row.makes:
            filled = filled and "{columns}" not in row.text
            parted = target.parted and ("{by}" in row.text or "{parted}" in row.text)
            self.things.append(replace(target, filled=filled, parted=parted))
        elif row.on == "view" and row.leaves == "rows":
            self._put(target, replace(target, below=tuple(some)))
        elif row.leaves == "rows" and row.on and not row.idle:
            self._put(target, replace(target, filled=filled or (row_by_row and target.filled)))
            self._spoil(target)
        elif row.leaves == "nothing":
            # After a failure Spark still looks for the files that it removed.
            self._put(target, replace(target, filled=False, stale=row.fails))
            self._spoil(target)
        elif row.leaves == "no name" and row.on:
            self._drop(target)
        elif row.leaves == "new name":
            self._rename(target)
        elif row.leaves == "no database":
            for thing in [each for each in self.things if each.has_name and each.form != "iceberg"]:
                self._drop(thing)
            self.has_database = False

    def _put(self, old: Thing, new: Thing | None) -> None:
        self.things = [new if thing is old else thing for thing in self.things]
        self.things = [thing for thing in self.things if thing is not None]

    def _drop(self, thing: Thing) -> None:
        """Drop a name; files that no catalog owns stay."""
        stays = thing.kind == "external" and thing.filled and not thing.stale
        shared = [each for each in self.things if each is not thing and each.place == thing.place != ""]
        if thing.kind == "path":
            # A failed overwrite emptied it.
            self._spoil(thing)
        self._put(thing, replace(thing, kind="path") if stays and not shared else None)

    def _rename(self, thing: Thing) -> None:
        place = f"DB/{thing.name}r" if thing.kind == "managed" else thing.place
        # Spark forgets where the partitions of such a table are.
        stale = thing.stale or (thing.parted and thing.kind == "managed" and thing.form in FILES)
        self._put(thing, replace(thing, name=f"{thing.name}r", place=place, stale=stale))

    def _spoil(self, changed: Thing) -> None:
        """Other names of changed files are not read any more: Spark remembers the files of tables."""
        for thing in self.things:
            if thing.place == changed.place and (thing.name, thing.kind) != (changed.name, changed.kind):
                self._put(thing, replace(thing, stale=True) if thing.has_name else None)


def _places(thing: Thing) -> tuple[str, ...]:
    """Return the places that are read with a thing."""
    return (thing.place,) if thing.place else tuple(place for each in thing.below for place in _places(each))


def _are_alike(things: list[Thing]) -> bool:
    """Return whether things can be read at once: folders of files of one format, without partitions."""
    plain = [KINDS["flat file path"](thing) and thing.filled for thing in things]
    return len(things) > 1 and all(plain) and len({thing.form for thing in things}) == 1


def _needs(thing: Thing, other: Thing) -> bool:
    """Return whether a view is another, or reads it."""
    return thing is other or any(_needs(each, other) for each in thing.below)


def _has_path(thing: Thing) -> bool:
    """Return whether a table may be read by its path, too."""
    return thing.form in ("parquet", "delta") and thing.filled and thing.place != ""


def _reader(thing: Thing, reader: str, *, with_schema: bool) -> tuple[str, str]:
    """Return the way to read files by their path, and the SQL that gives the columns of all datasets."""
    header = ".option('header', True)" if thing.form == "csv" else ""
    schema = f".schema('{COLUMNS}')" if with_schema and thing.form != "delta" else ""
    typed = TYPED if thing.form in ("csv", "json") and not schema else ""
    infer = ".option('inferSchema', True)" if thing.form == "csv" and not schema else ""
    return f"{reader}.format('{thing.form}'){header}{infer}{schema}", typed
