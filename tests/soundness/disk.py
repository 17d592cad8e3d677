"""State of the disk and the catalog at one moment: looked up, never asked of the lineage.

Looking runs no query, so that a capture does not see it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

Columns = tuple[tuple[str, str], ...]
"""Names and types, as Spark's simple strings."""

NAMES = frozenset("id name p city qty ref price age v s w z".split())
"""All columns of files of CSV."""


@dataclass(frozen=True)
class File:
    """A file with rows."""

    rows: int
    size_bytes: int


@dataclass(frozen=True)
class Place:
    """A folder that holds a dataset."""

    files: Mapping[str, File]
    """Those that belong to it now, by their path inside; no two files ever have the same."""

    version: str = ""
    """Of a table of Delta or Iceberg."""

    columns: Columns | None = None
    """Those that Spark reads here; None where the files do not tell their types."""

    def readable(self) -> list[File]:
        """Return the files that Spark reads: one without a byte it leaves out."""
        return [file for file in self.files.values() if file.size_bytes]

    @property
    def is_there(self) -> bool:
        """Return whether it is a dataset already, maybe without rows."""
        return bool(self.files or self.version)


@dataclass(frozen=True)
class Table:
    """An entry of a catalog."""

    place: str
    """Empty for a view."""

    columns: Columns | None = None
    """None where only the table itself knows."""


@dataclass(frozen=True)
class Moment:
    """Everything that there is."""

    places: Mapping[str, Place] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Return whether a place holds a dataset, or is kept by a table that has no rows yet."""
        return self.place(name).is_there or any(table.place == name for table in self.tables.values())

    def place(self, name: str) -> Place:
        """Return a place; one that is not there is empty."""
        return self.places.get(name, Place({}))


class Looker:
    """Looks at the folders and the database of one program."""

    def __init__(self, spark: Any, folders: tuple[Path, ...], database: str, lakes: bool) -> None:
        self.spark, self.folders, self.database, self.lakes = spark, folders, database, lakes

    def look(self) -> Moment:
        """Return the current state."""
        places, tables = {}, dict(self._tables())
        for folder in self.folders:
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                if path.is_dir():
                    places[str(path)] = self._place(path)
                    if (path / "metadata").is_dir():
                        tables[f"{self.database}.{path.name}"] = Table(str(path))
        return Moment(places, tables)

    def _place(self, path: Path) -> Place:
        if (path / "_delta_log").is_dir():
            return of_delta(path)
        if (path / "metadata").is_dir():
            return self._of_iceberg(path)
        files = {name: _file(path / name) for name in _data_files(path)}
        return Place(files, columns=_of_parquet(path, files))

    def _of_iceberg(self, path: Path) -> Place:
        """Ask Iceberg itself which files its current snapshot has; rows are counted in these."""
        util = self.spark._jvm.org.apache.iceberg.spark.Spark3Util
        table = util.loadIcebergTable(self.spark._jsparkSession, f"lake.{self.database}.{path.name}")
        table.refresh()
        snapshot = table.currentSnapshot()
        files = {}
        tasks = table.newScan().planFiles().iterator()
        while tasks.hasNext():
            data = unquote(tasks.next().file().location()).removeprefix("file:")
            files[os.path.relpath(data, path)] = _file(Path(data))
        # A table without a snapshot is there as well.
        version = str(snapshot.snapshotId()) if snapshot is not None else "new"
        schema = self.spark._jvm.org.apache.iceberg.spark.SparkSchemaUtil.convert(table.schema())
        return Place(files, version, columns_of(schema.json()))

    def _tables(self) -> Iterator[tuple[str, Table]]:
        """Ask the session's catalog, which runs nothing for that."""
        catalog = self.spark._jsparkSession.sessionState().catalog()
        if not catalog.databaseExists(self.database):
            return
        # Views of the session are in no database.
        names = catalog.listTables(self.database, "*", False)
        tables = catalog.getTablesByName(names).iterator()
        while tables.hasNext():
            table = tables.next()
            is_view = table.tableType().name() == "VIEW"
            place = "" if is_view else unquote(table.location().getPath()).rstrip("/")
            # The catalog does not know the columns of Delta's tables.
            columns = columns_of(table.schema().json()) or None
            yield f"{self.database}.{table.identifier().table()}", Table(place, columns)


def _data_files(path: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        for name in names:
            if not name.startswith(("_", ".")):
                yield os.path.relpath(os.path.join(folder, name), path)


def of_delta(path: Path) -> Place:
    """Read Delta's log: the files added and not removed since, none before the first commit."""
    files: dict[str, File] = {}
    columns: Columns | None = None
    commits = sorted((path / "_delta_log").glob("*.json"))
    for commit in commits:
        for line in commit.read_text(encoding="utf-8").splitlines():
            action = json.loads(line)
            if "add" in action:
                name = unquote(action["add"]["path"])
                assert not action["add"].get("deletionVector"), "rows of such a file are not counted"
                files[name] = _file(path / name)
            elif "remove" in action:
                files.pop(unquote(action["remove"]["path"]), None)
            elif "metaData" in action:
                columns = columns_of(action["metaData"]["schemaString"])
    return Place(files, str(int(commits[-1].stem)) if commits else "", columns)


def columns_of(schema: str) -> Columns:
    """Return the columns in Spark's JSON of a schema."""
    return tuple((field["name"], _simple(field["type"])) for field in json.loads(schema)["fields"])


def _simple(kind: Any) -> str:
    """Return the simple string of a type in JSON."""
    if not isinstance(kind, dict):
        return {"long": "bigint", "integer": "int"}.get(kind, str(kind))
    if kind["type"] == "struct":
        fields = (f"{field['name']}:{_simple(field['type'])}" for field in kind["fields"])
        return f"struct<{','.join(fields)}>"
    raise ValueError(f"a type that programs do not have: {kind}")


def _of_parquet(path: Path, files: Mapping[str, File]) -> Columns | None:
    """Return the columns of a folder of parquet files, as Spark finds them: in the first file."""
    name = min((name for name, file in files.items() if file.size_bytes), default="")
    if not name.endswith(".parquet"):
        return None
    schema = pq.read_schema(path / name)
    text = (schema.metadata or {}).get(b"org.apache.spark.sql.parquet.row.metadata")
    of_arrow = tuple((field.name, _of_arrow(field.type)) for field in schema)
    columns = columns_of(text.decode()) if text else of_arrow
    folders = [part.partition("=")[::2] for part in name.split("/")[:-1]]
    return columns + tuple((key, "int" if value.isdigit() else "string") for key, value in folders)


def _of_arrow(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return f"struct<{','.join(f'{field.name}:{_of_arrow(field.type)}' for field in kind)}>"
    return {"int64": "bigint", "int32": "int"}.get(str(kind), str(kind))


def _file(path: Path) -> File:
    return _counted(str(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=4096)
def _counted(name: str, _: int) -> File:
    path = Path(name)
    if path.suffix == ".parquet":
        rows = pq.ParquetFile(path).metadata.num_rows
    else:
        # Only CSV files have a line that does not count as a row; no value is the name of a column.
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = sum(not NAMES.issuperset(line.split(",")) for line in lines)
    return File(rows, path.stat().st_size)
