"""The Spark session of a live test."""

from __future__ import annotations

from spark_sessions import started


def start_spark(folder, **conf):
    """Stop the session that is running, and start one whose warehouse is in `folder`."""
    defaults = {
        "spark.sql.shuffle.partitions": "2",
        # VACUUM starts as many tasks, by default 10,000.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.databricks.delta.snapshotPartitions": "1",
        # The default log store starts a process (readlink) for each rename.
        "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
    }
    return started("live tests", {**defaults, **conf})
