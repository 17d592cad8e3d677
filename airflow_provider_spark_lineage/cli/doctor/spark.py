"""The doctor's checks of Spark's environment: Java, SPARK_HOME, and OpenLineage's Java listener."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from airflow_provider_spark_lineage.cli.doctor.finding import Finding, mistake
from airflow_provider_spark_lineage.cli.doctor.found import Found
from airflow_provider_spark_lineage.cli.doctor.packages import numbers

LISTENER = "OpenLineageSparkListener"
"""The class `io.openlineage.spark.agent.OpenLineageSparkListener`, as every configuration of it names it."""

_NO_SUBJECT = 23
"""First Java whose `Subject.getSubject` raises (JDK-8296244); Hadoop calls it when a session starts."""

_WITH_SUBJECT_FIXED = (4, 1)
"""First Spark whose Hadoop does not call it."""


def java(found: Found) -> Iterator[Finding]:
    """Check the Java that Spark would start: JAVA_HOME first, then PATH."""
    spark = found.distributions.get("pyspark") or "4.1"
    oldest = 8 if spark.startswith("3.") else 17
    cure = "install Java 17 (on Debian or Ubuntu `apt-get install openjdk-17-jre-headless`)"
    home, path, version = found.java.home, found.java.path, found.java.version
    where = "(JAVA_HOME)" if home else "(PATH)"
    shown = f"{version} {where}"
    if not path and home:
        advice = f"JAVA_HOME is {home}, which has no `bin/java`; {cure}, or unset JAVA_HOME."
        yield mistake("java-missing", "java", "not found", advice)
    elif not path:
        advice = f"Spark needs Java {oldest} or newer, and no `java` is on PATH; {cure}."
        yield mistake("java-missing", "java", "not found", advice)
    elif not version:
        advice = f"`{path} -version` fails; {cure}."
        yield mistake("java-fails", "java", f"does not answer {where}", advice)
    elif java_major(version) < oldest:
        advice = f"Spark needs Java {oldest} or newer, not {version}; {cure}."
        yield mistake("java-too-old", "java", shown, advice)
    elif java_major(version) >= _NO_SUBJECT and numbers(spark) < _WITH_SUBJECT_FIXED:
        advice = f"Spark {spark} does not start on Java {version}; {cure}, and set JAVA_HOME to it."
        yield mistake("java-too-new", "java", shown, advice)
    else:
        yield Finding("java", shown)


def spark_home(found: Found) -> Iterator[Finding]:
    """Check SPARK_HOME: PySpark starts the Spark in that folder instead of its own."""
    home, full = found.spark_home, found.distributions.get("pyspark")
    if not home.path:
        return
    if not home.has_spark:
        advice = f"SPARK_HOME is {home.path}, which has no `bin/spark-submit`; unset or correct it."
        yield mistake("spark-home-missing", "SPARK_HOME", "no Spark", advice)
    elif not full or not home.version or _release(home.version) == _release(full):
        yield Finding("SPARK_HOME", home.version or home.path)
    else:
        is_patch = numbers(home.version) == numbers(full)
        same = ".".join(map(str, _release(home.version)))
        advice = (
            f"SPARK_HOME is {home.path} with Spark {home.version}, which pyspark {full} starts instead "
            f"of its own; unset it, or run `pip install pyspark=={same}`."
        )
        name = "spark-home-patch" if is_patch else "spark-home-version"
        yield mistake(name, "SPARK_HOME", home.version, advice)


def _release(version: str) -> tuple[int, ...]:
    """Return (3, 5, 1) for `3.5.1-amzn-0`."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def java_major(version: str) -> int:
    """Return 17 for `17.0.15` and 8 for `1.8.0_392`."""
    parts = [int(number) for number in re.findall(r"\d+", version)]
    if parts[:1] == [1] and len(parts) > 1:
        return parts[1]
    return parts[0] if parts else 0


def java_listener(found: Found) -> Iterator[Finding]:
    """Look for OpenLineage's Java listener, which reports the same executions a second time."""
    places = [name for name, listeners in found.spark_listeners.items() if LISTENER in listeners]
    places += _variables(found.environment)
    if found.airflow is not None:
        connections = found.airflow.plugins.connections_with_listener
        places += [f"the connection `{name}`" for name in connections]
    for place in places:
        advice = (
            f"OpenLineage's Java listener is configured in {place}, so each execution is reported twice; "
            f"remove `{LISTENER}` from `spark.extraListeners` there, or set `[spark_lineage] disabled` to "
            "True."
        )
        yield mistake("java-listener", "java listener", place, advice)


def _variables(environment: Mapping[str, str]) -> list[str]:
    names = []
    for name, value in sorted(environment.items()):
        if LISTENER in unquote(value):
            connection = name.removeprefix("AIRFLOW_CONN_").lower()
            named = f"the connection `{connection}` (the environment variable {name})"
            names.append(named if name.startswith("AIRFLOW_CONN_") else f"the environment variable {name}")
    return names


def injection(found: Found) -> Iterator[Finding]:
    """Look for the provider's options that pass settings to the Java listener."""
    options = found.airflow.options if found.airflow else {}
    for name in ("spark_inject_parent_job_info", "spark_inject_transport_info"):
        if options.get(name) is True:
            advice = (
                f"`[openlineage] {name}` is for OpenLineage's Java listener, which this package does not "
                "use; set it to False unless a cluster has that listener."
            )
            yield mistake("java-listener-injected", name, "True", advice)
