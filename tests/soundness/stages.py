"""One run of a seeded program: its folders, its database and its session, and the steps that it takes there.

Several runs of one program do not meet: each has names of its own in the place of the program's.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from disk import Looker
from programs import Program, Source, Step
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, struct
from tables import changed

ROWS = 4
"""Of each file that is there before a program."""

Change = tuple[Collection[str], tuple[str, ...]]
"""Base columns, as `place.column`, and the ways of `tables.WAYS` that change them, in order."""

TYPES = {
    "bigint": pa.int64(),
    "int": pa.int32(),
    "string": pa.string(),
    "double": pa.float64(),
    "struct<a:bigint,b:string>": pa.struct([("a", pa.int64()), ("b", pa.string())]),
}


class BrokenProgramError(Exception):
    """A step did not do what its program expects: the fault is the program's, not the lineage's."""


@dataclass
class Stage:
    """Session, folders and database of one run of a program."""

    spark: SparkSession
    folder: Path
    program: Program
    lakes: bool
    suffix: str = ""
    """Of its names: different for each run of a program."""

    scope: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Name the folders and the database."""
        self.database = f"p{self.program.seed}{self.suffix}"
        self.base = self.folder / self.database
        warehouse = Path(self.spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
        self.names = {
            "ROOT": str(self.base / "root"),
            "STATE": str(self.base / "state"),
            "DB": str(warehouse / f"{self.database}.db"),
            "LAKE": str(self.folder / "lake" / self.database),
        }
        self.scope = {"spark": self.spark, "col": col, "struct": struct}

    def prepare(self, change: Change = ((), ())) -> None:
        """Make the datasets from before the program, with some columns changed."""
        Path(self.names["ROOT"]).mkdir(parents=True)
        self.spark.sql(f"create database {self.database}")
        if self.lakes:
            self.spark.sql(f"create namespace lake.{self.database}")
        for source in self.program.sources:
            self._write(source, change)
        for step in self.program.before:
            self.do(step)

    def change(self, change: Change) -> None:
        """Write the files from before the program again, with some columns changed."""
        for source in self.program.sources:
            shutil.rmtree(self.real(source.place))
            self._write(source, change)

    def do(self, step: Step) -> str:
        """Take a step; return its error, if it was to raise."""
        text = self.real(step.text)
        try:
            if re.match(r"spark\.|k\d+_\d+\b", text):
                exec(text, self.scope)
            else:
                self.spark.sql(text)
        except Exception as error:
            if step.fails and ("raise_error" not in text or "USER_RAISED" in str(error)):
                return str(error) or "raised"
            raise BrokenProgramError(f"{step.text}: {str(error)[:300]}") from error
        if step.fails:
            raise BrokenProgramError(f"{step.text}: did not raise")
        return ""

    def real(self, text: str) -> str:
        """Return a text of the program with the names of this run."""
        for name, path in self.names.items():
            text = text.replace(f"{name}/", f"{path}/")
        return re.sub(rf"\bp{self.program.seed}\b(?!/)", self.database, text)

    def short(self, text: str) -> str:
        """Return a text with the program's names in the place of this run's."""
        for name, path in self.names.items():
            text = text.replace(f"{path}/", f"{name}/")
        return re.sub(rf"\b{self.database}\b", f"p{self.program.seed}", text)

    def looker(self, spark: SparkSession) -> Looker:
        """Return what looks at the folders and the database."""
        folders = tuple(Path(self.names[name]) for name in ("ROOT", "DB", "LAKE"))
        return Looker(spark, folders, self.database, self.lakes)

    def remove(self) -> None:
        """Remove everything that the run left."""
        self.spark.sql(f"drop database if exists {self.database} cascade")
        for folder in (self.base, Path(self.names["DB"]), Path(self.names["LAKE"])):
            shutil.rmtree(folder, ignore_errors=True)
        if self.lakes:
            # Delta keeps the logs of 10,000 tables for an hour: too much for the memory of all programs.
            self.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()

    def _write(self, source: Source, change: Change) -> None:
        folder = Path(self.real(source.place))
        folder.mkdir()
        table = rows_of(source)
        columns, ways = change
        own = [name for name in table.column_names if f"{source.place}.{name}" in columns]
        for way in ways:
            table = changed(table, own, way)
        for number in range(source.files):
            part = table.slice(number * ROWS, ROWS)
            path = folder / f"{folder.name}-{number}.{source.form}"
            if source.form == "parquet":
                pq.write_table(part, path)
            elif source.form == "csv":
                rows = [
                    ["" if value is None else str(value) for value in row.values()]
                    for row in part.to_pylist()
                ]
                lines = [",".join(row) for row in (part.column_names, *rows)]
                path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            else:
                path.write_text("".join(json.dumps(row) + "\n" for row in part.to_pylist()), encoding="utf-8")


def rows_of(source: Source) -> pa.Table:
    """Return the rows of a source: the same on every call."""
    count = source.files * ROWS
    numbers = range(1, count + 1)
    values = {name: [_value(name, kind, number) for number in numbers] for name, kind in source.columns}
    return pa.table(values, pa.schema([(name, TYPES[kind]) for name, kind in source.columns]))


def _value(name: str, kind: str, number: int) -> Any:
    """Return a value: few different ones in a column, in another order in each."""
    step = {"id": 1, "qty": 5, "ref": 7, "age": 3}.get(name, 2)
    if name == "id":
        return number
    if name == "name":
        return f"n{number}"
    if name == "p":
        return number % 2 + 1
    spread = number * step % 13 + 2
    if kind == "string":
        return f"{'crime'[spread % 5]}{spread % 3}"
    if kind == "double":
        return spread / 4
    return {"a": spread, "b": f"b{number % 4}"} if kind.startswith("struct") else spread
