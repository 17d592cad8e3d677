"""Effects of a DROP: the event reports data as dropped only if they are, on disk and in the catalog.

Every case runs twice: the table was there before the task, or the task made it.
"""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from gap_kinds import gap_kinds
from live_session import start_spark
from pyspark.java_gateway import ensure_callback_server_started as start_callbacks
from spark_packages import need

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.capture import application
from airflow_provider_spark_lineage.spark.lineage.model import Mode

need("delta", "iceberg", "h2")
pytestmark = pytest.mark.spark

ICEBERG = "org.apache.iceberg.spark.SparkCatalog"


def h2(folder, database):
    """A database in this JVM's memory that no other session of these tests uses."""
    return f"jdbc:h2:mem:{folder.name}_{database};DB_CLOSE_DELAY=-1"


def lakes(folder):
    """Settings of a session that has every kind of table."""
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.folders": ICEBERG,
        "spark.sql.catalog.folders.type": "hadoop",
        "spark.sql.catalog.folders.warehouse": str(folder / "folders"),
        "spark.sql.catalog.store": ICEBERG,
        "spark.sql.catalog.store.type": "jdbc",
        "spark.sql.catalog.store.uri": h2(folder, "names"),
        "spark.sql.catalog.store.jdbc.schema-version": "V1",
        "spark.sql.catalog.store.warehouse": str(folder / "store"),
        "spark.sql.catalog.h2": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.h2.url": h2(folder, "shop"),
        "spark.sql.catalog.h2.driver": "org.h2.Driver",
    }


def hive(folder):
    metastore = f"jdbc:derby:;databaseName={folder}/metastore;create=true"
    return {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
    }


@pytest.fixture(scope="module")
def sessions():
    """The session that is running: at most one, which serves all tests until one asks for another kind."""
    running = []
    yield running
    for spark, _, _ in running:
        spark.stop()


@pytest.fixture
def session(request, sessions, tmp_path_factory):
    """A session, its folder and which kind it is."""
    if not sessions or sessions[0][2] is not request.param:
        sessions[:] = [started(request.param, tmp_path_factory.mktemp(request.param.__name__))]
    return sessions[0]


def started(kind, folder):
    """Stop the session that is running, and start one of another kind."""
    spark = start_spark(folder, **kind(folder))
    if kind is hive:
        spark._jvm.java.lang.System.setProperty("derby.stream.error.file", f"{folder}/derby.log")
    else:
        spark.sql("create namespace if not exists h2.shop")
        spark.sql("create table h2.shop.orders as select id from range(2)")
        for catalog in ("folders", "store"):
            spark.sql(f"create namespace if not exists {catalog}.db")
    spark.range(3).write.parquet(str(folder / "there"))
    return spark, folder, kind


IN_BOTH = pytest.mark.parametrize("session", [lakes, hive], indirect=True)

ORDERS = """jdbc options (url '{h2}', dbtable '"shop"."orders"', driver 'org.h2.Driver')"""

