"""Spark Connect: records of a client's actions and commands, on a real server in a JVM of its own."""

from __future__ import annotations

import json
import re
import sys

import pyspark
import pytest
from servers.connect import client, connect
from warehouse.histories import comparable, graph_of, history

from airflow_provider_spark_lineage.openlineage.warehouse.asking import current_lineage
from airflow_provider_spark_lineage.openlineage.warehouse.invariants import findings_of
from airflow_provider_spark_lineage.openlineage.warehouse.load import load
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.runs.executions import executions

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    # 3.5 fails on no bad value otherwise.
    with connect(tmp_path_factory.mktemp("connect"), **{"spark.sql.ansi.enabled": "true"}) as url:
        yield url


@pytest.fixture(scope="module")
def remote(url):
    with client(url) as session:
        yield session


@pytest.fixture
def orders(remote, tmp_path):
    path = str(tmp_path / "orders")
    rows = [("a", 1.0), ("b", 2.0), ("a", 3.0)]
    remote.createDataFrame(rows, ["customer", "amount"]).coalesce(1).write.parquet(path)
    return path


def test_each_action_is_one_record(remote, recorded, orders, tmp_path):
    """Actions, writes and statements are a record each, numbered in the order of their ends."""
    with recorded() as records:
        remote.read.parquet(orders).count()
        remote.read.parquet(orders).write.parquet(str(tmp_path / "copy"))
        remote.sql("create table made (customer string) using parquet")
        remote.read.parquet(orders).createOrReplaceTempView("orders")
        remote.sql("insert into made select customer from orders")
        remote.sql("drop table made")
    assert [(record.number, record.name, record.outcome) for record in records] == [
        (1, "collect", "success"),
        (2, "save", "success"),
        (3, "command", "success"),
        (4, "command", "success"),
        (5, "command", "success"),
    ]
    for record in records:
        assert record.plan_kind == "explain"
        assert record.spark_version == remote.version
        assert "== Analyzed Logical Plan ==" in record.explain
        assert record.problems == []


def test_rows_that_the_program_may_use_have_its_line(remote, recorded, orders):
    """The line is that of the program's frame; counts, and rows that are only shown, have none."""
    frame = remote.read.parquet(orders)
    with recorded() as records:
        value = frame.first().customer
        values = [row.customer for row in frame.toLocalIterator()]
        line = sys._getframe().f_lineno
        print(frame.collect(), frame.count())
        frame.show()
        frame.where(frame.customer.isin([value, *values])).toPandas()
    lines = [f"test_live_connect.py:{line - before}" for before in (2, 1)]
    assert [record.collected for record in records] == [*lines, "", "", "", ""]


def test_a_statement_runs_once(remote, recorded, tmp_path):
    """Explaining a command must never run it: the rows are there once."""
    remote.sql("create table once (id bigint) using parquet")
    with recorded() as records:
        remote.sql("insert into once values (1), (2)")
        remote.sql("insert into once select id + 10 from once")
    assert sorted(row.id for row in remote.table("once").collect()) == [1, 2, 11, 12]
    assert [record.sql for record in records] == [
        "insert into once values (1), (2)",
        "insert into once select id + 10 from once",
    ]
    remote.sql("drop table once")


def test_an_insert_is_about_the_table_of_its_own_database(remote, recorded):
    """The name means another table as soon as the program changes the database; a new column is seen."""
    with recorded() as records:
        remote.sql("create table same (a int) using parquet")
        remote.sql("insert into same values (1)")
        remote.sql("create database other")
        remote.sql("use other")
        remote.sql("create table same (b int) using parquet")
        remote.sql("insert into same values (1)")
        remote.sql("insert into same values (2)")
        remote.sql("alter table same add columns (c int)")
        remote.sql("insert into same values (3, 4)")
        remote.sql("use default")
    inserts = [record.connect["tables"]["same"] for record in records if record.sql.startswith("insert")]
    assert [(table["database"], [name for name, _ in table["columns"]]) for table in inserts] == [
        ("default", ["a"]),
        ("other", ["b"]),
        ("other", ["b"]),
        ("other", ["b", "c"]),
    ]
    remote.sql("drop database other cascade")
    remote.sql("drop table same")


def test_a_query_is_recorded_when_its_rows_are_fetched(remote, recorded, orders):
    """`spark.sql` of a query runs nothing: the action on it does."""
    with recorded() as records:
        remote.read.parquet(orders).createOrReplaceTempView("orders")
        frame = remote.sql("select customer from orders")
        assert records == []
        frame.collect()
    assert [record.name for record in records] == ["collect"]


