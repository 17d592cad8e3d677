"""Proves the lineage of a query: a column that changes with a base column must have an edge from it.

A query is captured once, on parquet files. Then it runs on tables in memory, as they are and with changed
columns, without capture, and the results are compared column by column.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import session
from pyspark.sql import DataFrame, Row, SparkSession
from servers.connect import client, connect
from tables import UNIQUE, WAYS, Tables, changed, hand_made, row_level, tpch

from airflow_provider_spark_lineage.spark.capture.this_process import Capture
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Edge as LineageEdge
from airflow_provider_spark_lineage.spark.lineage.model import Gap, Kind, Lineage, Output
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import executions

PROVING = ("shift", "null", "shuffle")
"""Ways of changing that every column without an edge must withstand."""

EVERYWHERE = ""
"""The output column of an edge that acts on the whole output."""


@dataclass(frozen=True)
class Query:
    """One thing that a user may run."""

    name: str
    run: Callable[[SparkSession, Path], DataFrame | None]
    """Gives the result, or writes it to the folder `out` of the scratch folder."""

    tables: str = "hand_made"
    """Base tables that it reads, by their function in `tables`."""

    is_text: bool = False
    """It is SQL alone."""

    @property
    def on_lakes(self) -> bool:
        """Return whether it needs a session with Delta and Iceberg."""
        return self.tables == "row_level"


@dataclass(frozen=True)
class Edge:
    """An edge from a base column."""

    base: str
    """`table.column`."""

    column: str
    kind: Kind

    def __str__(self) -> str:
        return f"{self.column or '*'} <- {self.base} {self.kind.subtype.lower()}"


_MAY_LACK_EDGES = (GapKind.VARIABLE_VALUE,)
"""Kinds of gaps that say that a column with edges may lack others."""


@dataclass
class Verdict:
    """Proof of one query: differences, gaps and counts."""

    query: Query
    edges: set[Edge] = field(default_factory=set)
    confirmed: set[Edge] = field(default_factory=set)
    missing: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    """(base column, output column) -> the ways of changing that showed it."""

    unstable: list[str] = field(default_factory=list)
    """Output columns that differ between two runs on the same data: nothing is proven of them."""

    refused: list[str] = field(default_factory=list)
    """Changes of data that made Spark raise."""

    text: str = ""
    """The lineage for a person, without places and counts."""

    gaps: tuple[Gap, ...] = ()
    runs: int = 0

    @property
    def problems(self) -> list[str]:
        """Return the errors of the lineage, a sentence each."""
        return [
            f"{self.query.name}: {column} changes with {base} ({', '.join(ways)}) and has no edge from it"
            for (base, column), ways in self.missing.items()
        ]

    @property
    def opaque(self) -> bool:
        """Return whether a gap says that edges are more than the code needs, or fewer."""
        return "\ngap " in self.text

    def admits(self, column: str) -> bool:
        """Return whether the lineage of a column is unknown, or may lack edges, with a gap."""
        about = [gap for gap in self.gaps if gap.column in ("", column)]
        if any(gap.kind in _MAY_LACK_EDGES for gap in about):
            return True
        known = any(edge.column in (column, EVERYWHERE) for edge in self.edges)
        return not known and any(gap.column for gap in about)

    def unconfirmed(self) -> list[Edge]:
        """Return the edges that no change of data confirmed."""
        return sorted(self.edges - self.confirmed, key=lambda edge: (edge.column, edge.base, edge.kind.order))


@dataclass
class _Result:
    """The result of one run, by output column."""

    columns: list[str]
    values: list[list[str]]

    @property
    def count(self) -> int:
        return len(self.values[0]) if self.values else 0


@dataclass
class _Proof:
    """One query that is being proven."""

    verdict: Verdict
    tables: Tables
    usual: _Result
    ordered: bool

    def edges_from(self, base: str) -> list[Edge]:
        return [edge for edge in self.verdict.edges if edge.base == base]

    @property
    def bases(self) -> list[str]:
        return [f"{name}.{column}" for name, table in self.tables.items() for column in table.column_names]


@contextmanager
def proving(folder: Path, lakes: bool = False, conf: Mapping[str, str] | None = None) -> Iterator[Prover]:
    """Start Spark and write the base tables, in a new folder."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    spark = session.start(folder, lakes, conf)
    yield Prover(spark, folder, {"row_level": row_level()} if lakes else _plain_tables(folder))
    spark.stop()


