"""Sessions and checks that live tests of Delta and Iceberg share."""

from __future__ import annotations

from airflow_provider_spark_lineage.events.validation import problems_of
from airflow_provider_spark_lineage.lineage.compose import compose
from airflow_provider_spark_lineage.lineage.text import render
from airflow_provider_spark_lineage.records.record import write_record
from airflow_provider_spark_lineage.runs.executions import executions
from airflow_provider_spark_lineage.runs.pipeline import RecordedFolder

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


def valid_events(records, folder):
    """The events of the records; also checks each against its schemas."""
    for record in records:
        write_record(folder, record)
    events = RecordedFolder(folder).events()
    assert [problem for event in events for problem in problems_of(event)] == []
    return events