def test_paths_are_complete(remote, recorded, orders, tmp_path):
    """A path that the program wrote without a file system has that of the server."""
    with recorded() as records:
        remote.read.parquet(orders).write.mode("append").json(str(tmp_path / "out"))
    connect = records[0].connect
    assert connect["command"]["path"] == f"file:{tmp_path}/out"
    assert connect["command"]["mode"] == "Append"
    assert connect["reads"][0]["paths"] == [f"file:{orders}"]


def test_an_append_to_what_is_not_there_creates_it(remote, recorded, orders, tmp_path):
    """A folder and a table: neither is an input, and the next append finds data."""
    place = str(tmp_path / "out")
    remote.sql("drop table if exists appended")

    def job():
        remote.read.parquet(orders).write.mode("append").parquet(place)
        remote.read.parquet(orders).write.mode("append").saveAsTable("appended")
        remote.read.parquet(place).union(remote.table("appended")).write.mode("overwrite").parquet(
            str(tmp_path / "both")
        )

    modes = []
    for inputs in (1, 3):
        with recorded() as records:
            job()
        composed = compose(execution.lineage for execution in executions(records))
        assert len(composed.inputs) == inputs
        modes.append(sorted(output.mode.value for output in composed.outputs))
    assert modes == [["create", "create", "overwrite"], ["append", "append", "overwrite"]]


def test_an_overwrite_says_which_rows_it_replaces(remote, recorded, tmp_path):
    """The other partitions stay, so earlier rows are still part of the dataset."""
    rows = remote.range(4).selectExpr("id", "id % 2 as half")
    with recorded() as records:
        rows.write.partitionBy("half").parquet(str(tmp_path / "halves"))
        writer = rows.filter("half = 0").selectExpr("-id as id", "half").write.mode("overwrite")
        writer.partitionBy("half").option("partitionOverwriteMode", "Dynamic").parquet(
            str(tmp_path / "halves")
        )
    assert [record.connect["command"]["replaces"] for record in records] == [
        {},
        {"partition_overwrite": "dynamic"},
    ]


def test_the_end_of_the_capture_puts_the_client_back(remote, recorded):
    """The replaced methods are there again, and capture's are not called any more."""
    from pyspark.sql.connect.client.core import SparkConnectClient

    before = dict(vars(SparkConnectClient))
    with recorded():
        assert vars(SparkConnectClient)["_execute"] is not before["_execute"]
    assert dict(vars(SparkConnectClient)) == before


def test_failure_says_why(remote, recorded, orders):
    """A failed action is a record with class, message and SQLSTATE of the exception."""
    from pyspark.errors import PySparkException

    with recorded() as records:
        with pytest.raises(PySparkException):
            remote.read.parquet(orders).selectExpr("cast(customer as int)").collect()
        with pytest.raises(PySparkException):
            remote.sql("insert into nowhere select 1")
    cast, missing = records
    assert (cast.outcome, missing.outcome) == ("failure", "failure")
    assert "CAST_INVALID_INPUT" in cast.error["message"]
    # The client of 3.5 does not know the states.
    states = ("22018", "42P01") if remote.version >= "4" else (None, None)
    assert (cast.error.get("sql_state"), missing.error.get("sql_state")) == states
    assert missing.problems == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a bare `raise` adds the frame again")
def test_tracebacks_are_those_of_the_program(remote, recorded):
    """Capture's wrapper methods are in no traceback: of commands, of rows, of statements."""
    programs = {
        "statement": lambda: remote.sql("insert into nowhere select 1"),
        "command": lambda: remote.range(1).write.insertInto("nowhere"),
        "rows": lambda: remote.range(1).selectExpr("1 / (id - id)").collect(),
        "pandas": lambda: remote.range(1).selectExpr("1 / (id - id)").toPandas(),
    }

    def frames(program):
        with pytest.raises(Exception) as error:  # noqa: PT011
            program()
        return [(frame.path, frame.name) for frame in error.traceback]

    without = {name: frames(program) for name, program in programs.items()}
    with recorded():
        within = {name: frames(program) for name, program in programs.items()}
    assert within == without


needs_spark_4 = pytest.mark.skipif(
    pyspark.__version__ < "4", reason="SQL functions and scripts came with 4.0"
)


def lines(records):
    """Return the readable lineage of records, one space between words, tables by their last part."""
    text = render(compose(execution.lineage for execution in executions(records)))
    return [re.sub(r"/\S*/", "", " ".join(line.split())) for line in text.splitlines()]