@contextmanager
def on_connect(folder: Path) -> Iterator[Prover]:
    """Start a Spark Connect server and write the base tables, in a new folder."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    with connect(folder, **session.small(folder)) as url, client(url) as spark:
        yield Prover(spark, folder, _plain_tables(folder))


def _plain_tables(folder: Path) -> dict[str, Tables]:
    return {"hand_made": hand_made(), "tpch": tpch(folder / "tpch")}


class Prover:
    """Runs queries in one Spark session."""

    def __init__(self, spark: SparkSession, folder: Path, tables: Mapping[str, Tables]) -> None:
        self._spark = spark
        self._scratch = folder / "scratch"
        self._files = folder / "base"
        self._tables = tables
        self._frames: dict[tuple[str, str, tuple[str, ...], str], DataFrame] = {}
        for place, table in (
            (self._files / group / name, table) for group in tables for name, table in tables[group].items()
        ):
            place.mkdir(parents=True)
            # Several files are named by their folder, however they are read.
            half = table.num_rows // 2
            pq.write_table(table.slice(0, half), place / "part-0.parquet")
            pq.write_table(table.slice(half), place / "part-1.parquet")

    @property
    def bases(self) -> list[str]:
        """Return all hand-made base columns."""
        tables = self._tables["hand_made"]
        return [f"{name}.{column}" for name, table in tables.items() for column in table.column_names]

    def prove(self, query: Query, thorough: bool = True) -> Verdict:
        """Look for missing edges; if thorough, also for edges that no change confirms."""
        verdict = self.capture(query)
        usual, again = self._run(query, verdict), self._run(query, verdict)
        verdict.unstable = [
            name
            for index, name in enumerate(usual.columns)
            if _shape(usual, index, None, self._ordered) != _shape(again, index, None, self._ordered)
        ]
        proof = _Proof(verdict, self._tables[query.tables], usual, self._ordered)
        self._prove_the_untouched(proof)
        for base in proof.bases:
            columns = {edge.column for edge in proof.edges_from(base)}
            if not columns:
                continue
            # An edge on the whole output allows everything to change.
            proving = () if EVERYWHERE in columns else PROVING
            for way in WAYS if thorough else proving:
                if way in proving or not verdict.confirmed.issuperset(proof.edges_from(base)):
                    self._compare(proof, [base], way)
        return verdict

    def capture(self, query: Query) -> Verdict:
        """Return a verdict that holds the lineage alone."""
        folder = self._files / query.tables
        records: list[Record] = []
        watch = Capture(records.append)
        self._read_files(query)
        watch.arm()
        try:
            self._write(query)
        finally:
            watch.disarm()
        assert not watch.problems, watch.problems
        lineage = compose(execution.lineage for execution in executions(records))
        outputs = [output for output in lineage.outputs if Path(output.dataset.id.name).name == "out"]
        assert len(outputs) == 1, f"{query.name}: the lineage has {len(outputs)} outputs named out"
        edges = {
            Edge(base_of(edge), edge.column, edge.kind)
            for edge in outputs[0].edges
            if Path(edge.source.name).parent == folder
        }
        return Verdict(query, edges, text=readable(lineage, outputs[0]), gaps=lineage.gaps)

    def write(self, query: Query) -> None:
        """Run a query on files, without capture, and write its result."""
        self._read_files(query)
        self._write(query)

    def _read_files(self, query: Query) -> None:
        for name in self._tables[query.tables]:
            place = self._files / query.tables / name
            self._spark.read.parquet(str(place)).createOrReplaceTempView(name)
        self._clear()

    def _write(self, query: Query) -> None:
        try:
            frame = query.run(self._spark, self._scratch)
            if frame is not None:
                frame.coalesce(1).write.parquet(str(self._scratch / "out"))
        finally:
            self._spark.catalog.clearCache()

    def _prove_the_untouched(self, proof: _Proof) -> None:
        """Change all columns without an edge at once: nothing may change, so one run shows it for all."""
        bases = [base for base in proof.bases if not proof.edges_from(base)]
        for way in PROVING if bases else ():
            if not self._compare(proof, bases, way, blame=False):
                continue
            for base in bases:
                self._compare(proof, [base], way)

    def _compare(self, proof: _Proof, bases: list[str], way: str, blame: bool = True) -> bool:
        """Run with changed columns; return whether a column without an edge from them changed."""
        verdict = proof.verdict
        try:
            result = self._run(verdict.query, verdict, bases, way)
        # Changed data may fail where the usual does not: a cast, two rows in a scalar subquery.
        except Exception as error:
            verdict.refused.append(f"{way} of {', '.join(bases)}: {type(error).__name__}")
            # What cannot be shown for many at once may be shown for each.
            return len(bases) > 1
        usual = proof.usual
        edges = [edge for base in bases for edge in proof.edges_from(base)]
        rows = {edge for edge in edges if edge.column == EVERYWHERE}
        if result.columns != usual.columns:
            # A pivot without a list of values.
            differ = set(usual.columns) ^ set(result.columns)
            verdict.confirmed |= {edge for edge in edges if edge.column in {*differ, EVERYWHERE}}
            return not edges
        if result.count != usual.count:
            verdict.confirmed |= rows
        key = self._key(proof, bases)
        is_missing = False
        for index, column in enumerate(usual.columns):
            if column in verdict.unstable:
                continue
            if _shape(usual, index, key, proof.ordered) == _shape(result, index, key, proof.ordered):
                continue
            reasons = {edge for edge in edges if edge.column == column}
            if reasons or rows:
                verdict.confirmed |= reasons or rows
                continue
            if verdict.admits(column):
                continue
            is_missing = True
            if blame:
                verdict.missing[bases[0], column].append(way)
        return is_missing

    def _key(self, proof: _Proof, bases: list[str]) -> int | None:
        """Return the position of an output column that identifies the rows of an unchanged table.

        With it the values of a row are compared, not only those of a column.
        """
        by_column: dict[str, set[tuple[str, Kind]]] = defaultdict(set)
        for edge in proof.verdict.edges:
            by_column[edge.column].add((edge.base, edge.kind))
        for index, column in enumerate(proof.usual.columns):
            match list(by_column[column]):
                case [(base, Kind.IDENTITY)] if base in UNIQUE and base not in bases:
                    return index
        return None

    def _run(self, query: Query, verdict: Verdict, bases: Iterable[str] = (), way: str = "") -> _Result:
        by_table: dict[str, list[str]] = defaultdict(list)
        for base in bases:
            table, _, column = base.partition(".")
            by_table[table].append(column)
        for name in self._tables[query.tables]:
            self._frame(query.tables, name, tuple(by_table[name]), way).createOrReplaceTempView(name)
        verdict.runs += 1
        self._clear()
        try:
            frame = query.run(self._spark, self._scratch)
            self._ordered = frame is not None and _is_ordered(frame)
            if frame is None:
                frame = self._spark.read.parquet(str(self._scratch / "out"))
            rows = frame.collect()
        finally:
            self._spark.catalog.clearCache()
        return _Result(
            frame.columns,
            [[str(plain(row[index])) for row in rows] for index in range(len(frame.columns))],
        )

    def _frame(self, group: str, name: str, columns: tuple[str, ...], way: str) -> DataFrame:
        """Return a table in memory with some columns changed; those that are asked for often are kept."""
        table = self._tables[group][name]
        key = (group, name, columns, way)
        if key in self._frames:
            return self._frames[key]
        frame = self._spark.createDataFrame(changed(table, columns, way) if columns else table)
        if len(columns) < 2:
            self._frames[key] = frame
        return frame

    def _clear(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)


def readable(lineage: Lineage, output: Output) -> str:
    """Return a line for each column of an output, and one for each gap, without places and counts."""
    lines = []
    for column in (*(each.name for each in output.dataset.fields), EVERYWHERE):
        uses = [
            f"{base_of(edge)}{edge.part and '.' + edge.part} {edge.kind.subtype.lower()}"
            f"{' masking' if edge.masking else ''}"
            for edge in output.edges
            if edge.column == column
        ]
        if uses or column:
            lines.append(f"{column or '*'} <- {', '.join(uses)}".rstrip())
    lines.extend(f"gap {gap.where.partition('#')[0]}: {gap.reason}" for gap in lineage.gaps)
    return "\n".join(dict.fromkeys(lines))


def base_of(edge: LineageEdge) -> str:
    """Return `table.column` of the field that an edge starts at."""
    return f"{Path(edge.source.name).name}.{edge.field}"


def _shape(result: _Result, index: int, key: int | None, ordered: bool) -> Any:
    """Return the invariant of a column: its values in their order, with their rows, or in any order."""
    values = result.values[index]
    if ordered:
        return values
    if key is not None:
        return Counter(zip(result.values[key], values, strict=True))
    return Counter(values)


def plain(value: Any) -> Any:
    """Return a value whose text is the same for equal values."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, Row):
        return tuple(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return sorted((str(key), str(plain(item))) for key, item in value.items())
    return value


_KEEPS_ORDER = frozenset({"Project", "GlobalLimit", "LocalLimit", "SubqueryAlias", "Offset"})


def _is_ordered(frame: DataFrame) -> bool:
    """Return whether the user asked for an order of the result."""
    return any(name == "Sort" for name in _from_the_top(frame))


def _from_the_top(frame: DataFrame) -> Iterator[str]:
    """Yield the names of the plan's nodes, down to the first that does not keep the order of its rows."""
    node = frame._jdf.queryExecution().analyzed()
    name = node.nodeName()
    while name in _KEEPS_ORDER:
        node = node.children().head()
        name = node.nodeName()
    yield name
