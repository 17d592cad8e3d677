"""Statements that make a warehouse's tables and views in DuckDB, Spark and Trino."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import (
    PARQUET,
    StoredTables,
    as_read,
    whole_tables,
)
from airflow_provider_spark_lineage.openlineage.warehouse.storage import folder_of
from airflow_provider_spark_lineage.openlineage.warehouse.tables import (
    IMPACT_TABLES,
    TABLES,
    WarehouseTable,
)
from airflow_provider_spark_lineage.openlineage.warehouse.views import ACCESS, VIEWS

_EDGE = ("source_id", "source_column", "target_column", "type", "subtype", "masking")

_SOURCES = (
    "SELECT v.lineage_id, t.source_id FROM lineage_versions AS v CROSS JOIN UNNEST(v.sources) AS t(source_id)"
)


_SCHEMA = "CREATE SCHEMA IF NOT EXISTS {}"

_OF_TRINO = "lineage"
"""Schema of the tables in Trino: a procedure needs its name."""


@dataclass(frozen=True)
class Engine:
    """An engine: how it reads folders, and what its SQL calls things."""

    name: str
    begin: tuple[str, ...]
    """Statements before all others."""

    tables: Callable[[WarehouseTable, list[str]], Iterator[str]]
    """Statements that make a table of the folders."""

    edges: str
    """Query for the edges of all versions, each with its number in the version."""


def statements(path: Path | str, engine: str) -> Iterator[str]:
    """Yield the statements that make tables and views of a warehouse's last load, each without its end."""
    snapshot = _loaded(path)
    if engine == "trino" and snapshot.stored_as != PARQUET:
        raise BadInputError(
            f"{path} has tables of {snapshot.stored_as}: Trino reads them by its connector of that name."
        )
    chosen = ENGINES[engine]
    yield from chosen.begin
    for table in (*TABLES.values(), *IMPACT_TABLES.values()):
        yield from chosen.tables(table, snapshot.folders(table.name))
    for name, query in _queries(chosen):
        yield f"CREATE OR REPLACE VIEW {name} AS {query}"


def views(spark: Any, path: Path | str) -> None:
    """Make temporary views of a warehouse's last load in a session: `runs`, `freshness`, `table_lineage` ...

    Call it again after each load. The name of a temporary view has one part, so `access.table_lineage` is
    `table_lineage`.
    """
    snapshot = _loaded(path)
    for table in (*TABLES.values(), *IMPACT_TABLES.values()):
        folders = snapshot.folders(table.name)
        frame = (
            spark.read.schema(table.ddl).parquet(*map(as_read, folders))
            if folders
            else spark.createDataFrame([], table.ddl)
        )
        frame.createOrReplaceTempView(table.name)
    for name, query in _queries(ENGINES["spark"]):
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name.removeprefix(f'{ACCESS}.')} AS {query}")


def _loaded(path: Path | str) -> StoredTables:
    snapshot = whole_tables(folder_of(path).resolve())
    if not snapshot.load_id:
        raise BadInputError(f"{folder_of(path)} has no warehouse: `spark-lineage warehouse load` makes one.")
    return snapshot


def _queries(engine: Engine) -> Iterator[tuple[str, str]]:
    yield "lineage_sources", _written(_SOURCES, engine.name)
    yield "lineage_edges", engine.edges
    for view in VIEWS.values():
        yield view.name, _written(view.query, engine.name)


def _written(query: str, dialect: str) -> str:
    """Return a query of DuckDB as another engine writes it."""
    return str(sqlglot.transpile(query, read="duckdb", write=dialect)[0])


def _type(spark_type: str, dialect: str) -> str:
    if (spark_type, dialect) == ("TIMESTAMP", "trino"):
        # Tables of the Hive connector have no other type of times.
        return "TIMESTAMP"
    return str(exp.DataType.build(spark_type, dialect="spark").sql(dialect=dialect))


