"""Lineage from the text of a job: on START, and on COMPLETE if its driver has written nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from airflow_runs import run_dag
from gap_kinds import gap_kinds

from airflow_provider_spark_lineage.testing import tail

JOB = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.read.parquet("s3://lake/orders").write.parquet(f"s3://lake/{sys.argv[1]}")
"""

CORE_SITE = """<?xml version="1.0"?>
<configuration><property><name>fs.defaultFS</name><value>{}</value></property></configuration>
"""


def planned(operator):
    lineage = operator.get_openlineage_facets_on_start()
    return [each.name for each in lineage.inputs], [each.name for each in lineage.outputs]


@pytest.mark.airflow
def test_start_has_the_datasets_of_statements(tmp_path):
    """From text and from a file."""
    from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

    text = "insert overwrite directory 's3://lake/out' using parquet select * from parquet.`s3://lake/in`"
    (tmp_path / "copy.hql").write_text(text)
    for sql in (text, str(tmp_path / "copy.hql")):
        assert planned(SparkSqlLineageOperator(task_id="copy", sql=sql)) == (["in"], ["out"])


@pytest.mark.airflow
@pytest.mark.parametrize("sql", ["insert into totals select * from orders", "insert into", "'"])
def test_start_names_nothing_where_the_text_leaves_something_open(sql):
    """A table is named by its location, which the text does not have: another name would be false."""
    from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

    assert planned(SparkSqlLineageOperator(task_id="copy", sql=sql)) == ([], [])


@pytest.mark.airflow
@pytest.mark.parametrize("place", ["conf", "HADOOP_CONF_DIR", "SPARK_CONF_DIR"])
def test_start_has_paths_in_the_file_system_that_the_job_will_use(tmp_path, monkeypatch, place):
    """A property of the job, else Hadoop's configuration on this machine."""
    from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator

    without_configuration(monkeypatch, tmp_path)
    conf = {}
    if place == "conf":
        conf = {"spark.hadoop.fs.defaultFS": "hdfs://nn:8020"}
    else:
        monkeypatch.setenv(place, str(tmp_path))
        (tmp_path / "core-site.xml").write_text(CORE_SITE.format("hdfs://nn:8020"))
    operator = SparkSubmitLineageOperator(task_id="copy", application=copies(tmp_path), conf=conf)
    lineage = operator.get_openlineage_facets_on_start()
    named = [(each.namespace, each.name) for each in (*lineage.inputs, *lineage.outputs)]
    assert named == [("hdfs://nn:8020", "/in"), ("hdfs://nn:8020", "/out")]


@pytest.mark.airflow
@pytest.mark.parametrize("text", [None, CORE_SITE.format("hdfs://${nn}"), "<configuration>"])
def test_start_has_a_gap_for_an_unknown_file_system(tmp_path, monkeypatch, text):
    """No configuration, one that refers to a variable, one that is broken."""
    from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator

    without_configuration(monkeypatch, tmp_path)
    if text is not None:
        monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
        (tmp_path / "core-site.xml").write_text(text)
    operator = SparkSubmitLineageOperator(task_id="copy", application=copies(tmp_path))
    lineage = operator.get_openlineage_facets_on_start()
    assert (lineage.inputs, lineage.outputs) == ([], [])
    (gap,) = lineage.run_facets["sparkLineage_gaps"].gaps
    assert gap.kind == "no_file_system"


def copies(folder):
    """Return an application whose paths have no scheme."""
    application = folder / "copy.py"
    application.write_text(JOB.replace("s3://lake/orders", "/in").replace("s3://lake/{sys.argv[1]}", "/out"))
    return str(application)


def without_configuration(monkeypatch, folder):
    """Hide this machine's configuration of Spark and Hadoop."""
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    (folder / "spark" / "conf").mkdir(parents=True)
    monkeypatch.setenv("SPARK_HOME", str(folder / "spark"))


@pytest.mark.airflow
def test_a_job_without_records_has_the_lineage_of_its_text(tmp_path):
    """A gap says that this is the text's lineage, and why."""
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
    assert {"not_captured", "planned"} <= {*gap_kinds(complete)}
