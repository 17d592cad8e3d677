"""Records in an object store: the driver writes them there, and the worker reads them, both by Hadoop."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pyspark
import pytest
from airflow_runs import run_dag
from servers.jars import ivy_settings
from servers.s3 import KEYS, s3
from servers.spark_home import spark_home
from spark_packages import S3A_EXCLUDED, s3a_packages

from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.spark,
    pytest.mark.skipif(pyspark.__version__.startswith("3."), reason="Spark 3.5 needs an older S3A"),
]

APPLICATION = """
    import sys
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    spark.range(3).selectExpr("id", "id * 2 as twice").write.parquet(sys.argv[1] + "/in")
    rows = spark.read.parquet(sys.argv[1] + "/in")
    rows.selectExpr("twice + 1 as next").write.parquet("s3a://lake/out")
"""


def _run(home: Path, store: dict[str, str], **settings: str) -> DagRun:
    (home / "app.py").write_text(textwrap.dedent(APPLICATION))
    properties = {**store, "spark.ui.enabled": "false", "spark.jars.ivySettings": ivy_settings().as_uri()}
    (home / "job.conf").write_text("".join(f"{name} {value}\n" for name, value in properties.items()))
    return run_dag(
        Path(__file__).parent / "dags" / "in_s3.py",
        home=home / "airflow",
        timeout_s=900,
        settings={
            "AIRFLOW_CONN_HERE": json.dumps({"conn_type": "spark", "host": "local[1]"}),
            "AIRFLOW__SPARK_LINEAGE__RECORDS": "s3a://lake/records",
            "S3_HOME": str(home),
            "S3_PACKAGES": s3a_packages(),
            "S3_EXCLUDED": ",".join(S3A_EXCLUDED),
            **{f"JOB_{name}": value for name, value in KEYS.items()},
            **spark_home(),
            **settings,
        },
    )


def _complete(run: DagRun):
    (event,) = (
        each.document
        for each in run.read().items
        if each.type == "complete" and "airflow" in each.document["run"]["facets"]
    )
    return event


def test_the_worker_reads_the_records_from_the_store(tmp_path):
    """With the job's own means to reach it: packages, the file of properties, the task's variables."""
    with s3("lake") as store:
        run = _run(tmp_path, store)
    assert run.tasks == {"load": "success"}, tail(run.log, 60)
    event = _complete(run)
    outputs = {output["name"]: output["facets"].get("columnLineage", {}) for output in event["outputs"]}
    assert sorted(outputs) == [f"{tmp_path}/in", "out"], tail(run.log, 60)
    assert list(outputs["out"]["fields"]) == ["next"]
    assert "sparkLineage_gaps" not in event["run"]["facets"], event["run"]["facets"]