CASES = {
    "managed parquet": ("t", "create table t using parquet as select 1 a", "drop table t", "data"),
    "managed, empty": ("t", "create table t (a int) using csv", "drop table t", "data"),
    "managed, purge": ("t", "create table t using parquet as select 1 a", "drop table t purge", "data"),
    "if exists": ("t", "create table t using parquet as select 1 a", "drop table if exists t", "data"),
    "external": ("t", "create table t using parquet location '{root}/there'", "drop table t", "name"),
    "external, filled": (
        "t",
        "create table t using parquet location '{root}/{case}' as select 1 a",
        "drop table t",
        "name",
    ),
    "view": ("t", "create view t as select 1 a", "drop view t", "name"),
    "jdbc": ("t", "create table t using " + ORDERS, "drop table t", "name"),
    "delta": ("t", "create table t using delta as select 1 a", "drop table t", "data"),
    "delta, external": (
        "t",
        "create table t using delta location '{root}/{case}' as select 1 a",
        "drop table t",
        "name",
    ),
    "iceberg in folders": (
        "folders.db.t",
        "create table folders.db.t using iceberg as select 1 a",
        "drop table folders.db.t",
        "data",
    ),
    "iceberg of a server": (
        "store.db.t",
        "create table store.db.t using iceberg as select 1 a",
        "drop table store.db.t",
        "name",
    ),
    "iceberg, purge": (
        "store.db.p",
        "create table store.db.p using iceberg as select 1 a",
        "drop table store.db.p purge",
        "data",
    ),
    "of a database": (
        "h2.shop.t",
        "create table h2.shop.t as select 1 a",
        "drop table h2.shop.t",
        "data",
    ),
    "cascade, managed": (
        "d.t",
        "create database d; create table d.t using parquet as select 1 a",
        "drop database d cascade",
        "data",
    ),
    "cascade, external": (
        "d.t",
        "create database d; create table d.t using parquet location '{root}/there'",
        "drop database d cascade",
        "name",
    ),
    "cascade, beside a temporary view": (
        "d.t",
        "create or replace temporary view v as select 1 a; create database d; "
        "create table d.t using parquet as select 1 a",
        "drop database d cascade",
        "data",
    ),
    "cascade, inside the database's folder": (
        "d.t",
        "create database d location '{root}/{case}.db'; "
        "create table d.t using parquet location '{root}/{case}.db/t' as select 1 a",
        "drop schema d cascade",
        "data",
    ),
}
"""Name -> table, the statements that make and drop it, and the loss: the data, or the name alone."""

OF_HIVE = ("managed", "if exists", "external", "view", "cascade")
SESSIONS_AND_CASES = [
    (kind, case) for kind in (hive, lakes) for case in CASES if kind is lakes or case.startswith(OF_HIVE)
]


@pytest.fixture(autouse=True)
def unlimited(monkeypatch):
    """A DROP waits for the record of the creation as long as it takes, however busy the machine is."""
    monkeypatch.setattr(application, "SETTLE_SECONDS", 120)


@pytest.mark.parametrize("made_by_task", [False, True], ids=["before", "made"])
@pytest.mark.parametrize(("session", "case"), SESSIONS_AND_CASES, indirect=["session"])
def test_drop_says_what_is_gone(session, case, made_by_task):
    """A DROP of a place means that nothing is there any more; a DROP of a name leaves its place alone."""
    spark, folder, _ = session
    table, make, drop, gone = CASES[case]
    slug = "".join(letter for letter in case if letter.isalnum()) + str(made_by_task)
    steps = [
        statement.format(root=folder, case=slug, h2=h2(folder, "shop")) for statement in make.split("; ")
    ]
    for step in () if made_by_task else steps:
        spark.sql(step)
    with capture_lineage(spark) as captured:
        for step in steps if made_by_task else ():
            spark.sql(step)
        spark.sql(drop)
    lineage = captured.lineage
    assert lineage.gaps == ()
    assert not spark.catalog.tableExists(table)
    dropped = [output for output in lineage.outputs if output.mode is Mode.DROP]
    others = [output for output in lineage.outputs if output.mode is not Mode.DROP]
    names = [output.dataset.id.name for output in dropped]
    if made_by_task:
        assert dropped == []
    elif gone == "name":
        (entry,) = dropped
        assert entry.dataset.identity.is_entry
        assert entry.dataset.id.name.split(".")[-1] == table.split(".")[-1]
        assert entry.dataset.identity.symlinks == ()
    else:
        assert len(names) == 1
    for name in names:
        assert not [path for path in Path(folder, name).rglob("*") if path.is_file()], "is there, and DROP"
    for other in others:
        if other.dataset.id.namespace == "file":
            assert Path(other.dataset.id.name).exists(), "is an output, and not there"
        assert not [link for link in other.dataset.identity.symlinks if link.name.endswith("." + table)]


