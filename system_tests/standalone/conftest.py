"""Fixtures of the tests on `airflow standalone`: one Airflow and one backend for all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import psutil
import pytest

from system_tests.standalone.backend import Backend
from system_tests.standalone.deployment import Airflow, standalone

DAG_ID = "endings"
DAG_FILE = Path(__file__).parent / "dags" / "endings.py"

MAKE_ORDERS = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
rows = [("ada", 1.0), ("ada", 2.0), ("bob", 3.0), ("cyd", 4.0)]
spark.createDataFrame(rows, "customer string, amount double").coalesce(1).write.parquet(sys.argv[1])
spark.read.parquet(sys.argv[1]).groupBy("customer").sum("amount").collect()
spark.stop()
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """These need minutes, and an environment of their own."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("standalone")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the DAG's data and marks; its path has a space, as many users' have."""
    home = tmp_path_factory.mktemp("endings of tasks")
    command = [sys.executable, "-c", MAKE_ORDERS, str(home / "orders")]
    variables = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, cwd=home, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture(scope="session")
def backend() -> Iterator[Backend]:
    backend = Backend()
    yield backend
    backend.close()


@pytest.fixture(scope="session")
def airflow(home: Path, backend: Backend) -> Iterator[Airflow]:
    """`airflow standalone` with the wheel, as a user sets it up; every process of it ends with the tests."""
    installed = distribution("airflow-provider-spark-lineage").read_text("direct_url.json") or "{}"
    if json.loads(installed).get("dir_info", {}).get("editable"):
        pytest.fail("This environment has the checkout, not a wheel of it: make system-standalone")
    settings = {
        "AIRFLOW__CORE__PARALLELISM": "2",
        "AIRFLOW__OPENLINEAGE__NAMESPACE": "endings",
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps({"type": "http", "url": backend.url}),
        "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
        "ENDINGS_HOME": str(home),
        "SPARK_CONF_DIR": None,
        "SPARK_HOME": None,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    place = home / "airflow"
    with standalone(place, DAG_FILE, DAG_ID, settings) as airflow:
        yield airflow
    left = [process for process in psutil.process_iter() if _belongs_to(process, place)]
    assert left == []


def _belongs_to(process: psutil.Process, home: Path) -> bool:
    try:
        return process.environ().get("AIRFLOW_HOME") == str(home)
    except psutil.Error:
        return False
