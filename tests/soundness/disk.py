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

import pyarrow.parquet as pq


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
            return _of_delta(path)
        if (path / "metadata").is_dir():
            return self._of_iceberg(path)
        return Place({name: _file(path / name) for name in _data_files(path)})

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
        return Place(files, str(snapshot.snapshotId()) if snapshot is not None else "new")

    def _tables(self) -> Iterator[tuple[str, Table]]:
        """Ask the session's catalog, which runs nothing for that."""
        catalog = self.spark._jsparkSession.sessionState().catalog()
        if not catalog.databaseExists(self.database):
            return
        names = catalog.listTables(self.database)
        tables = catalog.getTablesByName(names).iterator()
        while tables.hasNext():
            table = tables.next()
            is_view = table.tableType().name() == "VIEW"
            place = "" if is_view else unquote(table.location().getPath()).rstrip("/")
            yield f"{self.database}.{table.identifier().table()}", Table(place)


def _data_files(path: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(("_", "."))]
        for name in names:
            if not name.startswith(("_", ".")):
                yield os.path.relpath(os.path.join(folder, name), path)


def _of_delta(path: Path) -> Place:
    """Read Delta's log: the files added and not removed since."""
    files: dict[str, File] = {}
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
    return Place(files, str(int(commits[-1].stem)) if commits else "")


def _file(path: Path) -> File:
    return _counted(str(path), path.stat().st_mtime_ns)


@lru_cache(maxsize=4096)
def _counted(name: str, _: int) -> File:
    path = Path(name)
    if path.suffix == ".parquet":
        rows = pq.ParquetFile(path).metadata.num_rows
    else:
        # Only CSV files have a line that does not count as a row.
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = sum(not line.startswith("id,name") for line in lines)
    return File(rows, path.stat().st_size)
