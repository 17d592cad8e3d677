"""Version of the OpenLineage client that tests run with: older ones emit older facets."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest
from packaging.version import Version

from airflow_provider_spark_lineage.openlineage.events.validation import UNKNOWN, problems_of

NEWEST = "1.54"
"""The client whose facets the copies of OpenLineage's schemas in this package state."""

_IS_NEWEST = Version(metadata.version("openlineage-python")) >= Version(NEWEST)

needs_newest_client = pytest.mark.skipif(
    not _IS_NEWEST,
    reason=f"the schemas and facets are those of OpenLineage's client {NEWEST}",
)

needs_fields_of_results = pytest.mark.skipif(
    Version(metadata.version("openlineage-python")) < Version("1.47"),
    reason="results of checks have three fields before OpenLineage's client 1.47, and no facet `test`",
)


def known_problems_of(event: dict[str, Any]) -> list[str]:
    """Return the problems of an event, but with an older client without "no copy of a schema"."""
    return [each for each in problems_of(event) if _IS_NEWEST or UNKNOWN not in each]
