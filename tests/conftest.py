"""Settings of all tests."""

from __future__ import annotations

import contextlib
import logging
import os
import random
from pathlib import Path

import pytest
import representatives
from hypothesis import settings
from servers.quick_java import quick_java

# The machines that run these tests are shared: a slow moment is not a failure.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")

os.environ.setdefault("JAVA_TOOL_OPTIONS", quick_java())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--shuffle-files`: no file may need another before it."""
    parser.addoption("--shuffle-files", metavar="SEED", help="run the files in the random order of a seed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that `make test` runs, and put the longest first: workers end at the same time."""
    representatives.mark(items, whole="tests" in config.args)
    items.sort(key=lambda item: item.get_closest_marker("airflow") is None)
    seed = config.getoption("shuffle_files")
    if seed is not None:
        items.sort(key=lambda item: random.Random(f"{seed} {item.path}").random())  # noqa: S311  an order of tests


def pytest_unconfigure() -> None:
    """Keep py4j, which logs while the interpreter ends, from printing that pytest has closed its streams."""
    logging.raiseExceptions = False


@pytest.fixture
def caplog(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """The log of a test, also of the first one in its process that imports Airflow.

    That import configures logging, and removes the handlers of the root logger, pytest's as well. Pytest adds
    them once more when the test itself begins, which is after its fixtures.
    """
    with contextlib.suppress(ImportError):
        import airflow  # noqa: F401
    return caplog


@pytest.fixture(scope="session")
def airflow_metadata() -> Path:
    """Airflow's metadata, made once in `.cache`: the harness makes them for each session of pytest."""
    from airflow_runs import metadata

    return metadata()
