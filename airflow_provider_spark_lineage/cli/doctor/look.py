"""Collects the input of the doctor's checks: installed packages, then Airflow's options and plugins.

It changes nothing, sends nothing, and never raises.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from airflow_provider_spark_lineage.cli.doctor.installation import Installation
from airflow_provider_spark_lineage.cli.doctor.packages import NEEDED


def look(progress: Callable[[str], object]) -> Installation:
    """Look at this machine, and at Airflow if it is installed with OpenLineage's provider.

    `progress` is called with the name of each step.
    """
    progress("packages")
    installation = look_at_packages()
    if not {"apache-airflow", "apache-airflow-providers-openlineage"} <= set(installation.distributions):
        return installation
    # Only now: reading its options imports Airflow, which takes seconds.
    from airflow_provider_spark_lineage.cli.doctor.look_airflow import look_airflow

    return replace(installation, airflow=look_airflow(progress))


def look_at_packages() -> Installation:
    """Look at the installed packages; of two versions of one, Python imports the first."""
    versions: dict[str, str] = {}
    for distribution in metadata.distributions():
        try:
            name, version = distribution.metadata["Name"], distribution.version
        except Exception:  # noqa: S112  a folder that pip removed only in part is not a package
            continue
        if name and version:
            versions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    return Installation(
        distributions=versions,
        requirements={name: metadata.requires(name) or () for name in NEEDED if name in versions},
        pyspark_folder=_pyspark_folder(),
    )


def _pyspark_folder() -> Path | None:
    """Return the folder of PySpark without importing it."""
    try:
        spec = importlib.util.find_spec("pyspark")
    except (ValueError, ImportError):
        return None
    return Path(spec.origin).parent if spec and spec.origin else None
