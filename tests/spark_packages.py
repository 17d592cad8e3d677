"""Packages that tests need besides Spark, as Maven coordinates; `servers.jars` fetches them.

A JVM takes jars only when it starts, so a process of tests starts with all of them; which ones a session uses
is decided by its settings.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from servers.jars import jar, jars

PACKAGES: dict[str, dict[str, str]] = {
    "postgresql": {"": "org.postgresql:postgresql:42.7.14"},
    "h2": {"": "com.h2database:h2:2.5.252"},
    "sqlite": {"": "org.xerial:sqlite-jdbc:3.50.3.0"},
    # What the connector needs besides the jars below.
    "kafka": {"4.1": "org.apache.kafka:kafka-clients:3.9.1,org.apache.commons:commons-pool2:2.12.1"},
    "avro": {"4.1": "org.apache.spark:spark-avro_2.13:4.1.1"},
    # A source that is not Spark's, of its first API and of its second. It brings all that it needs.
    "excel": {"4.1": "com.crealytics:spark-excel_2.13:3.5.0_0.20.3"},
}
"""Name -> Spark version line -> coordinate; an empty line is any. A line without a row has no such jar."""


def _releases(artifact: str, versions: str) -> tuple[str, ...]:
    return tuple(f"{artifact}:{version}" for version in versions.split())


_DELTA = "io.delta:delta-spark"
_ICEBERG = "org.apache.iceberg:iceberg-spark-runtime"

LAKES = {
    "delta": {
        "3.5": _releases(f"{_DELTA}_2.12", "3.0.0 3.1.0 3.2.0 3.2.1 3.3.0 3.3.1 3.3.2 3.3.3"),
        "4.0": _releases(f"{_DELTA}_2.13", "4.0.0 4.0.1")
        + _releases(f"{_DELTA}_4.0_2.13", "4.1.0 4.2.0 4.3.0 4.3.1 4.4.0"),
        "4.1": _releases(f"{_DELTA}_4.1_2.13", "4.1.0 4.2.0 4.3.0 4.3.1 4.4.0"),
        "4.2": _releases(f"{_DELTA}_4.2_2.13", "4.4.0"),
    },
    "iceberg": {
        "3.5": _releases(
            f"{_ICEBERG}-3.5_2.12",
            "1.4.1 1.4.2 1.4.3 1.5.0 1.5.2 1.6.0 1.6.1 1.7.0 1.7.1 1.8.0 1.8.1 1.9.0 1.9.1 1.9.2"
            " 1.10.0 1.10.1 1.10.2 1.11.0 1.12.0",
        ),
        "4.0": _releases(f"{_ICEBERG}-4.0_2.13", "1.10.0 1.10.1 1.10.2 1.11.0"),
        "4.1": _releases(f"{_ICEBERG}-4.1_2.13", "1.11.0 1.12.0"),
    },
}
"""Name -> Spark version line -> every release; the last is the one of live tests, `make lakes` tries all."""


JARS = {
    "4.1": (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.2",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
    ),
}
"""Spark version line -> single jars: Maven has no version of Kafka's connector that is whole."""


EXCLUDED = (
    *("org.scala-lang:scala-library", "org.apache.spark:spark-tags_*"),
    *("com.fasterxml.*:*", "org.apache.hadoop:*", "org.apache.logging.log4j:*", "org.apache.parquet:*"),
    # What spark-excel has inside.
    *("org.apache.poi:*", "org.apache.xmlbeans:*", "com.norbitltd:*", "com.github.pjfanning:*"),
    *("com.github.tototoshi:*", "com.github.virtuald:*", "com.zaxxer:*"),
    *("org.apache.commons:commons-math3", "org.apache.commons:commons-collections4"),
)
"""Artifacts that Spark or another jar already has."""


_SDK = ",".join(f"software.amazon.awssdk:{name}:2.29.52" for name in ("s3", "s3-transfer-manager", "sts"))
S3A = {
    "4.0": f"org.apache.hadoop:hadoop-aws:3.4.1,{_SDK}",
    "4.1": f"org.apache.hadoop:hadoop-aws:3.4.2,{_SDK}",
    "4.2": f"org.apache.hadoop:hadoop-aws:3.4.2,{_SDK}",
    "4.3": f"org.apache.hadoop:hadoop-aws:3.4.2,{_SDK}",
}
"""Spark version line -> the packages of AWS that `s3a://` needs with its Hadoop, in 10 MB.

Hadoop itself asks for a bundle of 600 MB, which no other test's process should load.
"""

S3A_EXCLUDED = (
    *("org.scala-lang:scala-library", "org.apache.spark:spark-tags_*"),
    "software.amazon.awssdk:bundle",
    "software.amazon.s3.analyticsaccelerator:*",
    "org.apache.hadoop:hadoop-common",
    "org.slf4j:*",
    "io.netty:*",
    "commons-logging:*",
)


def coordinate(name: str) -> str | None:
    """Return the Maven coordinate of a package for this interpreter's Spark; None if it has no such package.

    Of a lake it is the newest release, unless the environment names another (`DELTA_RELEASE`).
    """
    if name in LAKES:
        newest = LAKES[name].get(_line(), (None,))[-1]
        return os.environ.get(f"{name.upper()}_RELEASE", newest) or None
    return PACKAGES[name].get(_line(), PACKAGES[name].get(""))


def release(name: str) -> tuple[int, ...]:
    """Return the version of a package, `(3, 3, 1)`."""
    version = (coordinate(name) or "").rpartition(":")[2]
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def s3a_packages() -> str:
    """Return the packages that `s3a://` needs with this interpreter's Spark, fetched."""
    jars(S3A[_line()].split(","), S3A_EXCLUDED)
    return S3A[_line()]


def s3a() -> str:
    """Return the value of `spark.jars` that lets this interpreter's Spark read `s3a://`."""
    return _uris(jars(S3A[_line()].split(","), S3A_EXCLUDED))


def java_agent() -> Path:
    """Return the jar of OpenLineage's Java agent for this interpreter's Spark."""
    scala = "2.12" if _line() == "3.5" else "2.13"
    return jar(f"io.openlineage:openlineage-spark_{scala}:1.53.0")


def _line() -> str:
    import pyspark

    return ".".join(pyspark.__version__.split(".")[:2])


@cache
def settings() -> dict[str, str]:
    """Return the settings that give the first session of a process all packages."""
    packages = [one for name in (*PACKAGES, *LAKES) if (one := coordinate(name))]
    wanted = [coordinates for package in packages for coordinates in package.split(",")]
    return {"spark.jars": _uris([*jars(wanted, EXCLUDED), *map(jar, JARS.get(_line(), ()))])}


def _uris(paths: list[Path]) -> str:
    # Spark takes a path for a URI, and a checkout's may have a space.
    return ",".join(path.as_uri() for path in paths)


def need(*names: str) -> None:
    """Skip the calling module or test where a package has no jar for this Spark."""
    for name in names:
        if coordinate(name) is None:
            pytest.skip(f"{name} has no release for this Spark", allow_module_level=True)
