"""The doctor's checks of installed packages: packages that lineage needs, in compatible versions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from airflow_provider_spark_lineage.cli.doctor.finding import Finding, mistake
from airflow_provider_spark_lineage.cli.doctor.found import Found

OURS = "airflow-provider-spark-lineage"
NEEDED = (
    OURS,
    "apache-airflow",
    "apache-airflow-providers-apache-spark",
    "apache-airflow-providers-openlineage",
    "openlineage-python",
)
OLDEST_SPARK = (3, 5)

_WATCHED = re.compile(r"apache-airflow|openlineage|py4j|pyspark")
"""Beginnings of the packages whose versions are compared with the requirements of the needed ones."""


def needed(found: Found) -> Iterator[Finding]:
    """Check that all packages that lineage needs are installed."""
    for name in NEEDED:
        version = found.distributions.get(name)
        if version is None:
            advice = f"{name} is not installed; run `pip install {name}`."
            yield mistake("package-missing", name, "missing", advice)
        else:
            yield Finding(name, version)


def versions(found: Found) -> Iterator[Finding]:
    """Compare installed versions with the requirements of the packages that lineage needs."""
    from packaging.requirements import InvalidRequirement, Requirement

    unmet: dict[str, dict[str, str]] = {}
    for package, lines in found.requirements.items():
        for line in lines:
            try:
                requirement = Requirement(line)
            except InvalidRequirement:
                continue
            name = re.sub(r"[-_.]+", "-", requirement.name).lower()
            version = found.distributions.get(name)
            if version is None or not _WATCHED.match(name):
                continue
            # Requirements of an extra apply only if it is installed.
            if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
                continue
            if not requirement.specifier.contains(version, prereleases=True):
                unmet.setdefault(name, {})[package] = str(requirement.specifier)
    for name, ranges in unmet.items():
        version = found.distributions[name]
        needs = f"{name}{','.join(dict.fromkeys(ranges.values()))}"
        verb = "needs" if len(ranges) == 1 else "need"
        advice = (
            f"{' and '.join(ranges)} {verb} {needs}, but {version} is installed; run `pip install '{needs}'`."
        )
        yield mistake("package-version", name, version, advice)


def legacy(found: Found) -> Iterator[Finding]:
    """Look for predecessors of OpenLineage's provider."""
    for name in ("openlineage-airflow", "marquez-airflow"):
        version = found.distributions.get(name)
        if version is not None:
            advice = (
                f"{name} is for Airflow before 2.7 and keeps openlineage-python at an old version; run `pip "
                f"uninstall {name}`: apache-airflow-providers-openlineage has replaced it."
            )
            yield mistake("legacy-package", name, version, advice)


# ---- PySpark -------------------------------------------------------------------------------------


def pyspark(found: Found) -> Iterator[Finding]:
    """Look for the clash of `pyspark` and `pyspark-client`, which write the same files.

    Airflow's apache-spark provider depends on `pyspark-client`; whichever of the two pip wrote last owns
    the folder, and removing either takes the files of both.
    """
    full, client = found.distributions.get("pyspark"), found.distributions.get("pyspark-client")
    if full is None:
        if client:
            cure = f"install the full package of the same version (`pip install pyspark=={client}`)"
        else:
            cure = f"install the Spark that you use, for example `pip install '{OURS}[spark-4-2]'`"
        yield mistake("spark-missing", "pyspark", "missing", f"pyspark is not installed; {cure}.")
    elif not found.spark_in_files:
        advice = (
            f"The files of pyspark {full} are missing, as after removing pyspark-client; {_reinstall(full)}."
        )
        yield mistake("spark-files", "pyspark", f"{full}, files missing", advice)
    elif found.spark_in_files != full:
        advice = (
            f"pip lists pyspark {full}, but its files have version {found.spark_in_files}; "
            f"{_reinstall(full)}."
        )
        yield mistake("spark-files", "pyspark", f"{full}, files of {found.spark_in_files}", advice)
    elif numbers(full) < OLDEST_SPARK:
        advice = (
            f"pyspark {full} is older than 3.5, the oldest supported version; run `pip install "
            "'pyspark>=3.5'`."
        )
        yield mistake("spark-too-old", "pyspark", full, advice)
    else:
        yield Finding("pyspark", full)


def pyspark_client(found: Found) -> Iterator[Finding]:
    """Compare the versions of `pyspark-client` and `pyspark`."""
    full, client = found.distributions.get("pyspark"), found.distributions.get("pyspark-client")
    # Files of the client's version are the same mistake, which `pyspark` reports.
    if full and client and client not in (full, found.spark_in_files):
        advice = (
            f"pyspark-client {client} and pyspark {full} overwrite each other's files in one folder; "
            f"{_reinstall(full)}."
        )
        yield mistake("spark-client-version", "pyspark-client", client, advice)
    else:
        yield Finding("pyspark-client", client or "not installed")


def pyspark_connect(found: Found) -> Iterator[Finding]:
    """Look for `pyspark-connect`, which makes `SparkSession.builder` create sessions of Spark Connect."""
    connect, full = found.distributions.get("pyspark-connect"), found.distributions.get("pyspark")
    if connect is None:
        return
    if full and connect != full:
        advice = (
            f"pyspark-connect {connect} is for another version than pyspark {full}; run "
            f"`pip install pyspark-connect=={full}`, or `pip uninstall pyspark-connect`."
        )
        yield mistake("spark-connect-version", "pyspark-connect", connect, advice)
    else:
        advice = (
            "pyspark-connect makes every session one of Spark Connect, which is captured in its client; set "
            "`spark.api.mode` to `classic`, or run `pip uninstall pyspark-connect`, if that is not intended."
        )
        yield mistake("spark-connect-default", "pyspark-connect", connect, advice)


def py4j(found: Found) -> Iterator[Finding]:
    """Check for py4j, the bridge to the JVM."""
    full, version = found.distributions.get("pyspark"), found.distributions.get("py4j")
    if full is not None and version is None:
        yield mistake("py4j-missing", "py4j", "missing", f"py4j is not installed; {_reinstall(full)}.")
    else:
        yield Finding("py4j", version or "not installed")


def pandas(found: Found) -> Iterator[Finding]:
    """Check for a pandas that is too new for this Spark: PySpark fails inside, or warns."""
    version, spark = found.distributions.get("pandas"), found.distributions.get("pyspark")
    if version is None or spark is None:
        return
    if numbers(version) >= (3,) and numbers(spark) < (4, 2):
        advice = (
            f"pyspark {spark} supports pandas 2: pandas-on-Spark and `toPandas` may fail with {version}; "
            "run `pip install 'pandas<3'`, or use pyspark 4.2 or newer."
        )
        yield mistake("pandas-too-new", "pandas", version, advice)
    elif numbers(version) >= (3,) and found.warns_of_pandas:
        advice = (
            f"pyspark {spark} warns that it does not fully support pandas {version}; run `pip install "
            "'pandas<3'`."
        )
        yield mistake("pandas-too-new", "pandas", version, advice)
    else:
        yield Finding("pandas", version)


def numbers(version: str) -> tuple[int, ...]:
    """Return (4, 2) for `4.2.0.dev1`."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _reinstall(version: str) -> str:
    return f"run `pip uninstall -y pyspark pyspark-client`, then `pip install pyspark=={version}`"
