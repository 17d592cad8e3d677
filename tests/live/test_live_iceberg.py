"""Iceberg with its own jars: names, snapshots, catalogs, states of a table, row-level edges, counts."""

from __future__ import annotations

import pyspark
import pytest
from lakes import (
    COLUMNS,
    SCHEMA,
    change_columns,
    check_changed_columns,
    edges,
    lineage,
    make_source,
    named,
    valid_events,
)
from live_session import start_spark
from spark_packages import need, release
from written_checks import WRITES, written

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.checks import check
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.runs.executions import executions

need("iceberg", "h2")
pytestmark = pytest.mark.spark

SAYS_SNAPSHOT = pyspark.__version__ >= "4.1"
"""Iceberg for older Sparks does not give the state that was read, if the query names none."""

CATALOG = "org.apache.iceberg.spark.SparkCatalog"
MODES = ("copy-on-write", "merge-on-read")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="module")
def spark(tmp_path_factory, warehouse):
    settings = {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": CATALOG,
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(warehouse / "lake"),
        "spark.sql.catalog.store": CATALOG,
        "spark.sql.catalog.store.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "spark.sql.catalog.store.uri": "jdbc:h2:mem:iceberg;DB_CLOSE_DELAY=-1",
        "spark.sql.catalog.store.warehouse": str(warehouse / "store"),
    }
    folder = tmp_path_factory.mktemp("iceberg")
    spark = start_spark(folder, **settings)
    make_source(spark, folder)
    yield spark
    spark.stop()


def make(spark, table, mode="copy-on-write"):
    """Fill `lake.db.<table>`, and return the id of its snapshot."""
    properties = ", ".join(f"'write.{verb}.mode' = '{mode}'" for verb in ("delete", "update", "merge"))
    spark.sql(f"drop table if exists lake.db.{table}")
    spark.sql(f"create table lake.db.{table} ({SCHEMA}) using iceberg tblproperties ({properties})")
    spark.table("src").writeTo(f"lake.db.{table}").append()
    return snapshot(spark, table)


def snapshot(spark, table):
    """The id of the snapshot that a table, or a branch of it, has now."""
    history = spark.table(f"lake.db.{table}.refs").where("name = 'main'")
    return str(history.select("snapshot_id").collect()[0][0])


def test_a_table_is_its_location_at_a_snapshot(spark, recorded, warehouse):
    """Names, catalog and snapshots of inputs and outputs; rows that were read are counted."""
    read = make(spark, "orders")
    make(spark, "target")
    with recorded() as records:
        spark.table("lake.db.orders").where("v > 1").writeTo("lake.db.target").append()
    composed = lineage(records)
    (source,), (target,) = composed.inputs, composed.outputs
    assert (source.dataset.id.namespace, source.dataset.id.name) == ("file", f"{warehouse}/lake/db/orders")
    assert named(composed.inputs) == {"orders": read if SAYS_SNAPSHOT else ""}
    assert named(composed.outputs) == {"target": snapshot(spark, "target")}
    identity = target.dataset.identity
    assert [(link.namespace, link.name) for link in identity.symlinks] == [
        (f"file:{warehouse}/lake", "db.target")
    ]
    assert identity.storage_layer == "iceberg"
    assert identity.catalog is not None
    assert (identity.catalog.type, identity.catalog.name) == ("hadoop", "lake")
    assert source.statistics.rows == 3
    assert [field.name for field in source.dataset.fields] == ["id", "name", "v", "w"]
    assert composed.gaps == ()


def test_a_table_made_by_a_query_is_one_write(spark, recorded, warehouse):
    """CTAS and RTAS, in a catalog that keeps its tables in a database."""
    with recorded() as records:
        spark.sql("create table store.db.made using iceberg as select id, v * 2 as double from src")
    composed = lineage(records)
    (written,) = composed.outputs
    assert written.mode.value == "create"
    assert written.dataset.id.name == f"{warehouse}/store/db/made"
    assert written.dataset.identity.catalog is not None
    assert written.dataset.identity.catalog.type == "jdbc"
    assert written.dataset.identity.catalog.metadata_uri.startswith("jdbc:h2:mem:iceberg")
    assert edges(composed) == {("id", "src.id", "identity"), ("double", "src.v", "transformation")}
    assert composed.gaps == ()
    with recorded() as records:
        spark.sql("create or replace table store.db.made using iceberg as select id from src")
    assert lineage(records).outputs[0].mode.value == "overwrite"


