"""Metadata of the wheel: what a package index shows, and by which words it is found there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage import __version__

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def metadata() -> Any:
    core = pytest.importorskip("hatchling.metadata.core")
    plugin = pytest.importorskip("hatchling.plugin.manager")
    return core.ProjectMetadata(str(ROOT), plugin.PluginManager()).core


def test_index_shows_a_description_a_license_and_the_version(metadata: Any) -> None:
    """README is the description; its license file is in the wheel."""
    assert metadata.version == __version__
    assert metadata.readme.startswith(f"# {metadata.name}\n")
    assert metadata.readme_content_type == "text/markdown"
    assert (metadata.license_expression, metadata.license_files) == ("Apache-2.0", ["LICENSE"])
    assert 20 < len(metadata.description) < 200


def test_classifiers_are_those_that_indexes_know(metadata: Any) -> None:
    """An index refuses a wheel with an unknown one."""
    trove = pytest.importorskip("trove_classifiers")
    assert set(metadata.classifiers) <= set(trove.classifiers)
    assert not set(metadata.classifiers) & set(trove.deprecated_classifiers)
    assert metadata.keywords == sorted(set(metadata.keywords))


def test_classifiers_name_the_versions_of_python_that_are_required(metadata: Any) -> None:
    """Both are read by people; pip reads one of them."""
    named = {text for text in metadata.classifiers if re.search(r":: 3\.\d+$", text)}
    [oldest, newest] = re.fullmatch(r"<3\.(\d+),>=3\.(\d+)", metadata.requires_python).groups()[::-1]
    assert named == {
        f"Programming Language :: Python :: 3.{minor}" for minor in range(int(oldest), int(newest))
    }


def test_addresses_are_those_of_a_repository_that_exists(metadata: Any) -> None:
    """There is none in pyproject.toml, so the wheel names none; hatch_build.py makes them from it."""
    assert bool(metadata.urls) == bool(
        re.search(r'^repository = "[^"]+"', (ROOT / "pyproject.toml").read_text(), re.M)
    )
