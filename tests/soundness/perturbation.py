"""Proves the sources of a whole task: its program runs again on changed data, and its outputs are compared.

One base column at a time has other values; what changes in an output at the end must have an edge from it,
its own or one of the whole output, or a gap. Columns without an edge are changed together first: nothing may
change, so one run shows it for all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from agreement import Span, TakenStep
from programs import Program
from prover import plain
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from stages import BrokenProgramError, Stage

from airflow_provider_spark_lineage.spark.lineage.model import Edge, Gap, Kind, Lineage, Mode

WAYS = (("shift", "swap"), ("shuffle", "null"))
"""Ways of changing a base column, of `tables.WAYS`, made one after the other."""

Column = tuple[str, str]
"""An output and its column, empty for its rows."""

Contents = Mapping[str, Mapping[str, "Counter[str]"]]
"""Output -> column -> its values in any order."""


@dataclass
class Perturbed:
    """Result of the runs of one program on changed data."""

    missing: list[str] = field(default_factory=list)
    """Changes without an edge, a sentence each."""

    edges: dict[str, str] = field(default_factory=dict)
    """Edge, in words, from a base column -> its kind: how it is said, and the text that it comes from."""

    confirmed: set[str] = field(default_factory=set)
    """Those that a change confirmed."""

    unstable: set[Column] = field(default_factory=set)
    """Columns that differ between two runs on the same data: nothing is proven of them."""

    refused: list[str] = field(default_factory=list)
    """Changes of data that made Spark raise."""

    runs: int = 0


def perturbed(stage: Stage, lineage: Lineage, steps: Sequence[TakenStep]) -> Perturbed:
    """Run a program again on changed data, once it has run as it is."""
    return _Proof(stage, Claims(stage.program, lineage, stage.short), Span(lineage, steps)).made()


class Claims:
    """Edges from base columns and gaps of a lineage, with the names of the program's text."""

    def __init__(self, program: Program, lineage: Lineage, short: Any = str) -> None:
        kept = [output for output in lineage.outputs if output.mode is not Mode.DROP]
        self.outputs = [short(output.dataset.id.name) for output in kept]
        self.renames = {
            short(each.previous.name): short(each.dataset.id.name) for each in kept if each.previous
        }
        """Name of a dataset before the program -> at its end: edges of reads after the rename start there."""

        self.edges: dict[str, dict[Column, list[Edge]]] = defaultdict(lambda: defaultdict(list))
        """Base column -> column of an output -> edges."""
        for output in lineage.outputs:
            for edge in output.edges:
                base = f"{short(edge.source.name)}.{edge.field}"
                self.edges[base][short(output.dataset.id.name), edge.column].append(edge)
        self._program, self._gaps, self._short = program, lineage.gaps, short

    def names_of(self, columns: Iterable[Column]) -> Iterator[str]:
        """Yield the names of columns from before the program, also under the later name of their dataset."""
        for place, name in columns:
            if place in self.renames:
                yield f"{self.renames[place]}.{name}"
            if place not in self.renames or place not in self.outputs:
                yield f"{place}.{name}"

    def explained(self, column: Column, bases: Collection[str]) -> list[str]:
        """Return the edges that let a column change; those of the whole output if it has none."""
        for place in (column, (column[0], "")):
            if some := [_words(base, place, edge) for base in bases for edge in self.edges[base][place]]:
                return some
        return []

    def admitted(self, column: Column) -> bool:
        """Return whether a gap says that the sources of a column are not known."""
        return any(self._is_about(gap, column) for gap in self._gaps)

    def _is_about(self, gap: Gap, column: Column) -> bool:
        same = gap.output is None or self._short(gap.output.name) == column[0]
        return same and gap.column in ("", column[1])

    def kinds(self, bases: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield all edges from base columns with their kinds."""
        for base in bases:
            for column, edges in self.edges[base].items():
                for edge in edges:
                    yield _words(base, column, edge), self._kind(base, column, edge)

    def _kind(self, base: str, column: Column, edge: Edge) -> str:
        if not self._program.is_wide:
            return f"{edge.kind.subtype.lower()}: {base.partition('.')[2]} to {column[1] or '*'}"
        texts = self._program.uses.get(column, {}).get(base, ())
        return f"{edge.kind.subtype.lower()}: {' or '.join(sorted(texts)) or UNEXPLAINED}"


UNEXPLAINED = "not in the program's text"
"""Of an edge from a column that no expression of the program uses for that output."""


def _words(base: str, column: Column, edge: Edge) -> str:
    return f"{column[0]}.{column[1] or '*'} <- {base} {edge.kind.subtype.lower()}"


class _Proof:
    """One program that is being proven."""

    def __init__(self, stage: Stage, claims: Claims, span: Span) -> None:
        self.stage, self.claims, self.span = stage, claims, span
        self.program = stage.program
        self.bases = [f"{each.place}.{name}" for each in self.program.sources for name, _ in each.columns]
        self.result = Perturbed()
        self.numbers = count(1)
        self.usual = contents(stage, claims.outputs)
        self.at_first: Contents = {}
        self.is_compared = False
        """The program ran twice on the same data."""

    def made(self) -> Perturbed:
        """Change every base column."""
        result, claims = self.result, self.claims
        if self.program.before:
            self._compare_equal_runs()
        result.edges = dict(claims.kinds(self._all_bases()))
        untouched = [base for base in self.bases if not self._reached(base)]
        first, second = WAYS if self.program.seed % 2 else WAYS[::-1]
        if untouched and self._changes(untouched, first):
            for base in untouched:
                self._blame([base], first)
        for base in self.bases:
            if base in untouched:
                continue
            self._blame([base], first)
            if self._unconfirmed(base):
                self._blame([base], second)
        return result

    def _all_bases(self) -> list[str]:
        """Return the columns of everything that was there before."""
        started = [(place, name) for place, columns in self.at_first.items() for name in columns]
        return list(dict.fromkeys([*self.bases, *self.claims.names_of(started)]))

    def _reached(self, base: str) -> bool:
        # What the program finds in its tables may be computed from any of its files.
        return bool(self.program.before) or any(self.claims.edges[base].values())

    def _unconfirmed(self, base: str) -> bool:
        edges = dict(self.claims.kinds([base])).keys() - self.result.confirmed
        return any(not edge.endswith(INDIRECT) for edge in edges)

    def _blame(self, bases: list[str], ways: tuple[str, ...]) -> None:
        for column in self._changes(bases, ways):
            self._compare_equal_runs()
            if column not in self.result.unstable:
                name = ".".join(column)
                self.result.missing.append(f"{name} changes with {bases[0]}, and has no edge from it")

    def _changes(self, bases: list[str], ways: tuple[str, ...]) -> list[Column]:
        """Change base columns; return the columns that changed without a reason."""
        run = self._run((bases, ways))
        if run is None:
            # What cannot be shown for many at once may be shown for each.
            return [("", "")] * (len(bases) > 1)
        changed_bases, now = run
        missing, excused = [], []
        for column in different(self.usual, now):
            if column in self.result.unstable:
                continue
            reasons = self.claims.explained(column, changed_bases)
            if len(bases) == 1:
                self.result.confirmed |= set(reasons)
            if not column[1] or reasons or self.claims.admitted(column):
                continue
            is_own = any(base.startswith(f"{column[0]}.") for base in changed_bases)
            # Of an output with rows from before the program, these may have changed.
            (excused if is_own else missing).append(column)
        return missing + (self._changed_by_program(bases, ways, excused) if excused else [])

    def _changed_by_program(
        self, bases: list[str], ways: tuple[str, ...], columns: Collection[Column]
    ) -> list[Column]:
        """Return those of some columns that change though all that was there before does not."""
        run = self._run((bases, ways), late=True)
        changed = set(different(self.usual, run[1])) if run is not None else ()
        return [column for column in columns if column in changed and ".".join(column) not in bases]

    def _run(
        self, change: tuple[list[str], tuple[str, ...]], *, late: bool = False
    ) -> tuple[Collection[str], Contents] | None:
        """Run the program; return the base columns that differ from the usual, and the outputs.

        `late`: the base columns change when the other datasets from before the program are there.
        """
        outer = self.stage
        suffix = f"x{next(self.numbers)}"
        # Variables and views belong to a session.
        stage = Stage(outer.spark.newSession(), outer.folder, self.program, outer.lakes, suffix)
        self.result.runs += 1
        try:
            stage.prepare(((), ()) if late else change)
            if late:
                stage.change(change)
            started = contents(stage) if self.program.before else {}
            for step in self.program.steps:
                stage.do(step)
            ended = contents(stage, self.claims.outputs)
        # Changed data may fail where the usual does not: two rows of a MERGE for one.
        except BrokenProgramError as error:
            self.result.refused.append(f"{change[1]} of {', '.join(change[0])}: {str(error)[:200]}")
            return None
        finally:
            stage.remove()
        if not change[0]:
            self.at_first = started
        return {*change[0], *self.claims.names_of(different(self.at_first, started))}, ended

    def _compare_equal_runs(self) -> None:
        if self.is_compared:
            return
        self.is_compared = True
        run = self._run(([], ()))
        if run is not None:
            self.result.unstable = set(different(self.usual, run[1]))


INDIRECT = tuple(kind.subtype.lower() for kind in Kind if not kind.is_direct)
"""How the words of an indirect edge end."""


def different(usual: Contents, now: Contents) -> Iterator[Column]:
    """Yield the columns with other values; the name of an output alone if it has another number of rows."""
    for output in usual.keys() | now.keys():
        before, after = usual.get(output, {}), now.get(output, {})
        names = [*before, *(name for name in after if name not in before)]
        rows = {sum(values.values()) for values in (*before.values(), *after.values())}
        if len(rows) > 1:
            yield output, ""
        for name in names:
            if before.get(name) != after.get(name):
                yield output, name


def contents(stage: Stage, outputs: Collection[str] | None = None) -> Contents:
    """Read what there is, or some of it; a session of its own remembers no files."""
    spark = stage.spark.newSession()
    spark.catalog.clearCache()
    moment = stage.looker(spark).look()
    names = [*moment.places, *(name for name, table in moment.tables.items() if not table.place)]
    read = {}
    for name in names:
        short = stage.short(name)
        if outputs is not None and short not in outputs:
            continue
        try:
            frame = _frame(stage, spark, moment, name)
        except AnalysisException:
            # A view of what was dropped or changed.
            if name in moment.places:
                raise
            continue
        if frame is not None:
            rows = [tuple(str(plain(value)) for value in row) for row in frame.collect()]
            read[short] = {
                column: Counter(row[index] for row in rows) for index, column in enumerate(frame.columns)
            }
    return read


def _frame(stage: Stage, spark: SparkSession, moment: Any, name: str) -> DataFrame | None:
    tables = [table for table, each in moment.tables.items() if name in (each.place, table)]
    if tables:
        return spark.table(f"lake.{tables[0]}" if name.startswith(stage.names["LAKE"]) else tables[0])
    place = moment.place(name)
    if place.version:
        return spark.read.format("delta").load(name)
    endings = {file.rpartition(".")[2] for file, each in place.files.items() if each.size_bytes}
    if len(endings) != 1:
        return None
    (form,) = endings
    return spark.read.format(form).option("header", form == "csv").load(name)
