"""Settings of all tests."""

from __future__ import annotations

import contextlib
import os

import pytest
from hypothesis import settings
from servers.quick_java import quick_java

# The machines that run these tests are shared: a slow moment is no failure.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")

os.environ.setdefault("JAVA_TOOL_OPTIONS", quick_java())


@pytest.fixture
def caplog(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """The log of a test, also of the first one in its process that imports Airflow.

    That import configures logging, and removes the handlers of the root logger, pytest's as well. Pytest adds
    them once more when the test itself begins, which is after its fixtures.
    """
    with contextlib.suppress(ImportError):
        import airflow  # noqa: F401
    return caplog
