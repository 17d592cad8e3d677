"""Delta Lake with its own jars: names, versions, row-level edges, and no queries of Delta's own."""

from __future__ import annotations

from pathlib import Path

import delta_tables
import pytest
from delta_tables import alters, of_delta_4_3
from lakes import edges, lineage, named, valid_events
from spark_packages import need, release

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.runs.executions import executions

need("delta")
pytestmark = pytest.mark.spark

spark = delta_tables.spark
table = delta_tables.table


def test_a_table_is_its_location_with_the_tables_name_beside(spark, recorded, table):
    """Path and table are one dataset; each read or written state has its version, the table its catalog."""
    with recorded() as records:
        spark.table("t").where("v > 1").write.format("delta").mode("append").save(table + "2")
    composed = lineage(records)
    (read,) = composed.inputs
    assert (read.dataset.id.namespace, read.dataset.id.name) == ("file", table)
    identity = read.dataset.identity
    assert [link.name for link in identity.symlinks] == ["default.t"]
    assert (identity.storage_layer, identity.file_format, identity.version) == ("delta", "parquet", "0")
    assert identity.catalog is not None
    assert identity.catalog.name == "spark_catalog"
    (written,) = composed.outputs
    assert (written.dataset.id.name, written.mode.value) == (table + "2", "create")
    assert composed.gaps == ()
    assert read.statistics.rows is not None
    assert read.statistics.files == 1


def test_a_table_made_by_a_query_is_one_write(spark, recorded, table):
    """CTAS, and its replacement: the command, the staged write and Delta's own write are one output."""
    spark.sql("drop table if exists made")
    with recorded() as records:
        spark.sql("create table made using delta as select id, v * 2 as double from src")
    composed = lineage(records)
    (written,) = composed.outputs
    assert written.mode.value == "create"
    assert [link.name for link in written.dataset.identity.symlinks] == ["default.made"]
    assert edges(composed) == {("id", "src.id", "identity"), ("double", "src.v", "transformation")}
    assert composed.inputs[0].statistics.rows == 3
    assert composed.gaps == ()
    # Spark 3.5 refuses that with older releases.
    if release("delta") >= (3, 3):
        with recorded() as records:
            spark.table("src").select("id").write.format("delta").mode("overwrite").saveAsTable("made")
        assert lineage(records).outputs[0].mode.value == "overwrite"


def test_a_frame_made_before_a_write_reads_its_rows(spark, recorded, tmp_path, table):
    """Delta reads the last version, also of a frame, a view or a table object that is older."""
    spark.range(5, 7).selectExpr("cast(id as int) other").write.parquet(str(tmp_path / "more"))
    frame = spark.table("t").select("id")
    with recorded() as records:
        more = spark.read.parquet(str(tmp_path / "more")).withColumnRenamed("other", "id")
        more.write.format("delta").mode("append").save(table)
        frame.write.parquet(str(tmp_path / "late"))
        spark.read.format("delta").option("versionAsOf", 0).load(table).write.parquet(str(tmp_path / "first"))
    composed = compose(execution.lineage for execution in executions(records))
    outputs = {Path(output.dataset.id.name).name: output for output in composed.outputs}
    late, first = (
        {(Path(edge.source.name).name, edge.field) for edge in outputs[name].edges if edge.column == "id"}
        for name in ("late", "first")
    )
    assert late == {("t", "id"), ("more", "other")}
    assert first == {("t", "id")}
    assert composed.gaps == ()


def test_rows_of_an_rdd_come_from_the_table_that_it_read(spark, recorded, tmp_path, table):
    """Spark reports no execution of the query behind `rdd`: nothing of it has a time."""
    frame = spark.table("t").select("id")
    spark.sql("insert into t select * from src")
    with recorded() as records:
        frame.rdd.map(lambda row: (row[0],)).toDF(["a"]).write.parquet(str(tmp_path / "late"))
    composed = compose(execution.lineage for execution in executions(records))
    assert named(composed.inputs) == {"t": "1"}
    assert {each for each in edges(composed) if each[0] == "a"} == {("a", "t.id", "transformation")}


