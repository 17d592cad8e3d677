"""Jobs of `tests/records` on Spark Connect: the lineage that is golden for classic sessions.

Counts are left out: the server does not send those of writes. `docs/connect.md` has the other differences.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pyspark
import pytest
from servers.connect import client, connect

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.runs.executions import executions

pytestmark = pytest.mark.spark

RECORDS = Path(__file__).resolve().parents[1] / "records"
CASES = (
    "cached_table",
    "checkpoint",
    "ctas",
    "describe",
    "insert_directory",
    "insert_dynamic_partition",
    "insert_into",
    "insert_into_method",
    "made_if_absent",
    "map_in_pandas",
    "multi_insert",
    "partitioned_write",
    "pivot",
    "python_udf",
    "rename_tables",
    "save_as_table",
    "self_append",
    "subquery_scalar",
    "temp_view",
    "view_created_in_job",
    "view_kept",
    "write_ignored",
)
"""One of each way to read and to write."""

FAILS_TO_DO_NOTHING = "its server fails a write that does nothing"
LACKS = {
    ("3.5", "checkpoint"): "its client has no checkpoint",
    ("3.5", "pivot"): "the plan is a gap, because Spark would run a job for it",
    ("3.5", "write_ignored"): FAILS_TO_DO_NOTHING,
    ("4.0", "write_ignored"): FAILS_TO_DO_NOTHING,
    ("4.2", "python_udf"): "it hangs, in any session, where a Python UDF reads what another one leaves",
}

ORDERS = [
    (1, "ann", "pen", 2.5, 4, "2024-01-01", ["new", "gift"]),
    (2, "bob", "ink", 7.0, 1, "2024-01-01", []),
    (3, "ann", "pad", 1.0, 9, "2024-01-02", ["new"]),
]
PEOPLE = [("ann", "Ann A", "Rome", 30), ("bob", "Bob B", "Oslo", 41), ("eve", "Eve E", "Rome", 25)]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("cases") / "case"


@pytest.fixture(scope="module")
def url(root, tmp_path_factory):
    conf = {
        "spark.sql.warehouse.dir": str(root / "warehouse"),
        "spark.checkpoint.dir": str(root / "checkpoints"),
        # As of Spark 4.0.
        "spark.sql.legacy.createHiveTableByDefault": "false",
    }
    with connect(tmp_path_factory.mktemp("connect"), **conf) as url:
        yield url


def job_of(case):
    spec = importlib.util.spec_from_file_location(f"connect_case_{case}", RECORDS / case / "job.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines(text):
    """The lines of a text without counts and versions."""
    return [re.sub(r"   (rows|files|size|bytes)=.*| version=\S+", "", line) for line in text.splitlines()]


@pytest.mark.parametrize("case", CASES)
def test_lineage_equals_that_of_a_classic_session(url, root, recorded, case):
    """The same job has the same datasets, columns and edges, and no gap that the classic one has not."""
    release = pyspark.__version__[:3]
    if (release, case) in LACKS:
        pytest.skip(f"Spark {release}: {LACKS[release, case]}")
    shutil.rmtree(root, ignore_errors=True)
    (root / "warehouse").mkdir(parents=True)
    module = job_of(case)

    def path(name):
        return str(root / name)

    with client(url) as spark:
        for table in spark.catalog.listTables():
            kind = "view" if table.tableType == "VIEW" else "table"
            spark.sql(f"drop {kind} if exists `{table.name}`")
        orders = "id bigint, customer string, item string, amount double, quantity int, day string, "
        spark.createDataFrame(ORDERS, orders + "tags array<string>").coalesce(1).write.parquet(path("orders"))
        people = "customer string, name string, city string, age int"
        spark.createDataFrame(PEOPLE, people).coalesce(1).write.parquet(path("people"))
        if hasattr(module, "setup"):
            module.setup(spark, path)
        with recorded() as records:
            module.job(spark, path)
    text = render(compose(execution.lineage for execution in executions(records)))
    golden = (RECORDS / case / "lineage.txt").read_text()
    assert lines(text.replace(str(root), "/data")) == lines(golden)
