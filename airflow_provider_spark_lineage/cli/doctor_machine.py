"""The doctor's checks of the machine: Python packages, a damaged PySpark, Java (`java -version`)."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from airflow_provider_spark_lineage.cli.finding import Finding

OURS = "airflow-provider-spark-lineage"
NEEDED = (
    OURS,
    "apache-airflow",
    "apache-airflow-providers-apache-spark",
    "apache-airflow-providers-openlineage",
    "openlineage-python",
)
_JAVA_TIMEOUT_SECONDS = 10


def findings() -> Iterator[Finding]:
    """Yield the findings about this machine, the most basic first."""
    yield Finding("python", platform.python_version())
    for name in NEEDED:
        yield _package(name)
    yield from _pyspark()
    yield _java()


def version_of(distribution: str) -> str | None:
    """Return the installed version, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _package(name: str) -> Finding:
    version = version_of(name)
    if version is None:
        return Finding(name, "missing", "problem", f"{name} is not installed; run `pip install {name}`.")
    return Finding(name, version)


# ---- PySpark -------------------------------------------------------------------------------------


def _pyspark() -> Iterator[Finding]:
    """Look for the clash of `pyspark` and `pyspark-client`, which write the same files.

    Airflow's apache-spark provider depends on `pyspark-client`; whichever of the two pip wrote last owns
    the folder, and removing either takes the files of both.
    """
    full, client, in_files = version_of("pyspark"), version_of("pyspark-client"), _version_in_files()
    if full is None:
        if client:
            cure = f"install the full package of the same version (`pip install pyspark=={client}`)"
        else:
            cure = f"install the Spark that you use, for example `pip install '{OURS}[spark-4-2]'`"
        yield Finding("pyspark", "missing", "problem", f"pyspark is not installed; {cure}.")
    elif in_files is None:
        yield Finding(
            "pyspark",
            f"{full}, files missing",
            "problem",
            f"The files of pyspark {full} are gone, as after removing pyspark-client; {_reinstall(full)}.",
        )
    elif in_files != full:
        yield Finding(
            "pyspark",
            f"{full}, files of {in_files}",
            "problem",
            f"pip lists pyspark {full}, but its files are those of {in_files}; {_reinstall(full)}.",
        )
    else:
        yield Finding("pyspark", full)
    if client is None:
        yield Finding("pyspark-client", "not installed")
    elif full is None or client == full:
        yield Finding("pyspark-client", client)
    else:
        yield Finding(
            "pyspark-client",
            client,
            "problem",
            f"pyspark-client {client} and pyspark {full} overwrite each other's files in one folder; "
            f"{_reinstall(full)}.",
        )
    py4j = version_of("py4j")
    if full is not None and py4j is None:
        yield Finding("py4j", "missing", "problem", f"py4j is not installed; {_reinstall(full)}.")
    else:
        yield Finding("py4j", py4j or "not installed")
    yield from _pandas(full)


def _pandas(spark: str | None) -> Iterator[Finding]:
    """Check for a pandas that is too new for this Spark: uses of it fail inside Spark."""
    pandas = version_of("pandas")
    if pandas is None or spark is None:
        return
    if _numbers(pandas) >= (3,) and _numbers(spark) < (4, 2):
        yield Finding(
            "pandas",
            pandas,
            "note",
            f"pyspark {spark} was made for pandas 2: pandas-on-Spark and `toPandas` may fail with {pandas}; "
            "run `pip install 'pandas<3'` or take pyspark 4.2 or newer.",
        )
    else:
        yield Finding("pandas", pandas)


def _numbers(version: str) -> tuple[int, ...]:
    """Return (4, 2) for `4.2.0.dev1`."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _reinstall(version: str) -> str:
    return f"run `pip uninstall -y pyspark pyspark-client`, then `pip install pyspark=={version}`"


def _version_in_files() -> str | None:
    """Return the version that the files themselves name, or None without files; nothing is imported."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    try:
        text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        return None
    match = re.search(r"__version__[^=\n]*=\s*[\"']([^\"']+)", text)
    return match[1] if match else None


# ---- Java ----------------------------------------------------------------------------------------


def _java() -> Finding:
    """Check the Java that Spark would start: JAVA_HOME first, then PATH."""
    spark = version_of("pyspark") or "4"
    needed = 8 if spark.startswith("3.") else 17
    cure = f"install Java {max(needed, 17)} (on Debian or Ubuntu `apt-get install openjdk-17-jre-headless`)"
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else "java"
    path = shutil.which(command)
    if path is None:
        if home:
            return Finding(
                "java",
                "not found",
                "problem",
                f"JAVA_HOME names {home}, where there is no Java; {cure} or unset it.",
            )
        return Finding(
            "java", "not found", "problem", f"Spark needs Java {needed} or newer and finds none; {cure}."
        )
    version = _java_version(path)
    where = "JAVA_HOME" if home else "PATH"
    if version is None:
        return Finding("java", f"does not answer ({where})", "problem", f"`{path} -version` fails; {cure}.")
    if java_major(version) < needed:
        return Finding(
            "java",
            f"{version} ({where})",
            "problem",
            f"Spark needs Java {needed} or newer, not {version}; {cure}.",
        )
    return Finding("java", f"{version} ({where})")


def _java_version(path: str) -> str | None:
    try:
        result = subprocess.run(  # noqa: S603  the path comes from the user's own JAVA_HOME or PATH
            [path, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_JAVA_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r' version "([^"]+)"', result.stderr + result.stdout)
    return match[1] if match else None


def java_major(version: str) -> int:
    """Return 17 for `17.0.15` and 8 for `1.8.0_392`."""
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    if numbers[:1] == [1] and len(numbers) > 1:
        return numbers[1]
    return numbers[0] if numbers else 0
