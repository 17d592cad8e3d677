"""Impact is complete for the example pipeline: each column of its CSV files is changed."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.impact import Impact
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.selection import Selected

pytestmark = pytest.mark.spark

DAGS = Path(__file__).resolve().parents[2] / "dags"

STEPS = {
    **{
        f"bronze/{table}": ("csv_to_parquet", table)
        for table in ("airlines", "airports", "flights", "planes", "weather")
    },
    "silver/weather": ("silver_weather",),
    "silver/flights": ("silver_flights",),
    "gold/delays_by_carrier": ("gold_delays_by_carrier",),
    "gold/worst_routes": ("gold_worst_routes",),
}
"""Output -> its step. The table of Spark SQL is left out: its metastore is one for all sessions of a JVM."""

DAYS = 3
"""Days of the year whose flights and weather are taken: enough for routes with ten flights."""


def rotated(values):
    """Each row gets the value of another: all of them stay valid."""
    return values[7:] + values[:7]


def constant(values):
    """All rows get the first value that there is."""
    return [next(value for value in values if value != "NA")] * len(values)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """The steps of the example DAGs, with their folders in a place of this test, and few rows."""
    sys.path.insert(0, str(DAGS))
    patch = pytest.MonkeyPatch()
    try:
        import nycflights_source as source
        import nycflights_steps as steps

        patch.setattr(source, "HOME", tmp_path_factory.mktemp("nycflights"))
        source.deliver()
        for table in ("flights", "weather"):
            place = Path(source.landing(table))
            lines = place.read_text().splitlines()
            names = lines[0].split(",")
            month, day = names.index("month"), names.index("day")
            rows = [
                line
                for line in lines[1:]
                if (cells := line.split(","))[month] == "1" and int(cells[day]) <= DAYS
            ]
            place.write_text("\n".join([lines[0], *rows]) + "\n")
        yield Pipeline(source, steps)
    finally:
        patch.undo()
        sys.path.remove(str(DAGS))


class Pipeline:
    def __init__(self, source, steps):
        self._source, self._steps = source, steps
        self.files = {table: Path(source.landing(table)) for table in source.TABLES}
        self.originals = {table: place.read_text() for table, place in self.files.items()}

    def run(self, spark, output):
        name, *arguments = STEPS[output]
        getattr(self._steps, name)(*arguments, spark)

    def columns(self, table):
        return next(csv.reader([self.originals[table].splitlines()[0]]))

    def change(self, table, column, how):
        names, *rows = csv.reader(self.originals[table].splitlines())
        place = names.index(column)
        for row, value in zip(rows, how([row[place] for row in rows]), strict=True):
            row[place] = value
        with self.files[table].open("w", newline="") as out:
            csv.writer(out).writerows([names, *rows])

    def restore(self, table):
        self.files[table].write_text(self.originals[table])

    def contents(self, spark):
        """Return the values of each column of each output, in an order that says nothing."""
        values = {}
        for output in STEPS:
            frame = spark.read.parquet(self._source.layer(*output.split("/")))
            rows = frame.collect()
            for place, column in enumerate(frame.columns):
                values[output, column] = sorted(repr(row[place]) for row in rows)
        return values


@pytest.fixture(scope="module")
def lineage(spark, pipeline):
    """The lineage of one run of all steps, and what they wrote, without columns that differ by themselves."""
    events = []
    for output in STEPS:
        with capture_lineage(spark) as captured:
            pipeline.run(spark, output)
        events += captured.events(namespace="jobs", job=output)
    before = pipeline.contents(spark)
    for output in STEPS:
        pipeline.run(spark, output)
    after = pipeline.contents(spark)
    return Current.of(Events.of(events)), {key: before[key] for key in before if before[key] == after[key]}


@pytest.mark.parametrize("table", ["airlines", "airports", "flights", "planes", "weather"])
def test_whatever_changes_is_in_the_answer(spark, pipeline, lineage, table):
    """Each column of a file is rotated, and made constant; a column downstream that differs depends on it."""
    current, before = lineage
    graph = LineageGraph.of(current)
    [dataset] = [each for each in current.datasets if each[1].endswith(f"/landing/{table}.csv")]
    downstream = [
        output for output in STEPS if output == f"bronze/{table}" or not output.startswith("bronze/")
    ]
    try:
        for column in pipeline.columns(table):
            impact = Impact(current, graph, [Selected(dataset, column)])
            named = {("/".join(name.split("/")[-2:]), field) for (_, name), field in impact.columns}
            for how in (rotated, constant):
                pipeline.change(table, column, how)
                for output in downstream:
                    pipeline.run(spark, output)
                after = pipeline.contents(spark)
                missed = {key for key in before if before[key] != after[key]} - named
                assert not missed, (column, how.__name__)
    finally:
        pipeline.restore(table)
        for output in downstream:
            pipeline.run(spark, output)