@pytest.fixture
def table(remote):
    """Return a function that makes a table for the test."""
    tables = []

    def make(name, columns, *rows):
        remote.sql(f"create table {name} ({columns}) using parquet")
        tables.append(name)
        if rows:
            values = ", ".join(map(str, rows))
            remote.sql(f"insert into {name} values {values}")  # noqa: S608  no foreign text

    yield make
    for name in tables:
        remote.sql(f"drop table if exists {name}")


@needs_spark_4
def test_functions_are_read_by_what_their_bodies_say(remote, recorded, table):
    """Spark names a function in its plan; its body from the server has the queries and the used arguments."""
    table("src", "a int, b int", (1, 2))
    table("dst", "found int, chosen int, own int")
    with recorded() as records:
        remote.sql("create function f(x int) returns int return (select max(b) from src where a = x)")
        remote.sql("create function g(x int, y int) returns int return if(x > 0, y, 0)")
        remote.sql("create temporary function t(x int) returns int return x + 1")
        remote.sql("insert into dst select f(a), g(a, b), t(b) from src")
        remote.sql("drop function f")
        remote.sql("drop function g")
    assert [line for line in lines(records) if "<-" in line or line.startswith("gap")] == [
        "chosen <- src.a indirect conditional",
        "chosen <- src.b direct transformation",
        "found <- src.a indirect filter",
        "found <- src.b direct aggregation",
        "own <- src.b direct transformation",
    ]


SCRIPT = """BEGIN
  DECLARE least INT DEFAULT 0;
  DECLARE most INT;
  SET most = (SELECT max(a) FROM src);
  CREATE TABLE stage USING parquet AS SELECT a, b + least AS sum FROM src WHERE a < most;
  CREATE TABLE made USING parquet AS SELECT sum FROM stage;
  INSERT INTO dst SELECT sum, count(*) FROM stage GROUP BY sum LIMIT least;
  DROP TABLE stage;
  DROP TABLE old;
  IF (SELECT count(*) FROM made) > 100 THEN
    INSERT INTO dst SELECT a, b FROM src;
  END IF;
  SELECT sum FROM made;
END"""


@pytest.fixture
def scripts(remote):
    remote.conf.set("spark.sql.scripting.enabled", "true")
    yield
    remote.conf.unset("spark.sql.scripting.enabled")


@needs_spark_4
def test_a_script_has_the_lineage_of_its_statements(remote, recorded, table, scripts):
    """Each statement that certainly ran, also of tables that are gone; the others are named in a gap."""
    table("src", "a int, b int", (1, 2), (3, 4))
    table("dst", "x int, y bigint")
    table("old", "a int")
    with recorded() as records:
        rows = remote.sql(SCRIPT).collect()
    assert [row.sum for row in rows] == [2]
    remote.sql("drop table made")
    assert lines(records) == [
        "reads file src a int, b int",
        "writes file dst append",
        "writes file made create",
        "writes file old drop",
        "to file dst",
        "y <- (no field)",
        "x <- src.b direct transformation",
        "* <- src.a indirect filter",
        "* <- src.b indirect group_by",
        "to file made",
        "sum <- src.b direct transformation",
        "* <- src.a indirect filter",
        "gap capture the origin of the variable `most` of the SQL script is not recorded",
        "gap capture statements of the SQL script may not have run, and are not recorded: "
        "INSERT dst (line 11)",
    ]


@needs_spark_4
def test_a_script_that_failed_claims_nothing(remote, recorded, table, scripts):
    """It is unknown which statements ran before the error; the error is the program's."""
    from pyspark.errors import PySparkException

    table("src", "a int, b int", (1, 2))
    table("dst", "a int")
    with recorded() as records, pytest.raises(PySparkException, match="nowhere"):
        remote.sql("BEGIN INSERT INTO dst SELECT a FROM src; INSERT INTO dst SELECT a FROM nowhere; END")
    (record,) = records
    assert record.outcome == "failure"
    assert lines(records)[:-1] == [
        "gap capture the SQL script failed: it is unknown which of its statements ran before"
    ]
    assert remote.table("dst").count() == 1


@pytest.mark.skipif(pyspark.__version__ < "4", reason="a load over Connect needs 4.0")
def test_a_warehouse_is_loaded_by_connect(remote, tmp_path):
    """With the rows that derive from the events, and the settings of the session are as before."""
    events = history(0, days=1, jobs=3)
    (tmp_path / "events.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in events))
    remote.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    load(remote, tmp_path / "events.jsonl", tmp_path / "w")
    assert remote.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert comparable(current_lineage(tmp_path / "w")) == comparable(graph_of(events))
    assert findings_of(tmp_path / "w") == []
