"""Starts the Spark session of a live test."""

from __future__ import annotations

from spark_packages import settings


def start_spark(folder, **conf):
    """Stop the session that is running, and start one whose warehouse is in `folder`."""
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
