"""The session of Spark that loads: with settings of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError

SETTINGS = {
    # Rows of events are ten times as large in memory as between tasks, where this counts.
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    # A file that cannot be read ends the load: else it would count as loaded.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    # Old rows in new files would pass for new events.
    "spark.databricks.delta.autoCompact.enabled": "false",
    # Else rows are sorted before they are written into several folders.
    "spark.sql.maxConcurrentOutputFileWriters": "20",
    "spark.sql.optimizer.plannedWrite.enabled": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.session.timeZone": "UTC",
    # A job of Spark that lists the folders of all dates takes longer than to list them here.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    "spark.sql.sources.partitionOverwriteMode": "static",
    "spark.sql.storeAssignmentPolicy": "ANSI",
}
"""Settings of the session that writes, so that those of the user change no row."""


@contextlib.contextmanager
def own_session(spark: Any) -> Iterator[Any]:
    """Yield a session with the settings of a load; those of the user's session are as before afterwards."""
    # A client of Spark Connect cannot make a second session.
    is_classic = hasattr(spark, "newSession")
    if not is_classic and spark.version < "4":
        raise BadInputError("A load over Spark Connect needs Spark 4.0: load by a session of Spark itself.")
    own = spark.newSession() if is_classic else spark
    before = {key: own.conf.get(key, None) for key in SETTINGS}
    for key, value in SETTINGS.items():
        own.conf.set(key, value)
    try:
        yield own
    finally:
        if is_classic:
            # Making a frame makes its session the active one: here, the user's again.
            with contextlib.suppress(Exception):
                spark.createDataFrame([], "none INT")
        else:
            for key, value in before.items():
                with contextlib.suppress(Exception):
                    spark.conf.unset(key) if value is None else spark.conf.set(key, value)