def test_changed_columns_are_a_change_of_the_table(spark, recorded, warehouse):
    """The table's schema is that after the change."""
    spark.table("src").writeTo("lake.db.grown").using("iceberg").create()
    with recorded() as records:
        spark.sql("alter table lake.db.grown add columns (more string)")
    (changed,) = lineage(records).outputs
    assert (changed.mode.value, changed.dataset.id.name) == ("alter", f"{warehouse}/lake/db/grown")
    assert [field.name for field in changed.dataset.fields] == ["id", "name", "v", "w", "more"]


def test_a_dropped_table_is_gone_where_its_catalog_removes_files(spark, recorded, warehouse):
    """A catalog of folders removes the folder; one with a server forgets the name, and the files stay."""
    gone = {"lake": {f"{warehouse}/lake/db/before": "drop"}}
    gone["store"] = {"db.before": "drop", f"{warehouse}/store/db/step": "create"}
    for catalog in ("lake", "store"):
        spark.table("src").writeTo(f"{catalog}.db.before").using("iceberg").create()
        with recorded() as records:
            spark.table("src").writeTo(f"{catalog}.db.step").using("iceberg").create()
            spark.sql(f"drop table {catalog}.db.step")
            spark.sql(f"drop table {catalog}.db.before")
        composed = compose(execution.lineage for execution in executions(records))
        assert {output.dataset.id.name: output.mode.value for output in composed.outputs} == gone[catalog]
        assert not any(output.dataset.identity.symlinks for output in composed.outputs if catalog == "store")
        assert composed.gaps == ()


def test_states_of_a_table_are_one_dataset(spark, recorded):
    """Time travel, tags and branches: the version is the state that was read or made."""
    first = make(spark, "states")
    spark.sql("alter table lake.db.states create tag old")
    spark.sql("alter table lake.db.states create branch audit")
    spark.table("src").writeTo("lake.db.states").append()
    for query in (f"version as of {first}", "version as of 'old'", "version as of 'audit'"):
        with recorded() as records:
            spark.sql("select id from lake.db.states " + query).collect()  # noqa: S608  no foreign text
        assert named(lineage(records).inputs) == {
            "states": "" if "audit" in query and not SAYS_SNAPSHOT else first
        }
    with recorded() as records:
        spark.sql("insert into lake.db.states.branch_audit select * from src")
    composed = lineage(records)
    audit = spark.table("lake.db.states.refs").where("name = 'audit'").select("snapshot_id").collect()
    # Iceberg 1.4 does not give the branch of a table object.
    assert named(composed.outputs) == {"states": str(audit[0][0]) if release("iceberg") >= (1, 5) else ""}
    assert [link.name for link in composed.outputs[0].dataset.identity.symlinks] == ["db.states"]


def test_a_metadata_table_is_a_dataset_beside_its_table(spark, recorded):
    """It has columns of its own, which do not belong to the table."""
    make(spark, "meta")
    with recorded() as records:
        spark.sql("select operation from lake.db.meta.snapshots").collect()
    (read,) = lineage(records).inputs
    assert read.dataset.id.name.endswith("/db/meta#snapshots")
    assert read.dataset.identity.version == ""


@pytest.mark.parametrize("mode", MODES)
def test_merge_update_and_delete(spark, recorded, mode):
    """The same lineage whether the table rewrites its files or only adds the changes."""
    name = "rows_" + mode.replace("-", "_")
    before = make(spark, name, mode)
    with recorded() as records:
        spark.sql(
            f"merge into lake.db.{name} t using src on t.id = src.id "
            "when matched and src.w > 15 then update set v = src.v + t.v "
            "when not matched and src.name > '' then insert *"
        )
    composed = lineage(records)
    assert named(composed.inputs) == {"src": "", name: before if SAYS_SNAPSHOT else ""}
    assert named(composed.outputs) == {name: snapshot(spark, name)}
    columns = ("id", "name", "v", "w")
    unchanged = {(column, f"{name}.{column}", "identity") for column in columns}
    assert edges(composed) == unchanged | {(column, f"src.{column}", "identity") for column in columns} | {
        ("v", f"{name}.v", "transformation"),
        ("v", "src.v", "transformation"),
        ("v", "src.w", "conditional"),
        ("*", f"{name}.id", "join"),
        ("*", "src.id", "join"),
        ("*", "src.name", "filter"),
    }
    assert composed.gaps == ()
    with recorded() as records:
        spark.sql(f"update lake.db.{name} set v = w where id > 1")  # noqa: S608  no foreign text
    assert edges(lineage(records)) == unchanged | {
        ("v", f"{name}.w", "transformation"),
        ("v", f"{name}.id", "conditional"),
    }
    with recorded() as records:
        spark.sql(f"delete from lake.db.{name} where id > 2 and v > 0")  # noqa: S608  no foreign text
    assert edges(lineage(records)) == unchanged | {
        ("*", f"{name}.id", "filter"),
        ("*", f"{name}.v", "filter"),
    }


