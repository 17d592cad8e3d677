"""The Spark session that proofs run in: small, and without what costs time on small data."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def start(folder: Path) -> SparkSession:
    """Start a session whose warehouse and catalog lie in a folder."""
    # Python workers are found on PATH, and must be of this environment.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Pandas on Spark asks for it before Spark starts.
    os.environ["PYARROW_IGNORE_TIMEZONE"] = "1"
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    builder = SparkSession.builder.master("local[2]").appName("soundness")
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
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
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    # Changed data makes some queries fail, which the proof tells by itself.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return spark