def _empty(table: WarehouseTable, dialect: str) -> str:
    quote = "`" if dialect == "spark" else '"'
    columns = ", ".join(
        f"CAST(NULL AS {_type(column.type, dialect)}) AS {quote}{column.name}{quote}"
        for column in table.columns
    )
    return f"SELECT {columns} WHERE 1 = 0"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _in_duckdb(table: WarehouseTable, folders: list[str]) -> Iterator[str]:
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    # Of Delta and Iceberg they are files.
    files = ", ".join(_text(_globbed(each) + ("" if _is_file(each) else "/*.parquet")) for each in folders)
    rows = f"SELECT {columns} FROM read_parquet([{files}], hive_partitioning = false)"  # noqa: S608
    yield f"CREATE OR REPLACE VIEW {table.name} AS {rows if folders else _empty(table, 'duckdb')}"


def _is_file(path: str) -> bool:
    return path.endswith(".parquet")


def _globbed(folder: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in folder)


def _in_spark(table: WarehouseTable, folders: list[str]) -> Iterator[str]:
    columns = ", ".join(f"`{column.name}`" for column in table.columns)
    rows = " UNION ALL ".join(f"SELECT {columns} FROM parquet.`{_quoted(each)}`" for each in folders)  # noqa: S608
    yield f"CREATE OR REPLACE VIEW {table.name} AS {rows or _empty(table, 'spark')}"


def _quoted(folder: str) -> str:
    return as_read(folder).replace("`", "``")


def _in_trino(table: WarehouseTable, folders: list[str]) -> Iterator[str]:
    """Yield statements for the Hive connector: each folder is a partition of an external table."""
    columns = ", ".join(f'"{column.name}" {_type(column.type, "trino")}' for column in table.columns)
    yield f"DROP TABLE IF EXISTS {table.name}"
    if not folders:
        yield f"CREATE TABLE {table.name} ({columns}) WITH (format = 'PARQUET')"
        return
    # Trino wants a folder that exists; rows come from the partitions only.
    place = _text(_address(folders[0]))
    yield (
        f"CREATE TABLE {table.name} ({columns}, folder VARCHAR) WITH (format = 'PARQUET',"
        f" external_location = {place}, partitioned_by = ARRAY['folder'])"
    )
    for number, folder in enumerate(folders):
        place = _text(_address(folder))
        yield (
            f"CALL system.register_partition(schema_name => '{_OF_TRINO}', table_name =>"
            f" {_text(table.name)}, partition_columns => ARRAY['folder'],"
            f" partition_values => ARRAY['{number}'], location => {place})"
        )


def _address(folder: str) -> str:
    """Return a folder with its scheme; Hadoop's names have no percent signs for other letters."""
    return folder if "://" in folder else f"file://{folder}"


_SPREAD = ", ".join(f"v.edges[t.n].{column} AS {column}" for column in _EDGE)

ENGINES = {
    engine.name: engine
    for engine in (
        Engine(
            "duckdb",
            (_SCHEMA.format(ACCESS),),
            _in_duckdb,
            f"SELECT v.lineage_id, t.n AS edge_number, {_SPREAD}"  # noqa: S608
            " FROM lineage_versions AS v CROSS JOIN UNNEST(RANGE(1, LEN(v.edges) + 1)) AS t(n)",
        ),
        Engine(
            "spark",
            (_SCHEMA.format(ACCESS),),
            _in_spark,
            f"SELECT lineage_id, n + 1 AS edge_number, {', '.join(f'e.{column}' for column in _EDGE)}"  # noqa: S608
            " FROM lineage_versions LATERAL VIEW POSEXPLODE(edges) t AS n, e",
        ),
        Engine(
            "trino",
            (_SCHEMA.format(ACCESS), _SCHEMA.format(_OF_TRINO), f"USE {_OF_TRINO}"),
            _in_trino,
            f"SELECT v.lineage_id, t.edge_number, {', '.join(f't.{column}' for column in _EDGE)}"  # noqa: S608
            f" FROM lineage_versions AS v CROSS JOIN UNNEST(v.edges) WITH ORDINALITY AS t({', '.join(_EDGE)},"
            " edge_number)",
        ),
    )
}
"""Name -> engine."""
