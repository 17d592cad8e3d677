"""Sessions and checks that live tests of Delta and Iceberg share."""

from __future__ import annotations

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.records.record import write_record
from airflow_provider_spark_lineage.spark.runs.executions import executions
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

SCHEMA = "id int, name string, v double, w int"
ROWS = [(1, "a", 1.0, 10), (2, "b", 2.0, 20), (3, "c", 3.0, 30)]


def make_source(spark, folder):
    """Write the rows as Parquet into a folder, and put the view `src` before it."""
    spark.createDataFrame(ROWS, SCHEMA).coalesce(1).write.parquet(str(folder / "src"))
    spark.read.parquet(str(folder / "src")).createOrReplaceTempView("src")


def lineage(records):
    """The lineage of all executions; also that only one of them touched a dataset."""
    lineages = [execution.lineage for execution in executions(records)]
    assert len([each for each in lineages if each]) == 1, "what a table runs for itself is the user's"
    return compose(lineages)


def named(datasets):
    """The version of each dataset, by the last part of its name."""
    return {each.dataset.id.name.rsplit("/", 1)[-1]: each.dataset.identity.version for each in datasets}


def edges(composed):
    """The edges of the one output, as the text shows them."""
    lines = [
        line.split() for line in render(composed).splitlines() if "<-" in line and "(no field)" not in line
    ]
    return {(column, source, kind) for column, _, source, _, kind, *_ in lines}


def change_columns(spark, table, target):
    """Fill a table of `COLUMNS`, change its columns, and write what it has then."""
    spark.table("src").selectExpr("id", "name", "name as other", "v", "w").write.insertInto(table)
    spark.sql(f"alter table {table} rename column name to label")
    spark.sql(f"alter table {table} drop column other")
    spark.sql(f"alter table {table} add column added string")
    spark.table(table).write.parquet(target)


COLUMNS = "id int, name string, other string, v double, w int"
SOURCES = {("id", "id"), ("label", "name"), ("v", "v"), ("w", "w")}
"""The columns after `change_columns` that have values, with their fields in `src`."""


def check_changed_columns(records, table, target):
    """The table and what is read from it have the columns of the end, and their sources."""
    composed = compose(execution.lineage for execution in executions(records))
    outputs = {output.dataset.id.name: output for output in composed.outputs}
    for name in (table, target):
        output = outputs[name]
        assert [column.name for column in output.dataset.fields] == ["id", "label", "v", "w", "added"]
        from_source = {edge for edge in output.edges if edge.source.name.endswith("/src")}
        assert {(edge.column, edge.field) for edge in from_source} == SOURCES
        assert {edge.column for edge in {*output.edges} - from_source} <= {"added"}
    assert composed.gaps == ()


def valid_events(records, folder):
    """The events of the records; also checks each against its schemas."""
    for record in records:
        write_record(folder, record)
    events = RecordedFolder(folder).events()
    assert [problem for event in events for problem in problems_of(event)] == []
    return events
