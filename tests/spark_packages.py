"""What tests need besides Spark: jars by Maven coordinates, resolved by Spark's `spark.jars.packages`.

A JVM takes jars only when it starts, so a process of tests starts with all of them; which ones a session uses
is decided by its settings.
"""

from __future__ import annotations

from functools import cache

import pytest
from servers.jars import jar

PACKAGES: dict[str, dict[str, str]] = {
    "postgresql": {"": "org.postgresql:postgresql:42.7.14"},
    "h2": {"": "com.h2database:h2:2.5.252"},
    "sqlite": {"": "org.xerial:sqlite-jdbc:3.50.3.0"},
    # What the connector needs besides the jars below.
    "kafka": {"4.1": "org.apache.kafka:kafka-clients:3.9.1,org.apache.commons:commons-pool2:2.12.1"},
    "avro": {"4.1": "org.apache.spark:spark-avro_2.13:4.1.1"},
    "delta": {"4.1": "io.delta:delta-spark_4.1_2.13:4.4.0"},
    "iceberg": {"4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"},
    # A source that is not Spark's, of its first API and of its second. It brings all that it needs.
    "excel": {"4.1": "com.crealytics:spark-excel_2.13:3.5.0_0.20.3"},
}
"""Name -> Spark version line -> coordinate; an empty line is any. A line without a row has no such jar."""


JARS = {
    "4.1": (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.2",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
    ),
}
"""Spark version line -> single jars: Maven has no version of Kafka's connector that is whole."""


EXCLUDED = (
    *("com.fasterxml.*:*", "org.apache.hadoop:*", "org.apache.logging.log4j:*", "org.apache.parquet:*"),
    # What spark-excel has inside.
    *("org.apache.poi:*", "org.apache.xmlbeans:*", "com.norbitltd:*", "com.github.pjfanning:*"),
    *("com.github.tototoshi:*", "com.github.virtuald:*", "com.zaxxer:*"),
    *("org.apache.commons:commons-math3", "org.apache.commons:commons-collections4"),
)
"""What Spark or a jar brings itself, in the value of `spark.jars.excludes`."""


S3A = {
    "3.4": "org.apache.hadoop:hadoop-aws:3.4.2,software.amazon.awssdk:s3:2.29.52"
    ",software.amazon.awssdk:s3-transfer-manager:2.29.52,software.amazon.awssdk:sts:2.29.52",
}
"""Hadoop's version line -> what `s3a://` needs of AWS, in 10 MB.

Hadoop itself asks for a bundle of 600 MB, which no other test's process should load.
"""

S3A_EXCLUDED = (
    "software.amazon.awssdk:bundle",
    "software.amazon.s3.analyticsaccelerator:*",
    "org.apache.hadoop:hadoop-common",
    "org.slf4j:*",
    "io.netty:*",
    "commons-logging:*",
)


def coordinate(name: str) -> str | None:
    """Return the Maven coordinate of a package for this interpreter's Spark; None where there is none."""
    return PACKAGES[name].get(_line(), PACKAGES[name].get(""))


def _line() -> str:
    import pyspark

    return ".".join(pyspark.__version__.split(".")[:2])


@cache
def settings() -> dict[str, str]:
    """Return the settings with which the first session of a process gets all packages."""
    found = [one for name in PACKAGES if (one := coordinate(name))]
    jars = [str(jar(one)) for one in JARS.get(_line(), ())]
    packages = {"spark.jars.packages": ",".join(found), "spark.jars.excludes": ",".join(EXCLUDED)}
    return {**packages, "spark.jars": ",".join(jars)} if jars else packages


def need(*names: str) -> None:
    """Skip the calling module or test where a package has no jar for this Spark."""
    for name in names:
        if coordinate(name) is None:
            pytest.skip(f"{name} has no release for this Spark", allow_module_level=True)
