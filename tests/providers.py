"""Features of the installed Airflow and its providers: some tests need more than the oldest of them."""

from __future__ import annotations

import importlib
import os
from importlib import metadata
from types import ModuleType

import pytest
from packaging.version import Version

AIRFLOW = Version(metadata.version("apache-airflow"))
OPENLINEAGE = Version(metadata.version("apache-airflow-providers-openlineage"))
COMMON_SQL = Version(metadata.version("apache-airflow-providers-common-sql"))


def import_or_skip(module: str, reason: str = "needs this provider of Airflow") -> ModuleType:
    """Import a module of a provider, or skip the test or the module that asks.

    pytest 8.0 has no `exc_type` for `importorskip`, and a provider without its client raises ImportError.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        pytest.skip(reason, allow_module_level=True)


def import_of_service(module: str) -> ModuleType:
    """Import a module that `make services` must have; elsewhere, skip the test without it."""
    if "SPARK_LINEAGE_SERVICES" in os.environ:
        return importlib.import_module(module)
    return import_or_skip(module)


def needs_airflow(floor: str, reason: str) -> pytest.MarkDecorator:
    """Skip a test where Airflow is older."""
    return pytest.mark.skipif(Version(floor) > AIRFLOW, reason=f"before Airflow {floor}, {reason}")


def needs_openlineage(floor: str, reason: str) -> pytest.MarkDecorator:
    """Skip a test where the OpenLineage provider is older."""
    return pytest.mark.skipif(Version(floor) > OPENLINEAGE, reason=f"before its {floor}, {reason}")


def needs_common_sql(floor: str, reason: str) -> pytest.MarkDecorator:
    """Skip a test where the provider of Airflow's check operators is older."""
    return pytest.mark.skipif(Version(floor) > COMMON_SQL, reason=f"before its {floor}, {reason}")