@alters
def test_a_table_of_literals_made_after_a_command_is_one_write(spark, recorded, table):
    """The staged write reads nothing and knows no place, and follows one that moves no rows."""
    spark.sql("drop table if exists made")
    with recorded() as records:
        spark.sql("alter table t set tblproperties ('made' = 'by hand')")
        spark.sql("create table made using delta as select 1 as one")
    composed = lineage(records)
    assert [output.mode.value for output in composed.outputs] == ["create"]
    assert composed.gaps == ()


def test_a_renamed_table_is_known_by_its_new_name(spark, recorded, tmp_path, table):
    """A table of Spark's warehouse moves with its name, and earlier writes to it with the table."""
    for name in ("made", "renamed", "copy"):
        spark.sql(f"drop table if exists {name}")
    with recorded() as records:
        spark.sql("create table made using delta as select id, v from src")
        spark.sql("alter table made rename to renamed")
        spark.sql("create table copy using delta as select id from renamed")
    composed = compose(execution.lineage for execution in executions(records))
    assert list(named(composed.inputs)) == ["src"]
    assert set(named(composed.outputs)) == {"renamed", "copy"}
    (renamed,) = (written for written in composed.outputs if written.dataset.id.name.endswith("renamed"))
    assert [link.name for link in renamed.dataset.identity.symlinks] == ["default.renamed"]
    assert composed.gaps == ()
    with recorded() as records:
        spark.sql("alter table t rename to t2")
    spark.sql("alter table t2 rename to t")
    (output,) = lineage(records).outputs
    assert (output.dataset.id.name, output.mode.value) == ("default.t2", "rename")
    assert [link.name for link in output.dataset.identity.symlinks] == [table]


def test_the_version_that_was_read(spark, recorded, table):
    """Time travel by version or by option: the dataset is the table, its version is the state."""
    spark.sql("insert into t select * from src")
    for read in (
        lambda: spark.sql("select id from t version as of 0"),
        lambda: spark.read.format("delta").option("versionAsOf", 0).load(table),
    ):
        with recorded() as records:
            read().collect()
        assert named(lineage(records).inputs) == {"t": "0"}


def test_merge(spark, recorded, table):
    """ON is a join; assigned columns take values and conditions, kept ones themselves; inserts filter."""
    with recorded() as records:
        spark.sql(
            "merge into t using src on t.id = src.id "
            "when matched and src.w > 15 then update set v = src.v + t.v "
            "when not matched and src.name > '' then insert (id, name) values (src.id, src.name)"
        )
    composed = lineage(records)
    assert named(composed.inputs) == {"src": "", "t": "0"}
    assert named(composed.outputs) == {"t": "1"}
    assert edges(composed) == {
        ("id", "t.id", "identity"),
        ("id", "src.id", "identity"),
        ("name", "t.name", "identity"),
        ("name", "src.name", "identity"),
        ("v", "t.v", "identity"),
        ("v", "t.v", "transformation"),
        ("v", "src.v", "transformation"),
        ("v", "src.w", "conditional"),
        ("w", "t.w", "identity"),
        ("*", "t.id", "join"),
        ("*", "src.id", "join"),
        ("*", "src.name", "filter"),
    }
    assert composed.gaps == ()


@of_delta_4_3
def test_merge_that_adds_columns(spark, recorded, table):
    """A column that the source brings in comes from the source alone."""
    with recorded() as records:
        spark.sql(
            "merge with schema evolution into t using (select *, w * 2 as more from src) s on t.id = s.id "
            "when matched then update set * when not matched then insert *"
        )
    composed = lineage(records)
    assert [field.name for field in composed.outputs[0].dataset.fields] == ["id", "name", "v", "w", "more"]
    assert {(source, kind) for column, source, kind in edges(composed) if column == "more"} == {
        ("src.w", "transformation")
    }


