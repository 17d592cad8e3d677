"""A real Spark session for all tests of this folder, and what the tests ask of it."""

from __future__ import annotations

import contextlib

import pytest
from spark_packages import settings

from airflow_provider_spark_lineage.capture.sessions import Capture


def start_spark(folder, **conf):
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    builder = SparkSession.builder.master("local[2]").appName("live tests")
    conf = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        # VACUUM starts as many tasks, by default 10,000.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.databricks.delta.snapshotPartitions": "1",
        # The default log store starts a process (readlink) for each rename.
        "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        **settings(),
        **conf,
    }
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    # The JVM keeps the settings of its first session as defaults of all later ones.
    for key in conf:
        spark._jvm.System.clearProperty(key)
    spark.sparkContext.setLogLevel("OFF")
    return spark


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """A session of this module's own: a module that stops it harms no other."""
    spark = start_spark(tmp_path_factory.mktemp("spark"))
    yield spark
    spark.stop()


@pytest.fixture
def recorded():
    """Return a context manager that gives the records of what Spark does inside it."""

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
    """Return a function that waits until Spark's listeners have been told of everything."""

    def wait(seconds=30):
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(seconds * 1000)

    return wait
