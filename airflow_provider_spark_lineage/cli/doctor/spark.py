"""The doctor's checks of Spark's environment: Java, SPARK_HOME, and OpenLineage's Java listener."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from airflow_provider_spark_lineage.cli.doctor.model import Finding, Installation, note, problem
from airflow_provider_spark_lineage.cli.doctor.packages import numbers, text_of

_LISTENER = "OpenLineageSparkListener"
"""The class `io.openlineage.spark.agent.OpenLineageSparkListener`, as every configuration of it names it."""

_NO_SUBJECT = 23
"""First Java whose `Subject.getSubject` raises (JDK-8296244); Hadoop calls it when a session starts."""

_WITH_SUBJECT_FIXED = (4, 1)
"""First Spark whose Hadoop does not call it."""

_JAVA_TIMEOUT_SECONDS = 10


def java(installation: Installation) -> Iterator[Finding]:
    """Check the Java that Spark would start: JAVA_HOME first, then PATH."""
    spark = installation.distributions.get("pyspark") or "4.1"
    oldest = 8 if spark.startswith("3.") else 17
    cure = "install Java 17 (on Debian or Ubuntu `apt-get install openjdk-17-jre-headless`)"
    home = os.environ.get("JAVA_HOME", "")
    where = "(JAVA_HOME)" if home else "(PATH)"
    path = shutil.which(str(Path(home) / "bin" / "java") if home else "java")
    version = _java_version(path) if path else ""
    if not path and home:
        advice = f"JAVA_HOME is {home}, which has no `bin/java`; {cure}, or unset JAVA_HOME."
        yield problem("java-missing", "java", "not found", advice)
    elif not path:
        advice = f"Spark needs Java {oldest} or newer, and no `java` is on PATH; {cure}."
        yield problem("java-missing", "java", "not found", advice)
    elif not version:
        yield problem("java-fails", "java", f"does not answer {where}", f"`{path} -version` fails; {cure}.")
    elif java_major(version) < oldest:
        advice = f"Spark needs Java {oldest} or newer, not {version}; {cure}."
        yield problem("java-too-old", "java", f"{version} {where}", advice)
    elif java_major(version) >= _NO_SUBJECT and numbers(spark) < _WITH_SUBJECT_FIXED:
        advice = f"Spark {spark} does not start on Java {version}; {cure}, and set JAVA_HOME to it."
        yield problem("java-too-new", "java", f"{version} {where}", advice)
    else:
        yield Finding("java", f"{version} {where}")


def _java_version(path: str) -> str:
    """Return the version that a Java prints, empty if it does not start."""
    try:
        result = subprocess.run(  # noqa: S603  the path comes from the user's own JAVA_HOME or PATH
            [path, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_JAVA_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r' version "([^"]+)"', result.stderr + result.stdout)
    return match[1] if match else ""


def java_major(version: str) -> int:
    """Return 17 for `17.0.15` and 8 for `1.8.0_392`."""
    match = re.search(r"(?:1\.)?(\d+)", version)
    return int(match[1]) if match else 0


def spark_home(installation: Installation) -> Iterator[Finding]:
    """Check SPARK_HOME: PySpark starts the Spark in that folder instead of its own."""
    home, full = os.environ.get("SPARK_HOME"), installation.distributions.get("pyspark")
    if not home:
        return
    if not any((Path(home) / "bin" / name).is_file() for name in ("spark-submit", "spark-submit.cmd")):
        advice = f"SPARK_HOME is {home}, which has no `bin/spark-submit`; unset or correct it."
        yield problem("spark-home-missing", "SPARK_HOME", "no Spark", advice)
        return
    files = (file.name for file in Path(home, "jars").glob("spark-core_*"))
    jars = (re.fullmatch(r"spark-core_[\d.]+-(.+)\.jar", name) for name in files)
    version = next((jar[1] for jar in jars if jar), "")
    if not full or not version or _release(version) == _release(full):
        yield Finding("SPARK_HOME", version or home)
        return
    advice = (
        f"SPARK_HOME is {home} with Spark {version}, which pyspark {full} starts instead of its own; unset "
        f"it, or run `pip install pyspark=={_release(version)}`."
    )
    if numbers(version) == numbers(full):
        yield note("spark-home-patch", "SPARK_HOME", version, advice)
    else:
        yield problem("spark-home-version", "SPARK_HOME", version, advice)


def _release(version: str) -> str:
    """Return `3.5.1` for `3.5.1-amzn-0`."""
    return ".".join(re.findall(r"\d+", version)[:3])


def java_listener(installation: Installation) -> Iterator[Finding]:
    """Look for OpenLineage's Java listener, which reports the same datasets as the task's event."""
    home, conf = os.environ.get("SPARK_HOME"), os.environ.get("SPARK_CONF_DIR")
    homes = filter(None, (Path(home) if home else None, installation.pyspark_folder))
    folders = [Path(conf)] if conf else [each / "conf" for each in homes]
    # A property file of Java: a key, then spaces, `=` or `:`, then the value.
    pattern = re.compile(rf"^\s*spark\.extraListeners(\s*[=:]\s*|\s+)\S*{_LISTENER}", re.MULTILINE)
    places = [
        str(folder / "spark-defaults.conf")
        for folder in folders
        if pattern.search(text_of(folder, "spark-defaults.conf"))
    ]
    if _LISTENER in os.environ.get("PYSPARK_SUBMIT_ARGS", ""):
        places.append("the environment variable PYSPARK_SUBMIT_ARGS")
    for place in places:
        advice = (
            f"OpenLineage's Java listener is configured in {place}, so each dataset is reported twice: by "
            "the listener for an execution, and by this package for the task; if one of them is enough, "
            f"remove `{_LISTENER}` from `spark.extraListeners` there, or set `[spark_lineage] disabled` to "
            "True."
        )
        yield note("java-listener", "java listener", place, advice)