class HeldBack:
    """A listener of Spark that stops the listener bus, and with it ours, until `release`."""

    def __init__(self):
        self._released = threading.Event()

    def release(self):
        self._released.set()

    def __getattr__(self, name):
        return lambda *event: self._released.wait(60) and None

    class Java:
        implements = ("org.apache.spark.scheduler.SparkListenerInterface",)


@pytest.mark.parametrize("session", [lakes], indirect=True)
@pytest.mark.parametrize("case", ["view", "cascade, external"])
def test_drop_waits_for_the_record_of_the_creation(session, case):
    """A table made and dropped at once is not a DROP of the task, even if its creation is recorded late."""
    spark, folder, _ = session
    _, make, drop, _ = CASES[case]
    start_callbacks(spark.sparkContext._gateway)
    bus, held = spark._jsc.sc(), HeldBack()
    bus.addSparkListener(held)
    # A drop that does not wait ends long before this.
    timer = threading.Timer(1, held.release)
    with capture_lineage(spark) as captured:
        timer.start()
        for step in make.format(root=folder, case="brief" + case[:4]).split("; "):
            spark.sql(step)
        spark.sql(drop)
        held.release()
    timer.join()
    bus.removeSparkListener(held)
    assert [output for output in captured.lineage.outputs if output.mode is Mode.DROP] == []
    assert captured.lineage.gaps == ()


@IN_BOTH
def test_drop_of_nothing_is_nothing(session):
    """IF EXISTS of a table that is not there: no output, and no gap."""
    spark, _, kind = session
    with capture_lineage(spark) as captured:
        spark.sql("drop table if exists never_there")
        spark.sql("drop view if exists never_there")
        spark.sql("drop database if exists never_there cascade")
        if kind is lakes:
            spark.sql("drop table if exists store.db.never_there")
            spark.sql("drop table if exists h2.shop.never_there")
    assert (captured.lineage.outputs, captured.lineage.gaps) == ((), ())


@IN_BOTH
def test_create_if_not_exists_of_a_table_that_is_there_is_nothing(session):
    """In every catalog; also by the method of the data frame."""
    spark, _, kind = session
    tables = {"kept": "using parquet"}
    if kind is lakes:
        tables |= {"kept_d": "using delta", "store.db.kept": "using iceberg", "h2.shop.kept": ""}
    for table, using in tables.items():
        spark.sql(f"create table {table} (a int) {using}")
    with capture_lineage(spark) as captured:
        for table, using in tables.items():
            spark.sql(f"create table if not exists {table} (a int) {using}")
            spark.sql(f"create table if not exists {table} {using} as select 1 a")
    assert (captured.lineage.outputs, captured.lineage.gaps) == ((), ())
    for table in tables:
        spark.sql(f"drop table {table}")


@IN_BOTH
def test_drop_that_python_did_not_ask_for_is_of_the_name_with_a_gap(session):
    """Spark does not announce the effect of a drop: the data are not claimed to be gone."""
    spark, _, _ = session
    spark.sql("create table unforeseen using parquet as select 1 a")
    with capture_lineage(spark) as captured:
        spark._jsparkSession.sql("drop table unforeseen")
    (dropped,) = captured.lineage.outputs
    assert dropped.dataset.id.name == "default.unforeseen"
    assert dropped.dataset.identity.is_entry
    assert gap_kinds(captured.lineage) == ["uncertain_change"]


@IN_BOTH
def test_a_view_put_in_the_place_of_another_is_an_overwrite(session):
    """OR REPLACE makes a missing view; IF NOT EXISTS leaves an existing one alone."""
    spark, _, _ = session
    modes = []
    for verb in ("create or replace view", "create or replace view", "create view if not exists"):
        with capture_lineage(spark) as captured:
            spark.sql(f"{verb} put as select 1 a")
        modes.append([output.mode for output in captured.lineage.outputs])
    assert modes == [[Mode.CREATE], [Mode.OVERWRITE], []]
    spark.sql("drop view put")
