"""What the text of a job says: on START, and on COMPLETE where its driver has written nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from airflow_runs import run_dag

from airflow_provider_spark_lineage.testing import tail

JOB = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.read.parquet("s3://lake/orders").write.parquet(f"s3://lake/{sys.argv[1]}")
"""


def planned(operator):
    lineage = operator.get_openlineage_facets_on_start()
    return [each.name for each in lineage.inputs], [each.name for each in lineage.outputs]


@pytest.mark.airflow
def test_start_names_what_statements_say(tmp_path):
    """From text and from a file."""
    from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

    text = "insert overwrite directory 's3://lake/out' using parquet select * from parquet.`s3://lake/in`"
    (tmp_path / "copy.hql").write_text(text)
    for sql in (text, str(tmp_path / "copy.hql")):
        assert planned(SparkSqlLineageOperator(task_id="copy", sql=sql)) == (["in"], ["out"])


@pytest.mark.airflow
@pytest.mark.parametrize("sql", ["insert into totals select * from orders", "insert into", "'"])
def test_start_names_nothing_where_the_text_leaves_something_open(sql):
    """A table has its name by where it lies, which the text does not say: another name would be false."""
    from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

    assert planned(SparkSqlLineageOperator(task_id="copy", sql=sql)) == ([], [])


@pytest.mark.airflow
def test_a_job_whose_driver_wrote_nothing_has_what_its_text_says(tmp_path):
    """The event says that this is not what ran, and why."""
    (tmp_path / "job.py").write_text(JOB)
    nothing = tmp_path / "bin" / "spark-submit"
    nothing.parent.mkdir()
    nothing.write_text("#!/bin/sh\n")
    nothing.chmod(0o755)
    run = run_dag(
        Path(__file__).parent / "dags" / "planned.py",
        home=tmp_path / "airflow",
        settings={
            "AIRFLOW_CONN_MACHINE": json.dumps({"conn_type": "spark", "host": "local[1]"}),
            "PATH": f"{nothing.parent}{os.pathsep}{os.environ['PATH']}",
            "PLANNED_APPLICATION": str(tmp_path / "job.py"),
        },
    )
    assert run.state == "success", tail(run.log, 40)
    (start, complete) = (event.document for event in run.read().items if event.name == "planned.job")
    for event in (start, complete):
        assert [each["name"] for each in event["inputs"]] == ["orders"]
        assert [each["name"] for each in event["outputs"]] == ["job"]
    reasons = [gap["reason"] for gap in complete["run"]["facets"]["sparkLineage_gaps"]["gaps"]]
    assert any("the driver has written nothing" in reason for reason in reasons)
    assert any("not what ran" in reason for reason in reasons)
