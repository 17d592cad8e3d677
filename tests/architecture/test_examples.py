"""Examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import airflow_provider_spark_lineage

PACKAGE = Path(airflow_provider_spark_lineage.__file__).parent
MODULES = [
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for file in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in file.read_text()
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings_are_true(module: str) -> None:
    """Each is run, unless it says that it needs Spark, and prints the output below it."""
    assert not doctest.testmod(importlib.import_module(module)).failed
