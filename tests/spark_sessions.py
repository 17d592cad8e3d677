"""Starts the Spark sessions of tests, one after the other in the same JVM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from spark_packages import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def started(name: str, conf: Mapping[str, str]) -> SparkSession:
    """Stop the session that is running, and start one with all packages and these settings."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    builder = SparkSession.builder.master("local[2]").appName(name)
    fixed = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    # A JVM takes jars when it starts, for all sessions.
    conf = {**fixed, **settings(), **conf}
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    # The JVM keeps the settings of its first session as defaults of all later ones.
    for key in conf:
        spark._jvm.System.clearProperty(key)
    spark.sparkContext.setLogLevel("OFF")
    return spark
