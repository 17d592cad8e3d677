"""Writes of Delta tables: overwrites of some rows, changed columns, streams, and rows that are checked."""

from __future__ import annotations

import delta_tables
import pytest
from delta_tables import alters, of_delta_4_4
from lakes import COLUMNS, SCHEMA, change_columns, check_changed_columns, edges, lineage, make_source, named
from spark_packages import need
from written_checks import WRITES, written

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.runs.executions import executions

need("delta")
pytestmark = pytest.mark.spark

spark = delta_tables.spark
table = delta_tables.table


def test_other_rows_in_its_partitions_are_a_part_of_a_table(spark, recorded, table):
    """An overwrite of the partitions that have new rows leaves the others."""
    with recorded() as records:
        spark.table("src").writeTo("t").overwritePartitions()
    (written,) = lineage(records).outputs
    assert (written.dataset.id.name, written.mode.value, written.partial) == (table, "overwrite", True)


@of_delta_4_4
def test_a_generated_column_comes_from_its_expressions_columns(spark, recorded, table):
    """The query does not have it; it is a field of the output with its type."""
    spark.sql("drop table if exists g")
    spark.sql("create table g (id int, v double, d double generated always as (v * 2)) using delta")
    with recorded() as records:
        spark.sql("insert into g (id, v) select id, w from src")
    composed = lineage(records)
    assert ("d", "src.w", "transformation") in edges(composed)
    assert [(field.name, field.type) for field in composed.outputs[0].dataset.fields][-1] == ("d", "double")


def test_replace_where_is_a_condition_of_the_write(spark, recorded, table):
    """Columns of the replaced rows have the table's own names."""
    with recorded() as records:
        spark.sql("insert into t replace where id > 1 select * from src where id > 1")
    composed = lineage(records)
    assert ("*", "t.id", "filter") in edges(composed)
    assert composed.outputs[0].partial


def test_the_option_replace_where_is_a_condition_of_the_write(spark, recorded, table):
    """Its text is not part of the plan; Spark's parser gives its columns, and no value is kept."""
    rows = spark.table("src").where("id > 1")
    where = "ID > 1 and `name` <> 'secret' and v is not null"
    with recorded() as records:
        rows.write.format("delta").mode("overwrite").option("replaceWhere", where).save(table)
    composed = lineage(records)
    assert {source for column, source, kind in edges(composed) if (column, kind) == ("*", "filter")} == {
        "src.id",
        "t.id",
        "t.name",
        "t.v",
    }
    assert named(composed.inputs) == {"src": "", "t": ""}
    assert composed.outputs[0].partial
    assert composed.gaps == ()
    assert "secret" not in str([record.to_json() for record in records])


DYNAMIC = "spark.sql.sources.partitionOverwriteMode"
OVERWRITES = [
    ("dynamic", {}, {"src.v", "t.w"}),
    ("static", {"partitionOverwriteMode": "dynamic"}, {"src.v", "t.w"}),
    ("static", {"replaceWhere": "id = 1"}, {"src.v", "t.w"}),
    ("dynamic", {"partitionOverwriteMode": "static"}, {"t.w"}),
    ("static", {}, {"t.w"}),
]
"""Setting, options of an overwrite -> where the values come from that are in the table after it."""


@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("overwrite", OVERWRITES)
def test_an_overwrite_of_some_partitions_keeps_the_others(spark, recorded, table, overwrite, by_name):
    """The option decides, else the setting as it was when the write began."""
    spark.sql("drop table if exists kept")
    setting, options, sources = overwrite
    place = table + "-kept"

    def save(rows, mode):
        writer = rows.write.format("delta").partitionBy("id").mode(mode)
        writer = writer.options(**options if mode == "overwrite" else {})
        if by_name:
            writer.saveAsTable("kept", path=place)
        else:
            writer.save(place)

    with recorded() as records:
        save(spark.table("src").select("id", "v"), "error")
        spark.conf.set(DYNAMIC, setting)
        save(spark.table("t").where("id = 1").selectExpr("id", "double(w) as v"), "overwrite")
        spark.conf.unset(DYNAMIC)
        spark.read.format("delta").load(place).select("v").write.parquet(place + "-out")
    composed = compose(execution.lineage for execution in executions(records))
    (out,) = (output for output in composed.outputs if output.dataset.id.name == place + "-out")
    reads = {f"{edge.source.name.rpartition('/')[2]}.{edge.field}" for edge in out.edges if edge.column}
    assert reads == sources


@alters
@pytest.mark.parametrize("existed", [False, True])
def test_columns_that_are_renamed_dropped_or_added(spark, recorded, tmp_path, existed):
    """Sources follow the columns, also if another task created the table, without rows."""
    make_source(spark, tmp_path)
    place, target = str(tmp_path / "t"), str(tmp_path / "out")
    spark.sql("drop table if exists changed")

    def create():
        spark.sql(
            f"create table changed ({COLUMNS}) using delta location '{place}'"
            " tblproperties ('delta.columnMapping.mode' = 'name')"
        )

    if existed:
        create()
    with recorded() as records:
        if not existed:
            create()
        change_columns(spark, "changed", target)
    check_changed_columns(records, place, target)


def test_a_table_that_is_overwritten_with_another_schema(spark, recorded, tmp_path):
    """Columns and types are those of the end; a table that an append or a stream makes is created."""
    make_source(spark, tmp_path)
    place = str(tmp_path / "t")
    with recorded() as records:
        rows = spark.table("src")
        rows.select("id", "v").write.format("delta").mode("append").save(place)
        changed = rows.selectExpr("string(id) id", "name").write.format("delta").mode("overwrite")
        changed.option("overwriteSchema", True).save(place)
    composed = compose(execution.lineage for execution in executions(records))
    (output,) = composed.outputs
    assert output.mode.value == "create"
    assert [(column.name, column.type) for column in output.dataset.fields] == [
        ("id", "string"),
        ("name", "string"),
    ]
    assert {(edge.column, edge.field) for edge in output.edges} == {("id", "id"), ("name", "name")}
    assert [read.dataset.id.name for read in composed.inputs] == [str(tmp_path / "src")]


def test_a_table_that_a_stream_makes_is_no_source_of_itself(spark, recorded, tmp_path):
    """Whatever the number of its batches."""
    make_source(spark, tmp_path)
    place, target = str(tmp_path / "t"), str(tmp_path / "out")
    for _ in range(2):
        spark.table("src").write.mode("append").parquet(str(tmp_path / "files"))
    with recorded() as records:
        stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        writer = stream.parquet(str(tmp_path / "files")).writeStream.format("delta")
        writer = writer.trigger(availableNow=True).option("checkpointLocation", str(tmp_path / "state"))
        writer.start(place).awaitTermination()
        spark.read.format("delta").load(place).write.parquet(target)
    composed = compose(execution.lineage for execution in executions(records))
    assert [read.dataset.id.name for read in composed.inputs] == [str(tmp_path / "files")]
    assert {edge.source.name for output in composed.outputs for edge in output.edges} == {
        str(tmp_path / "files")
    }


@pytest.mark.parametrize(("write", "known"), WRITES.values(), ids=WRITES)
def test_checked_rows_are_those_of_the_table_or_have_no_result(spark, write, known):
    """The plan shows whether a command of the table writes the rows as they come."""
    assert written(spark, "checked_rows", "delta", write) == known
