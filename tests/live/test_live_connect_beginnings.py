"""START of an action on a Spark Connect server is sent while it runs, as in a classic session."""

from __future__ import annotations

import pyspark
import pytest
from beginnings import Backend, check_named, events_of
from lakes import ROWS, SCHEMA
from servers.connect import client, connect
from spark_packages import need, settings

need("delta", "iceberg")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(pyspark.__version__.startswith("3."), reason="the plan may not be explained there"),
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("connect")
    lakes = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(folder / "lake"),
    }
    with connect(folder, **settings(), **lakes) as url, client(url) as remote:
        for database in ("there", "lake.db"):
            remote.sql(f"create namespace {database}")
        remote.createDataFrame(ROWS, SCHEMA).coalesce(1).write.format("parquet").saveAsTable("there.src")
        remote.sql("create table there.before (id long, name string) using parquet")
        yield remote


STATEMENTS = {
    "a folder": "insert overwrite directory '{folder}/out' using parquet {query}",
    "a table that exists": "insert into there.before {query}",
    "files": "create table there.made as {query}",
    "files with a location": "create table there.placed using csv location '{folder}/placed' as {query}",
    "delta": "create table there.delta using delta as {query}",
    "iceberg": "create table lake.db.made as {query}",
}


@pytest.mark.parametrize("table", STATEMENTS)
def test_start_and_end_of_a_statement_name_the_same(spark, tmp_path, table):
    """Also of a table that the catalog does not describe while the statement runs."""
    statement = STATEMENTS[table].format(folder=tmp_path, query="select slowly(id) id, name from there.src")
    check_named(*events_of(spark, Backend(tmp_path / "gate"), lambda: spark.sql(statement).collect()))


FRAMES = {
    "a folder": lambda rows, folder: rows.write.parquet(f"{folder}/out"),
    "a table that exists": lambda rows, folder: rows.write.insertInto("there.before"),
    "files": lambda rows, folder: rows.write.saveAsTable("there.saved"),
    "files with a location": lambda rows, folder: (
        rows.write.option("path", f"{folder}/placed").format("json").saveAsTable("there.saved_there")
    ),
    "delta": lambda rows, folder: rows.write.format("delta").saveAsTable("there.saved_delta"),
    "iceberg": lambda rows, folder: rows.writeTo("lake.db.saved").create(),
}


@pytest.mark.parametrize("table", FRAMES)
def test_start_and_end_of_a_frames_write_name_the_same(spark, tmp_path, table):
    """As for statements."""

    def action():
        FRAMES[table](spark.table("there.src").selectExpr("slowly(id) id", "name"), tmp_path)

    check_named(*events_of(spark, Backend(tmp_path / "gate"), action))


def test_a_write_that_fails_ends_without_an_output(spark, tmp_path):
    """FAIL does not name the output that START announced: it was not written."""
    statement = (
        "create table there.failed using parquet as"
        " select slowly(id) a, raise_error('no such order') b from there.src"
    )
    backend = Backend(tmp_path / "gate")
    with pytest.raises(Exception, match="no such order"):
        events_of(spark, backend, lambda: spark.sql(statement).collect())
    assert backend.states() == ["START", "FAIL"]
    assert [written.name for written in backend.events[0].outputs]
    assert backend.events[1].outputs == []


def test_the_statements_of_a_script_have_no_early_start(spark, tmp_path):
    """The server does not say when it runs which of them."""
    backend = Backend(tmp_path / "gate")
    backend.gate.touch()
    script = "begin insert into there.before select slowly(id), name from there.src; end"
    events_of(spark, backend, lambda: spark.sql(script).collect())
    assert backend.states() == ["START", "COMPLETE"]