def test_an_update_by_a_subquery(spark, recorded):
    """A condition that reads another table is a condition still."""
    make(spark, "sub")
    with recorded() as records:
        spark.sql("update lake.db.sub set v = 0 where id in (select id from src where w > 5)")
    uses = edges(lineage(records))
    conditions = {("v", source, "conditional") for source in ("sub.id", "src.id", "src.w")}
    assert {edge for edge in uses if edge[0] in ("v", "*")} == conditions | {("v", "sub.v", "identity")}


def test_own_reads_of_procedures_are_left_out(spark, recorded):
    """Maintenance reads metadata and files of its own choice."""
    make(spark, "kept")
    with recorded() as records:
        spark.sql("call lake.system.rewrite_data_files('db.kept')").collect()
        spark.sql("call lake.system.expire_snapshots('db.kept')").collect()
    assert not any(execution.lineage for execution in executions(records))


def test_a_renamed_table_lies_where_it_was(spark, recorded):
    """A rename is of the catalog's entry, with its former name; TRUNCATE is of the table."""
    spark.sql("create namespace if not exists store.db")
    spark.sql("create table store.db.older using iceberg as select * from src")
    with recorded() as records:
        spark.sql("alter table store.db.older rename to db.newer")
    (written,) = lineage(records).outputs
    assert (written.dataset.id.name, written.mode.value) == ("db.newer", "rename")
    assert [link.name.rsplit("/", 1)[-1] for link in written.dataset.identity.symlinks] == ["older"]
    assert written.previous is not None
    assert written.previous.name == "db.older"
    with recorded() as records:
        spark.sql("truncate table store.db.newer")
    (written,) = lineage(records).outputs
    assert (written.dataset.id.name.rsplit("/", 1)[-1], written.mode.value) == ("older", "truncate")


def test_events_are_valid(spark, recorded, tmp_path):
    """Version, catalog and storage facets match their schemas."""
    make(spark, "valid")
    with recorded() as records:
        spark.sql("update lake.db.valid set v = w where id > 1")
    events = valid_events(records, tmp_path)
    facets = events[-1]["outputs"][0]["facets"]
    assert facets["version"]["datasetVersion"] == snapshot(spark, "valid")
    assert facets["storage"]["storageLayer"] == "iceberg"
    assert facets["catalog"]["type"] == "hadoop"


def test_checks_ride_on_a_write_of_version_2(spark):
    """A table with an order sorts what it gets: before Spark 4.3 its rows are counted twice."""
    spark.sql(f"create or replace table lake.db.ordered ({SCHEMA}) using iceberg")
    spark.sql("alter table lake.db.ordered write ordered by id")
    frame = spark.createDataFrame([(number, "a", 1.0, 1) for number in range(100)], SCHEMA).repartition(4)
    columns = {"id": {"null_check": {"equal_to": 0}, "max": {"leq_to": 98}, "sum": {"geq_to": 1}}}
    found = []
    with capture_lineage(spark) as captured:
        for write in (
            lambda rows: rows.writeTo("lake.db.made").createOrReplace(),
            lambda rows: rows.writeTo("lake.db.ordered").append(),
        ):
            write(check(frame, columns=columns, severity="warn"))
    for findings in captured.findings:
        assert findings.output is not None
        name = findings.output[1].rsplit("/", 1)[-1]
        found.append((name, *(bool(each.not_evaluated) or each.actual for each in findings.assertions)))
    once = pyspark.__version__ >= "4.3"
    assert found == [("made", "0", "99", "4950"), ("ordered", "0", "99", "4950" if once else True)]
    assert [findings.metrics.rows for findings in captured.findings] == [100, None]


@pytest.mark.parametrize("existed", [False, True])
def test_columns_that_are_renamed_dropped_or_added(spark, recorded, warehouse, tmp_path, existed):
    """Sources follow the columns, also if another task created the table, without rows."""
    spark.sql("drop table if exists lake.db.changed")

    def create():
        spark.sql(f"create table lake.db.changed ({COLUMNS}) using iceberg")

    if existed:
        create()
    with recorded() as records:
        if not existed:
            create()
        change_columns(spark, "lake.db.changed", str(tmp_path / "out"))
    check_changed_columns(records, str(warehouse / "lake/db/changed"), str(tmp_path / "out"))


@pytest.mark.parametrize(("write", "known"), WRITES.values(), ids=WRITES)
def test_checked_rows_are_those_of_the_table_or_have_no_result(spark, write, known):
    """The plan shows whether a command of the table writes the rows as they come."""
    assert written(spark, "lake.db.checked_rows", "iceberg", write) == known
