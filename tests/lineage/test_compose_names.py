"""Tables of a small catalog are made, written, renamed and dropped: outputs match what became of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from tasks import WAREHOUSE, changes, dataset, edge, entry, execution, place, reads, writes

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Input, Lineage, Mode, Output, Statistics
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId

BEFORE = ("a", "b")
NAMES = ("a", "b", "c", "d")


@dataclass
class Table:
    """The table behind a name; `origin` is its name before the task, empty if the task made it."""

    origin: str
    done: set[Mode] = field(default_factory=set)
    sources: list[Table] = field(default_factory=list)
    """Tables that its rows were copied from, if the rows were new in it."""


@dataclass
class Catalog:
    """The truth: which table has which name, and the executions that made it so."""

    tables: dict[str, Table] = field(default_factory=lambda: {name: Table(name) for name in BEFORE})
    executions: list[Lineage] = field(default_factory=list)

    def take(self, action: str, name: str, new: str) -> None:
        """Do something, if Spark would."""
        is_there = name in self.tables
        if action == "make" and not is_there:
            self.tables[name] = Table("")
            self.write("x", name, Mode.CREATE)
        elif action == "bear" and not is_there:
            self.tables[name] = Table("")
            self.tables[name].sources.append(self.tables[name])
            self.say(Output(dataset(name, "x", table=f"db.{name}"), Mode.CREATE, Statistics(1)))
        elif action == "copy" and is_there and new not in self.tables:
            self.tables[new] = Table("", sources=list(self.tables[name].sources))
            self.write(name, new, Mode.CREATE)
        elif action == "write" and is_there:
            self.tables[name].done.add(Mode.APPEND)
            # A column that has rows from elsewhere is not traced to rows that were new in it.
            self.tables[name].sources = []
            self.write("x", name, Mode.APPEND)
        elif action == "empty" and is_there:
            self.tables[name].done.add(Mode.TRUNCATE)
            self.tables[name].sources = []
            self.change(name, Mode.TRUNCATE)
        elif action == "drop" and is_there:
            del self.tables[name]
            self.change(name, Mode.DROP)
        elif action == "rename" and is_there and new not in self.tables:
            self.tables[new] = self.tables.pop(name)
            self.change(new, Mode.RENAME, name)

    def write(self, source: str, name: str, mode: Mode) -> None:
        self.say(
            reads(source, "x"), writes(name, edge(f"{source}.x", "x"), mode=mode, table=f"db.{name}", rows=1)
        )

    def change(self, name: str, mode: Mode, previous: str | None = None) -> None:
        self.say(changes(name, mode, previous=previous and place(previous)))

    def say(self, *parts: Input | Output) -> None:
        self.executions.append(execution(*parts))


class Entries(Catalog):
    """A catalog of names alone, whose data lie elsewhere and stay there: writes go to the data."""

    def take(self, action: str, name: str, new: str) -> None:
        if action in ("make", "drop", "rename"):
            super().take(action, name, new)

    def write(self, source: str, name: str, mode: Mode) -> None:
        self.change(name, mode)

    def change(self, name: str, mode: Mode, previous: str | None = None) -> None:
        self.say(entry(name, mode, previous=previous))


def expected(
    catalog: Catalog, named: Callable[[str], DatasetId]
) -> dict[DatasetId, tuple[set[Mode], DatasetId | None]]:
    """Return the modes that each name may have, and its former name."""
    allowed: dict[DatasetId, tuple[set[Mode], DatasetId | None]] = {}
    alive = {table.origin for table in catalog.tables.values()}
    for name in NAMES:
        table = catalog.tables.get(name)
        is_gone = name in BEFORE and name not in alive
        if table is None:
            if is_gone:
                allowed[named(name)] = ({Mode.DROP}, None)
        elif not table.origin:
            allowed[named(name)] = ({Mode.OVERWRITE if is_gone else Mode.CREATE}, None)
        elif table.origin != name:
            allowed[named(name)] = ({Mode.RENAME}, named(table.origin))
            if table.done:
                allowed[named(name)] = ({Mode.RENAME, *table.done, Mode.OVERWRITE}, named(table.origin))
        elif table.done:
            several = {Mode.OVERWRITE} if len(table.done) > 1 else set()
            allowed[named(name)] = (table.done | several, None)
    return allowed


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("make", "bear", "copy", "write", "empty", "drop", "drop", "rename", "rename")),
        st.sampled_from(NAMES),
        st.sampled_from(NAMES),
    ),
    max_size=12,
)


def check(catalog: Catalog, steps: list[tuple[str, str, str]], named: Callable[[str], DatasetId]) -> None:
    for step in steps:
        catalog.take(*step)
    lineage = compose(catalog.executions)
    modes = {written.dataset.id: (written.mode, written.previous) for written in lineage.outputs}
    truth = expected(catalog, named)
    assert set(modes) == set(truth)
    for name, (mode, previous) in modes.items():
        assert mode in truth[name][0], name
        assert previous == truth[name][1], name
    names = {id(table): named(name) for name, table in catalog.tables.items()}
    for output in lineage.outputs:
        table = next((each for each in catalog.tables.values() if names[id(each)] == output.dataset.id), None)
        if table is not None and table.sources:
            origins = {
                names[id(source)] for source in table.sources if id(source) in names and source is not table
            }
            assert {each.source for each in output.edges} - {place("x")} == origins
    there = {each.dataset.id for each in (*lineage.inputs, *lineage.outputs)}
    assert {each.source for output in lineage.outputs for each in output.edges} <= there


@settings(max_examples=500, deadline=None)
@given(steps=STEPS)
def test_outputs_match_the_end_of_each_table(steps: list[tuple[str, str, str]]) -> None:
    """Made, overwritten, dropped, renamed, or as it was: judged by the catalog before and after the task."""
    check(Catalog(), steps, place)


@settings(max_examples=500, deadline=None)
@given(steps=STEPS)
def test_outputs_match_the_end_of_each_name(steps: list[tuple[str, str, str]]) -> None:
    """The same of a catalog's entries, whose data are not touched."""
    check(Entries(), steps, lambda name: DatasetId(WAREHOUSE, name))
