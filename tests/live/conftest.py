"""A real Spark session for all tests of this folder, and functions that read its records."""

from __future__ import annotations

import contextlib

import pytest
from checked_rows import ROWS
from live_session import start_spark

from airflow_provider_spark_lineage.spark.capture.this_process import Capture


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A session of this module's own: a module that stops it harms no other."""
    spark = start_spark(tmp_path_factory.mktemp("spark"))
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def rows(spark, tmp_path_factory):
    """A thousand rows in files, of four tasks: Spark samples only what has several."""
    path = str(tmp_path_factory.mktemp("data") / "rows")
    spark.range(0, ROWS, 1, 4).selectExpr("id", "id % 3 AS part").write.parquet(path)
    return spark.read.parquet(path)


@pytest.fixture
def recorded():
    """Return a context manager that gives the records of Spark's executions inside it."""

    @contextlib.contextmanager
    def capture(problems=(), **options):
        records = []
        capture = Capture(records.append, **options)
        capture.arm()
        try:
            yield records
        finally:
            capture.disarm()
        assert capture.problems == list(problems)

    return capture


@pytest.fixture
def wait_for_bus(spark):
    """Return a function that waits until Spark's listeners have received all events."""

    def wait(seconds=300):
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(seconds * 1000)

    return wait
