"""Formats of the tables: how each writes rows, and which parquet files have the rows afterwards.

Whatever the format, `current.json` names files of parquet: readers need neither Spark nor the format, and
see the tables before a load, or those after it. Tables of Delta and Iceberg are written copy on write, so
each row of a file counts.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    DELTA,
    EACH_LOAD,
    ICEBERG,
    PARQUET,
    Parts,
    StoredTables,
    as_read,
)
from airflow_provider_spark_lineage.openlineage.warehouse.spreading import DAY, SLICE
from airflow_provider_spark_lineage.openlineage.warehouse.storage import (
    Folder,
    names_in,
    write_rows,
)
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES

Frame = Any
"""A DataFrame of pyspark."""

_FILES_OF_FOLDED = 4
"""Number of files of a table without dates."""

_WITHOUT_KEY = {"current_column_edges"}
"""Tables that two runs may have equal rows in, side by side: they are overwritten, not merged."""


class WrittenTables(ABC):
    """Tables that a load writes, from the state that a snapshot names; it names the new state afterwards."""

    def __init__(self, spark: Any, snapshot: StoredTables, folder: str) -> None:
        self._spark, self._snapshot = spark, snapshot
        self._folder = folder
        """Folder of the load, relative to the warehouse."""

    @abstractmethod
    def begin(self) -> None:
        """Make the tables, and undo the writes of a load that died."""

    @abstractmethod
    def append(self, table: str, rows: Frame) -> None:
        """Add rows to a table with dates; they are spread as `spreading` does it."""

    @abstractmethod
    def replace(self, table: str, rows: Frame, dates: Iterable[str]) -> None:
        """Replace all rows of some dates; the new rows are spread, and have no other dates."""

    @abstractmethod
    def renew(self, table: str, rows: Frame) -> None:
        """Bring a table without dates to new contents."""

    def keep(self, table: str) -> None:
        """Leave a table as it is."""
        self._named(table, self._snapshot.tables[table])

    def renew_from(self, table: str, rows: Any) -> None:
        """Bring a table without dates to the contents of a table of pyarrow."""
        folder = self._path(f"staged_{table}")
        write_arrow(folder, rows)
        self.renew(table, self._spark.read.schema(TABLES[table].ddl).parquet(as_read(folder)))

    def _named(self, table: str, parts: Parts) -> None:
        """Name the files that have the rows of a table from now on."""
        self._snapshot.tables[table] = dict(sorted(parts.items()))

    def _path(self, table: str) -> Folder:
        return self._snapshot.path / self._folder / table


def tables_of(name: str, spark: Any, snapshot: StoredTables, folder: str) -> WrittenTables:
    """Return the tables of a format."""
    classes: dict[str, type[WrittenTables]] = {PARQUET: _Parquet, DELTA: _Delta, ICEBERG: _Iceberg}
    return classes[name](spark, snapshot, folder)


class _Parquet(WrittenTables):
    """Folders of files: each write makes new ones."""

    def begin(self) -> None:
        """Do nothing: folders that nothing names are not read, and the next load deletes them."""

    def append(self, table: str, rows: Frame) -> None:
        known = self._snapshot.tables[table]
        new = self._written(table, rows)
        dates = {date: [*known.get(date, []), *new.get(date, [])] for date in known.keys() | new.keys()}
        self._named(table, dates)

    def replace(self, table: str, rows: Frame, dates: Iterable[str]) -> None:
        replaced = {*dates}
        known = self._snapshot.tables[table]
        others = {date: folders for date, folders in known.items() if date not in replaced}
        self._named(table, others | self._written(table, rows))

    def renew(self, table: str, rows: Frame) -> None:
        rows.coalesce(_FILES_OF_FOLDED).write.parquet(str(self._path(table)))
        self._named(table, {EACH_LOAD: [f"{self._folder}/{table}"]})

    def renew_from(self, table: str, rows: Any) -> None:
        write_arrow(self._path(table), rows)
        self._named(table, {EACH_LOAD: [f"{self._folder}/{table}"]})

    def _written(self, table: str, rows: Frame) -> Parts:
        folder = self._path(table)
        rows.drop(SLICE).write.partitionBy(DAY).parquet(str(folder))
        days_written = names_in(folder, "day=*")
        return {name.removeprefix("day="): [f"{self._folder}/{table}/{name}"] for name in days_written}


class _Lake(WrittenTables):
    """Tables with versions: a snapshot has the version of each, and a load starts from it."""

    name = ""
    title = ""
    needs = ""
    empty: int | None = None
    """Version of a table that was never written."""
    day = ""
    """Column that the table has besides its own, for the folders of its dates."""

    def begin(self) -> None:
        for table in TABLES:
            try:
                if not self._exists(table):
                    self._create(table)
            except Exception as error:
                # Jars or settings are missing: a class of error for each, and for each release.
                raise BadInputError(
                    f"Spark cannot write tables of {self.title}: set {self.needs} ({_cause(error)})"
                ) from None
            wanted, version = self._snapshot.versions.get(table, self.empty), self._version(table)
            if wanted == self.empty and version != self.empty:
                self._spark.sql(f"DELETE FROM {self._identifier(table)}")  # noqa: S608
            elif wanted != version:
                self._restore(table, wanted)
            self._snapshot.versions[table] = self._version(table)

    def append(self, table: str, rows: Frame) -> None:
        self._run(table, "INSERT INTO {table} SELECT {columns} FROM {rows}", rows)

    def renew(self, table: str, rows: Frame) -> None:
        rows = rows.coalesce(_FILES_OF_FOLDED)
        if table in _WITHOUT_KEY:
            self._run(table, "INSERT OVERWRITE {table} SELECT {columns} FROM {rows}", rows)
        else:
            self._run(table, merged(table), rows)

    def _run(self, table: str, statement: str, rows: Frame) -> None:
        columns = ", ".join(f"`{column.name}`" for column in TABLES[table].columns)
        if TABLES[table].partition and self.day:
            columns += f", {self.day}"
        # The braces that are left are those of `sql`.
        identifier = self._identifier(table).replace("{", "{{").replace("}", "}}")
        statement = statement.replace("{table}", identifier).replace("{columns}", columns)
        self._spark.sql(statement, rows=rows)
        self._wrote(table)

    def _wrote(self, table: str) -> None:
        self._snapshot.versions[table] = self._version(table)
        self._named(table, self._files(table))

    @property
    def _root(self) -> Folder:
        return self._snapshot.path.resolve()

    def _folder_of(self, table: str) -> Folder:
        return self._root / self.name / table

    def _relative(self, paths: Iterable[tuple[str, PurePosixPath]]) -> Parts:
        # An address loses a slash, here and there.
        root = PurePosixPath(str(self._root))
        parts: Parts = defaultdict(list)
        for date, path in sorted(paths):
            parts[date].append(str(path.relative_to(root)))
        return dict(parts)

    @abstractmethod
    def _exists(self, table: str) -> bool: ...

    @abstractmethod
    def _create(self, table: str) -> None: ...

    @abstractmethod
    def _identifier(self, table: str) -> str:
        """Return the name of a table in SQL."""

    @abstractmethod
    def _version(self, table: str) -> int | None: ...

    @abstractmethod
    def _restore(self, table: str, version: int | None) -> None: ...

    @abstractmethod
    def _files(self, table: str) -> Parts:
        """Return the files of the version that is current."""


class _Delta(_Lake):
    """Tables of Delta, each by its folder."""

    name, title = DELTA, "Delta"
    needs = (
        "`spark.jars.packages` to io.delta:delta-spark_<version of Spark>_2.13:<version>,"
        " `spark.sql.extensions` to io.delta.sql.DeltaSparkSessionExtension and"
        " `spark.sql.catalog.spark_catalog` to org.apache.spark.sql.delta.catalog.DeltaCatalog"
    )
    empty = 0
    # Delta leaves the column of its folders out of the files, and readers of the files need `event_date`.
    day = "CAST(event_date AS STRING) AS day"

    def replace(self, table: str, rows: Frame, dates: Iterable[str]) -> None:
        # Delta has no statement for it.
        days = ", ".join(f"'{date}'" for date in sorted(dates))
        write = (
            rows.drop(SLICE)
            .write.format("delta")
            .mode("overwrite")
            .option("replaceWhere", f"day IN ({days})")
        )
        write.save(str(self._folder_of(table)))
        self._wrote(table)

    def _exists(self, table: str) -> bool:
        return any(True for _ in self._versions(table))

    def _create(self, table: str) -> None:
        dated = TABLES[table].partition
        self._spark.sql(
            f"CREATE TABLE {self._identifier(table)} ({TABLES[table].ddl}{', day STRING' if dated else ''})"
            f" USING delta {'PARTITIONED BY (day)' if dated else ''} TBLPROPERTIES"
            " ('delta.enableDeletionVectors' = 'false', 'delta.columnMapping.mode' = 'none')"
        )

    def _identifier(self, table: str) -> str:
        return "delta.`{}`".format(str(self._folder_of(table)).replace("`", "``"))

    def _versions(self, table: str) -> Iterable[int]:
        for name in names_in(self._folder_of(table) / "_delta_log", "*.json"):
            if re.fullmatch(r"\d{20}\.json", name):
                yield int(name.removesuffix(".json"))

    def _version(self, table: str) -> int | None:
        return max(self._versions(table))

    def _restore(self, table: str, version: int | None) -> None:
        self._spark.sql(f"RESTORE TABLE {self._identifier(table)} TO VERSION AS OF {version}")

    def _files(self, table: str) -> Parts:
        reader = self._spark.read.format("delta").option("versionAsOf", self._version(table))
        files = reader.load(str(self._folder_of(table))).inputFiles()
        paths = [PurePosixPath(file.removeprefix("file:")) for file in files]
        dated = bool(TABLES[table].partition)
        return self._relative(
            (path.parent.name.removeprefix("day=") if dated else EACH_LOAD, path) for path in paths
        )


class _Iceberg(_Lake):
    """Tables of Iceberg, in a catalog of files in the folder of the warehouse."""

    name, title = ICEBERG, "Iceberg"
    needs = (
        "`spark.jars.packages` to org.apache.iceberg:iceberg-spark-runtime-<version of Spark>_2.13:<version>"
        " and `spark.sql.extensions` to org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    )

    def __init__(self, spark: Any, snapshot: StoredTables, folder: str) -> None:
        super().__init__(spark, snapshot, folder)
        place = str(snapshot.path.resolve())
        # A session keeps a catalog that it has used: another warehouse is another catalog.
        self._catalog = f"spark_lineage_{hashlib.sha256(place.encode()).hexdigest()[:8]}"
        for key, value in {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "hadoop",
            ".warehouse": place,
        }.items():
            spark.conf.set(f"spark.sql.catalog.{self._catalog}{key}", value)

    def replace(self, table: str, rows: Frame, dates: Iterable[str]) -> None:
        days = ", ".join(f"DATE'{date}'" for date in sorted(dates))
        insert = (
            f"INSERT INTO {{table}} REPLACE WHERE event_date IN ({days}) SELECT {{columns}} FROM {{rows}}"  # noqa: S608
        )
        self._run(table, insert, rows)

    def _exists(self, table: str) -> bool:
        return (self._folder_of(table) / "metadata" / "version-hint.text").exists()

    def _create(self, table: str) -> None:
        partition = f"PARTITIONED BY ({TABLES[table].partition})" if TABLES[table].partition else ""
        modes = ", ".join(f"'write.{kind}.mode' = 'copy-on-write'" for kind in ("delete", "update", "merge"))
        self._spark.sql(
            f"CREATE TABLE {self._identifier(table)} ({TABLES[table].ddl}) USING iceberg {partition}"
            f" TBLPROPERTIES ({modes})"
        )

    def _identifier(self, table: str) -> str:
        return f"{self._catalog}.{self.name}.{table}"

    def _version(self, table: str) -> int | None:
        query = f"SELECT snapshot_id FROM {self._identifier(table)}.refs WHERE name = 'main'"  # noqa: S608
        return next((row[0] for row in self._spark.sql(query).collect()), None)

    def _restore(self, table: str, version: int | None) -> None:
        call = f"CALL {self._catalog}.system.rollback_to_snapshot('{self.name}.{table}', {version})"
        self._spark.sql(call)

    def _files(self, table: str) -> Parts:
        date = "CAST(partition.event_date AS STRING)" if TABLES[table].partition else f"'{EACH_LOAD}'"
        query = f"SELECT {date}, file_path FROM {self._identifier(table)}.files"  # noqa: S608
        rows = self._spark.sql(query).collect()
        return self._relative((row[0], PurePosixPath(row[1].removeprefix("file:"))) for row in rows)


def merged(table: str) -> str:
    """Return the statement that brings `{table}` to the contents of `{rows}`, and leaves equal rows alone."""
    declared = TABLES[table]
    keys = " AND ".join(f"t.`{name}` <=> s.`{name}`" for name in declared.key)
    others = [column.name for column in declared.columns if column.name not in declared.key]
    equal = " AND ".join(f"t.`{name}` <=> s.`{name}`" for name in others) or "true"
    columns = ", ".join(f"`{column.name}`" for column in declared.columns)
    return f"""
        MERGE INTO {{table}} t USING (SELECT {columns} FROM {{rows}}) s ON {keys}
        WHEN MATCHED AND NOT ({equal}) THEN UPDATE SET *
        WHEN NOT MATCHED THEN INSERT *
        WHEN NOT MATCHED BY SOURCE THEN DELETE
        """  # noqa: S608


def write_arrow(folder: Folder, rows: Any) -> None:
    """Write a table of pyarrow into a folder, which must not exist."""
    folder.mkdir(parents=True)
    write_rows(rows, folder / "part-0.parquet")


def _cause(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
