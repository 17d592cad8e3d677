"""Which OpenLineage client the tests run with: older ones emit older facets."""

from __future__ import annotations

from importlib import metadata

import pytest
from packaging.version import Version

NEWEST = "1.54"
"""The client whose facets the copies of OpenLineage's schemas in this package state."""

needs_newest_client = pytest.mark.skipif(
    Version(metadata.version("openlineage-python")) < Version(NEWEST),
    reason=f"the schemas and facets are those of OpenLineage's client {NEWEST}",
)
