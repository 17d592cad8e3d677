"""A job on YARN whose driver fails; those that succeed are in `system_tests/test_nycflights_on_yarn.py`."""

from __future__ import annotations

import json
import textwrap
import zipfile
from pathlib import Path

import pytest
from airflow_runs import run_dag
from servers.spark_home import spark_home
from servers.yarn import yarn_cluster

from airflow_provider_spark_lineage.testing import tail

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

APPLICATION = """
    from pyspark.sql import SparkSession
    import library

    spark = SparkSession.builder.appName("totals").getOrCreate()
    orders = spark.range(1).selectExpr("int(id) as customer", "double(2.5) as amount")
    orders.write.mode("overwrite").parquet("/data/orders")
    orders = spark.read.parquet("/data/orders")
    totals = orders.groupBy("customer").sum("amount").toDF("customer", library.TOTAL)
    totals.write.parquet("/data/totals")
    spark.read.parquet("/data/nowhere").count()
"""
"""The second attempt finds the totals of the first, and fails there."""


def test_finished_writes_of_the_first_attempt_stay(tmp_path):
    """YARN starts a failed driver a second time; a shared disk has the records of both, until they are read.

    The task configures Hadoop for its own job.
    """
    (tmp_path / "app.py").write_text(textwrap.dedent(APPLICATION))
    with zipfile.ZipFile(tmp_path / "library.zip", "w") as library:
        library.writestr("library.py", "TOTAL = 'total'\n")
    shared = tmp_path / "shared"
    shared.mkdir()
    with yarn_cluster() as yarn:
        spark = yarn.configure(tmp_path / "spark")
        run = run_dag(
            Path(__file__).parent / "dags" / "on_yarn.py",
            home=tmp_path / "airflow",
            timeout_s=1200,
            settings={
                "AIRFLOW_CONN_YARN": json.dumps({"conn_type": "spark", "host": "yarn"}),
                "AIRFLOW__SPARK_LINEAGE__RECORDS": shared.as_uri(),
                "YARN_HOME": str(tmp_path),
                "YARN_VARIABLES": json.dumps(spark),
                **spark_home(),
            },
        )
        output = yarn.printed()
    log = f"{tail(run.log, 60)}\n{output[-5000:]}"
    assert run.tasks == {"fails": "failed"}, log
    (event,) = [item for item in run.read().items if item.name == "on_yarn.fails" and item.type == "fail"]
    assert _lineage(event.document) == (
        ["/data/orders"],
        {"/data/orders": [], "/data/totals": [("customer", "customer"), ("total", "amount")]},
    ), log
    assert output.count("Starting the user application in a separate Thread") == 2
    assert not list(shared.rglob("*.json*")), log


def _lineage(document):
    columns = {}
    for output in document["outputs"]:
        fields = output["facets"].get("columnLineage", {}).get("fields", {})
        columns[output["name"]] = [
            (column, each["field"]) for column in fields for each in fields[column]["inputFields"]
        ]
    return [each["name"] for each in document["inputs"]], columns