def test_update_and_delete(spark, recorded, table):
    """An UPDATE decides values, a DELETE rows; the table is read and written, each at its version."""
    with recorded() as records:
        spark.sql("update t set v = w where id > 1")
    composed = lineage(records)
    assert (named(composed.inputs), named(composed.outputs)) == ({"t": "0"}, {"t": "1"})
    unchanged = {(column, f"t.{column}", "identity") for column in ("id", "name", "v", "w")}
    assert edges(composed) == unchanged | {("v", "t.w", "transformation"), ("v", "t.id", "conditional")}
    with recorded() as records:
        spark.sql("delete from t where id > 2")
    assert edges(lineage(records)) == unchanged | {("*", "t.id", "filter")}
    with recorded() as records:
        spark.sql("delete from t")
    assert edges(lineage(records)) == set()


@pytest.mark.parametrize(
    "statement",
    [
        "update t set v = 0 where id > 99",
        "delete from t where id > 99",
        "merge into t using (select 1 as id where 1 = 0) s on t.id = s.id when matched then update set v = 0",
    ],
)
def test_a_statement_that_finds_no_row_writes_nothing(spark, recorded, table, statement):
    """Delta commits no version then: the table was read."""
    with recorded() as records:
        spark.sql(statement)
    composed = lineage(records)
    assert (list(named(composed.inputs)), composed.outputs) == (["t"], ())


def test_a_file_without_rows_has_no_bytes(spark, recorded, table):
    """Delta writes a file again without the rows that are deleted, and discards it where none is left."""
    spark.table("t").coalesce(1).write.format("delta").mode("overwrite").saveAsTable("t")
    with recorded() as records:
        spark.sql("delete from t where id > 0")
    (output,) = lineage(records).outputs
    assert not output.statistics.size_bytes
    assert not output.statistics.rows


def test_restore_and_clone(spark, recorded, table):
    """A table restored is itself as it was; a clone is a copy of a version."""
    spark.sql("delete from t")
    with recorded() as records:
        spark.sql("restore table t to version as of 0")
    composed = lineage(records)
    assert (named(composed.inputs), named(composed.outputs)) == ({"t": "0"}, {"t": "2"})
    assert edges(composed) == {(column, f"t.{column}", "identity") for column in ("id", "name", "v", "w")}
    spark.sql("drop table if exists clone")
    with recorded() as records:
        spark.sql("create table clone shallow clone t version as of 0")
    composed = lineage(records)
    assert named(composed.inputs) == {"t": "0"}
    assert list(named(composed.outputs)) == ["clone"]
    assert edges(composed) == {(column, f"t.{column}", "identity") for column in ("id", "name", "v", "w")}


def test_maintenance_moves_no_rows(spark, recorded, table):
    """OPTIMIZE, VACUUM and the history read and write nothing that lineage speaks of."""
    with recorded() as records:
        spark.sql("optimize t")
        spark.sql("vacuum t")
        spark.sql("describe history t").collect()
        if release("delta") >= (4, 3):
            spark.sql("alter table t cluster by (id)")
    lineages = [execution.lineage for execution in executions(records)]
    assert not any(lineages)
    assert [gap for each in lineages for gap in each.gaps] == []


@alters
@pytest.mark.parametrize(
    ("statement", "mode"),
    [
        ("alter table t add columns (z int)", "alter"),
        pytest.param("truncate table t", "truncate", marks=of_delta_4_3),
    ],
)
def test_commands_that_change_a_table(spark, recorded, table, statement, mode):
    """Changed columns, no rows any more: each is an output at its version."""
    with recorded() as records:
        spark.sql(statement)
    (written,) = lineage(records).outputs
    assert (written.dataset.id.name, written.mode.value) == (table, mode)
    assert written.dataset.identity.version == "1"


def test_events_are_valid(spark, recorded, table, tmp_path):
    """Version, catalog and storage facets match their schemas."""
    with recorded() as records:
        spark.sql("update t set v = w where id > 1")
    events = valid_events(records, tmp_path)
    (written,) = events[-1]["outputs"]
    assert written["facets"]["version"]["datasetVersion"] == "1"
    assert written["facets"]["storage"]["storageLayer"] == "delta"
    assert written["facets"]["catalog"]["framework"] == "delta"
