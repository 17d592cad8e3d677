"""The doctor's checks of installed packages: packages that lineage needs, in compatible versions."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from airflow_provider_spark_lineage.cli.doctor.model import Finding, Installation, note, problem

OURS = "airflow-provider-spark-lineage"
_AIRFLOW = ("apache-airflow", "apache-airflow-providers-apache-spark", "apache-airflow-providers-openlineage")
NEEDED = (OURS, *_AIRFLOW, "openlineage-python")

_WATCHED = re.compile(r"apache-airflow|openlineage|py4j|pyspark")
"""Beginnings of the packages whose versions are compared with the requirements of the needed ones."""


def python(installation: Installation) -> Iterator[Finding]:
    """Report the version of Python."""
    yield Finding("python", platform.python_version())


def needed(installation: Installation) -> Iterator[Finding]:
    """Check that all packages that lineage needs are installed."""
    for name in NEEDED:
        version = installation.distributions.get(name)
        if version is None:
            advice = f"{name} is not installed; run `pip install {name}`."
            yield problem("package-missing", name, "missing", advice)
        else:
            yield Finding(name, version)


def versions(installation: Installation) -> Iterator[Finding]:
    """Compare installed versions with the requirements of the packages that lineage needs."""
    unmet: dict[str, dict[str, str]] = {}
    for package, name, specifier in _requirements(installation):
        if not specifier.contains(installation.distributions[name], prereleases=True):
            unmet.setdefault(name, {})[package] = str(specifier)
    for name, ranges in unmet.items():
        version = installation.distributions[name]
        needs = f"{name}{','.join(dict.fromkeys(ranges.values()))}"
        verb = "needs" if len(ranges) == 1 else "need"
        advice = (
            f"{' and '.join(ranges)} {verb} {needs}, but {version} is installed; run `pip install '{needs}'`."
        )
        yield problem("package-version", name, version, advice)


def _requirements(installation: Installation) -> Iterator[tuple[str, str, SpecifierSet]]:
    """Yield each package that lineage needs, and its requirements of another installed one."""
    for package, lines in installation.requirements.items():
        for line in lines:
            requirement = Requirement(line)
            name = re.sub(r"[-_.]+", "-", requirement.name).lower()
            # Requirements of an extra apply only if it is installed.
            applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if applies and name in installation.distributions and _WATCHED.match(name):
                yield package, name, requirement.specifier


def pyspark(installation: Installation) -> Iterator[Finding]:
    """Look for the clash of `pyspark` and `pyspark-client`, which write the same files.

    Airflow's apache-spark provider depends on `pyspark-client`; whichever of the two pip wrote last owns
    the folder, and removing either takes the files of both.
    """
    full, client = installation.distributions.get("pyspark"), installation.distributions.get("pyspark-client")
    version = re.search(
        r"__version__[^=\n]*=\s*[\"']([^\"']+)", text_of(installation.pyspark_folder, "version.py")
    )
    files = version[1] if version else ""
    if full is None:
        cure = f"install the Spark that you use, for example `pip install '{OURS}[spark-4-2]'`"
        if client:
            cure = f"install the full package of the same version (`pip install pyspark=={client}`)"
        yield problem("spark-missing", "pyspark", "missing", f"pyspark is not installed; {cure}.")
    elif not files:
        advice = f"The files of pyspark {full} are missing, as after removing pyspark-client;"
        yield problem("spark-files", "pyspark", f"{full}, files missing", f"{advice} {_reinstall(full)}.")
    elif files != full:
        advice = f"pip lists pyspark {full}, but its files have version {files}; {_reinstall(full)}."
        yield problem("spark-files", "pyspark", f"{full}, files of {files}", advice)
    elif numbers(full) < (3, 5):
        advice = f"pyspark {full} is older than 3.5, the oldest supported version;"
        yield problem("spark-too-old", "pyspark", full, f"{advice} run `pip install 'pyspark>=3.5'`.")
    else:
        yield Finding("pyspark", full)
    # Files of the client's version are the same mistake as above.
    if full and client and client not in (full, files):
        advice = f"pyspark-client {client} and pyspark {full} overwrite each other's files in one folder;"
        yield problem("spark-client-version", "pyspark-client", client, f"{advice} {_reinstall(full)}.")


def pyspark_connect(installation: Installation) -> Iterator[Finding]:
    """Look for `pyspark-connect`, which makes `SparkSession.builder` create sessions of Spark Connect."""
    connect, full = map(installation.distributions.get, ("pyspark-connect", "pyspark"))
    if connect and full and connect != full:
        advice = (
            f"pyspark-connect {connect} is for another version than pyspark {full}; run "
            f"`pip install pyspark-connect=={full}`, or `pip uninstall pyspark-connect`."
        )
        yield problem("spark-connect-version", "pyspark-connect", connect, advice)
    elif connect:
        advice = (
            "pyspark-connect makes every session one of Spark Connect, which is captured in its client; set "
            "`spark.api.mode` to `classic`, or run `pip uninstall pyspark-connect`, if that is not intended."
        )
        yield note("spark-connect-default", "pyspark-connect", connect, advice)


def py4j(installation: Installation) -> Iterator[Finding]:
    """Check for py4j, the bridge to the JVM."""
    full = installation.distributions.get("pyspark")
    if full and "py4j" not in installation.distributions:
        yield problem("py4j-missing", "py4j", "missing", f"py4j is not installed; {_reinstall(full)}.")


def pandas(installation: Installation) -> Iterator[Finding]:
    """Check for a pandas that is too new for this Spark: PySpark fails inside, or warns."""
    version, spark = installation.distributions.get("pandas"), installation.distributions.get("pyspark")
    if not version or not spark:
        return
    utils = text_of(installation.pyspark_folder, "sql/pandas/utils.py")
    if numbers(version) < (3,):
        yield Finding("pandas", version)
    elif numbers(spark) < (4, 2):
        advice = (
            f"pyspark {spark} supports pandas 2: pandas-on-Spark and `toPandas` may fail with {version}; "
            "run `pip install 'pandas<3'`, or use pyspark 4.2 or newer."
        )
        yield note("pandas-too-new", "pandas", version, advice)
    elif re.search(r"(?i)not (yet )?fully support(ed)? pandas", utils):
        advice = f"pyspark {spark} warns that it does not fully support pandas {version};"
        yield note("pandas-too-new", "pandas", version, f"{advice} run `pip install 'pandas<3'`.")
    else:
        yield Finding("pandas", version)


def numbers(version: str) -> tuple[int, ...]:
    """Return (4, 2) for `4.2.0.dev1`."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def text_of(folder: Path | None, name: str) -> str:
    """Return the text of a file, empty if it cannot be read."""
    try:
        return (folder / name).read_text(encoding="utf-8", errors="replace") if folder else ""
    except OSError:
        return ""


def _reinstall(version: str) -> str:
    return f"run `pip uninstall -y pyspark pyspark-client`, then `pip install pyspark=={version}`"
