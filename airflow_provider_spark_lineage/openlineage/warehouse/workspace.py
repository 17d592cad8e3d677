"""The files and queries of one load: the tables before it, those that it writes, and rows in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse.folding import read_as_json
from airflow_provider_spark_lineage.openlineage.warehouse.formats import WrittenTables, tables_of
from airflow_provider_spark_lineage.openlineage.warehouse.partial_files import PartialFiles, frame_of
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables, as_read
from airflow_provider_spark_lineage.openlineage.warehouse.storage import Folder, folder_of
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES, WarehouseColumn

Frame = Any
"""A DataFrame of pyspark."""

_DERIVED = "staged_derived"
"""Folder with the rows that `workers.derive` wrote, in a folder for each kind."""


@dataclass
class Workspace:
    """The state that all steps of a load share."""

    spark: Any
    before: StoredTables
    """Tables before the load."""
    after: StoredTables
    """Tables that the load will publish."""
    folder: str
    """Folder of the load, relative to the warehouse."""
    tables: WrittenTables = field(init=False)
    partials: PartialFiles = field(init=False)

    def __post_init__(self) -> None:
        self.tables = tables_of(self.before.stored_as, self.spark, self.after, self.folder)
        self.partials = PartialFiles(self.spark, self.after, self.folder)

    def write_whole(self, table: str, rows: Frame) -> Frame:
        """Write all rows of a table without dates, and return them as they are read."""
        columns = [f"`{column.name}`" for column in TABLES[table].columns]
        self.tables.renew(table, rows.select(*columns))
        return frame_of(self.spark, self.after, table)

    def staged(self, stage: str, rows: Frame, *by: str) -> Frame:
        """Write rows that several queries read, in a folder for each value of the columns `by`."""
        folder = str(self.path(f"staged_{stage}"))
        rows.write.partitionBy(*by).parquet(folder)
        if not folder_of(folder).is_dir():
            raise BadInputError(
                f"Spark wrote {folder} to another machine or file system: the warehouse must be a place that"
                " Spark and this process share."
            )
        return self.spark.read.schema(rows.schema).parquet(as_read(folder))

    def has_kind(self, kind: str) -> bool:
        """Return whether `workers.derive` wrote rows of a kind."""
        return (self.path(_DERIVED) / f"kind={kind}").is_dir()

    def path(self, table: str) -> Folder:
        """Return the folder of a table in the folder of the load."""
        return self.before.path / self.folder / table

    def of_kind(self, derived: Frame, kind: str, columns: list[WarehouseColumn]) -> Frame:
        """Return the rows of a kind among those that `workers.derive` wrote."""
        return self.sql(read_as_json(columns, kind), derived=derived)

    def sql(self, query: str, **frames: Frame) -> Frame:
        """Return the rows of a query over frames."""
        return self.spark.sql(query, **frames)
