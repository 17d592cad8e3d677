"""Collects the input of the doctor's checks: packages, Java, Spark's files, environment, Airflow's options.

It changes nothing, sends nothing, and never raises.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from airflow_provider_spark_lineage.cli.doctor.found import Found, Java, SparkHome
from airflow_provider_spark_lineage.cli.doctor.packages import NEEDED
from airflow_provider_spark_lineage.cli.doctor.secrets import secrets_of

_JAVA_TIMEOUT_SECONDS = 10


def look(*, database: bool = False, progress: Callable[[str], object]) -> Found:
    """Look at this machine, and at Airflow if it is installed with OpenLineage's provider.

    `database` also queries Airflow's metadata database for DAGs and connections. `progress` is called with
    the name of each step.
    """
    progress("packages, Spark and Java")
    found = look_at_machine()
    if not {"apache-airflow", "apache-airflow-providers-openlineage"} <= set(found.distributions):
        return found
    # Only now: reading its options imports Airflow, which takes seconds.
    from airflow_provider_spark_lineage.cli.doctor.look_airflow import look_airflow

    airflow = look_airflow(database=database, progress=progress)
    return replace(found, airflow=airflow, secrets=secrets_of(os.environ, airflow))


def look_at_machine() -> Found:
    """Look at packages, Java, Spark's files and the environment."""
    distributions = _distributions()
    return Found(
        python=platform.python_version(),
        distributions=distributions,
        requirements={name: _requirements(name) for name in NEEDED if name in distributions},
        environment=dict(os.environ),
        spark_in_files=_version_in_files(),
        warns_of_pandas=_warns_of_pandas(),
        spark_home=_spark_home(os.environ.get("SPARK_HOME", "")),
        java=_java(),
        spark_listeners=_spark_listeners(),
        secrets=secrets_of(os.environ, None),
    )


# ---- Packages ------------------------------------------------------------------------------------


def _distributions() -> dict[str, str]:
    """Return installed packages and versions; of two versions of a package, the one that Python imports."""
    versions: dict[str, str] = {}
    for distribution in metadata.distributions():
        try:
            name, version = distribution.metadata["Name"], distribution.version
        except Exception:  # noqa: S112  a folder that pip removed only in part is not a package
            continue
        if name and version:
            versions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    return versions


def _requirements(name: str) -> tuple[str, ...]:
    try:
        return tuple(metadata.requires(name) or ())
    except metadata.PackageNotFoundError:
        return ()


def _version_in_files() -> str:
    """Return the version in PySpark's files."""
    match = re.search(r"__version__[^=\n]*=\s*[\"']([^\"']+)", _text_of_pyspark("version.py"))
    return match[1] if match else ""


def _warns_of_pandas() -> bool:
    """Return whether PySpark warns about pandas 3, in the module that checks for the oldest pandas."""
    text = _text_of_pyspark("sql/pandas/utils.py")
    return re.search(r"(?i)not (yet )?fully support(ed)? pandas", text) is not None


def _text_of_pyspark(name: str) -> str:
    """Return the text of a file of PySpark without importing it; empty if there is none."""
    try:
        spec = importlib.util.find_spec("pyspark")
        if spec is None or spec.origin is None:
            return ""
        return (Path(spec.origin).parent / name).read_text(encoding="utf-8")
    except (OSError, ValueError, ImportError):
        return ""


# ---- Spark and Java ------------------------------------------------------------------------------


def _spark_listeners() -> dict[str, str]:
    """Return `spark.extraListeners` of Spark's own configuration files by file."""
    spec = importlib.util.find_spec("pyspark")
    homes = [Path(os.environ["SPARK_HOME"])] if os.environ.get("SPARK_HOME") else []
    homes += [Path(spec.origin).parent] if spec and spec.origin else []
    folders = [home / "conf" for home in homes]
    if os.environ.get("SPARK_CONF_DIR"):
        folders = [Path(os.environ["SPARK_CONF_DIR"])]
    listeners = {}
    for file in (folder / "spark-defaults.conf" for folder in folders):
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # A property file of Java: a key, then spaces, `=` or `:`, then the value.
        values = re.findall(r"^\s*spark\.extraListeners(?:\s*[=:]\s*|\s+)(\S.*)$", text, re.MULTILINE)
        if values:
            listeners[str(file)] = values[-1].strip()
    return listeners


def _spark_home(path: str) -> SparkHome:
    if not path:
        return SparkHome()
    home = Path(path)
    try:
        has_spark = any((home / "bin" / name).is_file() for name in ("spark-submit", "spark-submit.cmd"))
        jars = sorted(file.name for file in (home / "jars").glob("spark-core_*.jar"))
    except OSError:
        return SparkHome(path, has_spark=False)
    match = re.fullmatch(r"spark-core_[\d.]+-(.+)\.jar", jars[0]) if jars else None
    return SparkHome(path, has_spark, match[1] if match else "")


def _java() -> Java:
    home = os.environ.get("JAVA_HOME", "")
    path = shutil.which(str(Path(home) / "bin" / "java") if home else "java") or ""
    return Java(home, path, _java_version(path) if path else "")


def _java_version(path: str) -> str:
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
