"""START of a write that makes a table of Delta or Iceberg names the table before the catalog has it."""

from __future__ import annotations

import pytest
from beginnings import Backend, check_named, events_of
from lakes import make_source
from live_session import start_spark
from spark_packages import need

need("delta", "iceberg", "h2")
pytestmark = pytest.mark.spark

CATALOG = "org.apache.iceberg.spark.SparkCatalog"


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,"
        "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.lake": CATALOG,
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(folder / "lake"),
        "spark.sql.catalog.store": CATALOG,
        "spark.sql.catalog.store.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "spark.sql.catalog.store.uri": "jdbc:h2:mem:beginnings;DB_CLOSE_DELAY=-1",
        "spark.sql.catalog.store.warehouse": str(folder / "store"),
    }
    spark = start_spark(folder, **settings)
    make_source(spark, folder)
    for database in ("there", "lake.db", "store.db"):
        spark.sql(f"create namespace {database}")
    yield spark
    spark.stop()


STATEMENTS = {
    "delta": "create table there.made using delta as {query}",
    "delta, replaced": "create or replace table there.replaced using delta as {query}",
    "delta, with a location": "create table there.placed using delta location '{folder}/placed' as {query}",
    "delta, by its folder": "create table delta.`{folder}/unnamed` using delta as {query}",
    "files in Delta's catalog": "create table there.files using csv as {query}",
    "iceberg in folders": "create table lake.db.made as {query}",
    "iceberg in a catalog": "create table store.db.made as {query}",
    "iceberg, replaced": "create or replace table store.db.replaced as {query}",
    "iceberg, with a location": "create table store.db.placed location '{folder}/placed' as {query}",
}


@pytest.mark.parametrize("table", STATEMENTS)
def test_start_names_a_new_table_as_its_end_does(spark, tmp_path, table):
    """Also where the catalog knows the table's location only when the write has ended."""
    statement = STATEMENTS[table].format(folder=tmp_path, query="select slowly(id) id, name from src")
    check_named(*events_of(spark, Backend(tmp_path / "gate"), lambda: spark.sql(statement).collect()))


@pytest.mark.parametrize(
    "save",
    [
        lambda rows: rows.write.format("delta").saveAsTable("there.saved"),
        lambda rows: rows.writeTo("store.db.saved").create(),
    ],
    ids=["delta", "iceberg"],
)
def test_start_names_a_new_table_of_a_frame(spark, tmp_path, save):
    """`saveAsTable` and `writeTo` are as SQL."""

    def action():
        save(spark.table("src").selectExpr("slowly(id) id", "name"))

    check_named(*events_of(spark, Backend(tmp_path / "gate"), action))
