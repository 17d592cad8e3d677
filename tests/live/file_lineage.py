"""Fixtures of live tests of files: places of a test's own, three rows, and the lineage of code.

A module assigns those that it uses to names of its own: the `rows` of `conftest.py` are for other modules.
"""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.runs.executions import executions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture
def path(folder, request):
    """Return places in a folder of the test's own."""
    own = folder / request.node.name.replace("[", "-").replace("]", "")
    return lambda name: str(own / name)


@pytest.fixture
def rows(spark):
    return spark.range(3).selectExpr("id", "concat('n', id) as name", "id % 2 as part").coalesce(1)


@pytest.fixture
def lineage(recorded, path):
    """Run code; return the lineage of all that it did."""

    def run(code):
        with recorded() as records:
            code()
        assert [problem for record in records for problem in record.problems] == []
        return compose(execution.lineage for execution in executions(records))

    return run


def lines(lineage, path, *, counts=False):
    """The readable lineage with the places of one test."""
    text = render(lineage).replace(path(""), "")
    return [line if counts else line.partition("   rows=")[0] for line in text.splitlines()]


@pytest.fixture(params=["", None], ids=["v2", "v1"])
def way(spark, request):
    """Set one of Spark's two ways to read files."""
    if request.param is not None:
        spark.conf.set("spark.sql.sources.useV1SourceList", request.param)
    yield request.param
    spark.conf.unset("spark.sql.sources.useV1SourceList")
