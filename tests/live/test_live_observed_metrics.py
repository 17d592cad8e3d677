"""Observations of a program: numbers in its records, and metrics of the datasets that they are about."""

from __future__ import annotations

import pytest
from checked_rows import COUNTS_SAMPLES, ROWS

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.checks.assertion import ColumnMetrics, Metrics

pytestmark = pytest.mark.spark


def test_a_record_has_numbers_of_other_observations_but_no_texts(spark, rows, recorded, tmp_path):
    """Texts are values of rows. Names that Spark makes have the literals of an expression."""
    from pyspark.sql import functions as sf

    with recorded() as records:
        frame = rows.observe(
            "mine", sf.count(sf.lit(1)).alias("rows"), sf.max(sf.lit("x")).alias("text"), sf.max(sf.lit(7))
        )
        frame.write.parquet(str(tmp_path / "out"))
        frame.orderBy("id").write.mode("overwrite").parquet(str(tmp_path / "out"))
    sampled = 2 * ROWS if COUNTS_SAMPLES else ROWS
    assert [record.observed for record in records] == [{"mine": {"rows": ROWS}}, {"mine": {"rows": sampled}}]
    assert [record.miscounted for record in records] == [{}, {"mine": "sort"}]


def observing(frame):
    from pyspark.sql import functions as sf

    return frame.observe(
        "mine",
        sf.count(sf.lit(1)).alias("rows"),
        sf.count("id").alias("ids"),
        sf.max("id").alias("most"),
        sf.sum("part").alias("parts"),
        sf.count_if(sf.col("part").isNull()).alias("none"),
        sf.avg("id").alias("mean"),
        (sf.max("part") - sf.min("part")).alias("range"),
    )


def metrics(spark, action):
    """Return the rows that metrics are about, by the last part of their dataset's name, and the capture."""
    with capture_lineage(spark) as captured:
        action()
    found = {each.output[1].rpartition("/")[2]: each.metrics for each in captured.findings}
    return found, captured


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda frame, path: frame.write.parquet(path), id="files"),
        pytest.param(lambda frame, path: frame.write.option("path", path).saveAsTable("seen"), id="table"),
    ],
)
def test_observed_numbers_are_metrics_of_the_written_dataset(spark, rows, tmp_path, write):
    """Numbers whose meaning the plan says: of rows, and of columns. Nothing is an assertion."""
    found, captured = metrics(spark, lambda: write(observing(rows), str(tmp_path / "out")))
    whole = Metrics(
        ROWS,
        {
            "id": ColumnMetrics(nulls=0, values=ROWS, max=ROWS - 1.0),
            "part": ColumnMetrics(nulls=0, sum=sum(number % 3 for number in range(ROWS)) * 1.0),
        },
    )
    # The rows were read from a dataset, too, but one observation is about one.
    assert found == {"out": whole}
    assert captured.checks == []


def test_observed_numbers_of_rows_as_they_are_read_are_metrics_of_the_input(spark, rows, tmp_path):
    """Although other rows are written."""
    seen = observing(rows)
    for action in (
        lambda: seen.where("id < 10").write.parquet(str(tmp_path / "out")),
        lambda: seen.write.mode("append").parquet(str(tmp_path / "out")),
        lambda: seen.agg({"id": "max"}).collect(),
        seen.collect,
    ):
        found, _ = metrics(spark, action)
        assert {name: each.rows for name, each in found.items()} == {"rows": ROWS}


@pytest.mark.parametrize(
    ("existed", "write"),
    [
        pytest.param(True, lambda frame, path: frame.write.mode("append").parquet(path), id="appended"),
        pytest.param(True, lambda frame, path: frame.write.parquet(f"{path}/part=1"), id="a folder"),
        pytest.param(False, lambda frame, path: frame.limit(5).write.parquet(path), id="limited"),
        pytest.param(False, lambda frame, path: frame.union(frame).write.parquet(path), id="twice"),
    ],
)
def test_other_observations_are_no_metrics(spark, rows, tmp_path, existed, write):
    """Of rows that are not those of a dataset."""
    if existed:
        rows.limit(1).write.parquet(str(tmp_path / "out"))
    frame = observing(rows.where("id >= 0"))
    found, _ = metrics(spark, lambda: write(frame, str(tmp_path / "out")))
    assert found == {}


def test_a_part_of_a_dataset_that_was_read_has_no_metrics(spark, rows, tmp_path):
    """Of a limit, Spark reads and counts some rows; a folder of a partition is not the dataset."""
    rows.write.partitionBy("part").parquet(str(tmp_path / "parts"))
    one = spark.read.parquet(str(tmp_path / "parts" / "part=1")).observe("mine", *_counted())
    for action in (
        lambda: observing(rows).take(5),
        lambda: observing(rows).limit(400).collect(),
        one.collect,
    ):
        found, _ = metrics(spark, action)
        assert found == {}


def _counted():
    from pyspark.sql import functions as sf

    return (sf.count(sf.lit(1)).alias("rows"),)
