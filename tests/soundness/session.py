"""The Spark session of proofs: small, and without features that cost time on small data."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession
from spark_packages import coordinate
from spark_sessions import started

LAKES = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    # What Delta does to be fast on large tables takes longer than the small ones do.
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.stats.collect": "false",
    "spark.databricks.delta.stats.skipping": "false",
    "spark.databricks.delta.checksum.enabled": "false",
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
    "spark.databricks.delta.history.metricsEnabled": "false",
    "spark.databricks.delta.merge.materializeSource": "none",
    # The default log store starts a process (readlink) for each rename.
    "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore",
}
"""Settings of a session that has tables of Delta and Iceberg; others are free of their extensions."""


def has_lakes() -> bool:
    """Return whether Delta and Iceberg have a release for this Spark."""
    return bool(coordinate("delta") and coordinate("iceberg"))


def start(folder: Path, lakes: bool = False, more: Mapping[str, str] | None = None) -> SparkSession:
    """Start a session whose warehouse and catalogs lie in a folder, with more settings."""
    # Python workers are found on PATH, and must be of this environment.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Pandas on Spark asks for it before Spark starts.
    os.environ["PYARROW_IGNORE_TIMEZONE"] = "1"
    conf = {
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
        **small(folder),
        **({**LAKES, "spark.sql.catalog.lake.warehouse": str(folder / "lake")} if lakes else {}),
        **(more or {}),
    }
    spark = started("soundness", conf)
    # Changed data makes some queries fail, which the proof reports by itself.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return spark


def small(folder: Path) -> dict[str, str]:
    """Return the settings of a session for a few hundred rows, whose warehouse lies in a folder."""
    return {
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        # One task for each stage, so that rows stay in their order.
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        "spark.sql.leafNodeDefaultParallelism": "1",
        # Compiling and planning again take longer than a few hundred rows do.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # A list of values for a pivot may be long.
        "spark.sql.pivotMaxValues": "500",
    }
