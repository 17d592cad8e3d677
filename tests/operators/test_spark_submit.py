"""`SparkSubmitLineageOperator` is Airflow's own, and reports the lineage of an application on a cluster."""

from __future__ import annotations

import inspect
import json
import textwrap
import zipfile
from pathlib import Path

import pytest
from airflow_runs import run_dag
from gap_kinds import gap_kinds
from servers.spark_home import spark_home
from servers.standalone import Cluster, standalone_cluster

from airflow_provider_spark_lineage.testing import DagRun, tail

APPLICATION = """
    import os, pathlib, signal, sys, time
    from pyspark.sql import SparkSession
    import library

    home, name = sys.argv[1:]
    spark = SparkSession.builder.appName(name).getOrCreate()
    orders = spark.createDataFrame([(1, 2.5)], "customer int, amount double")
    orders.write.mode("overwrite").parquet(f"{home}/{name}/orders")
    orders = spark.read.parquet(f"{home}/{name}/orders")
    totals = orders.groupBy("customer").sum("amount").toDF("customer", library.TOTAL)
    totals.write.parquet(f"{home}/{name}/totals")
    if name == "killed":
        records = pathlib.Path(spark.conf.get("spark.lineage.records"))
        while len(list(records.glob("*.record.json.gz"))) < 2:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.airflow
def test_arguments_and_templates_are_those_of_airflow():
    """A DAG author changes the class name and nothing else."""
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

    from airflow_provider_spark_lineage.operators.spark_submit import SparkSubmitLineageOperator

    assert issubclass(SparkSubmitLineageOperator, SparkSubmitOperator)
    assert inspect.signature(SparkSubmitLineageOperator.__init__) == inspect.signature(
        SparkSubmitOperator.__init__
    )
    for name in ("template_fields", "template_ext", "ui_color", "shallow_copy_attrs"):
        assert getattr(SparkSubmitLineageOperator, name) == getattr(SparkSubmitOperator, name)


@pytest.fixture(scope="module")
def cluster():
    with standalone_cluster() as cluster:
        yield cluster


def _run(home: Path, cluster: Cluster, **settings: str) -> DagRun:
    (home / "app.py").write_text(textwrap.dedent(APPLICATION))
    with zipfile.ZipFile(home / "library.zip", "w") as library:
        library.writestr("library.py", "TOTAL = 'total'\n")
    connection = {"conn_type": "spark", "host": f"spark://{cluster.host}", "port": cluster.port}
    return run_dag(
        Path(__file__).parent / "dags" / "submitted.py",
        home=home / "airflow",
        timeout_s=1800,
        settings={
            "AIRFLOW_CONN_CLUSTER": json.dumps(connection),
            "SUBMIT_HOME": str(home),
            **spark_home(),
            **settings,
        },
    )


@pytest.mark.airflow
@pytest.mark.spark
def test_a_submitted_application_reports_its_lineage(tmp_path, cluster):
    """In client mode each task, mapped ones too, has its own datasets.

    The last event of a task with a killed driver has its ended executions, and a gap for others.
    """
    run = _run(tmp_path, cluster)
    states = {"whole": "success", "parts[0]": "success", "parts[1]": "success", "killed": "failed"}
    assert run.tasks == states, tail(run.log, 60)
    problems = "the driver has written nothing"
    assert problems not in run.log.read_text()
    edges = {}
    for event in run.read().items:
        if event.type in ("complete", "fail") and "airflow" in event.document["run"]["facets"]:
            instance = event.document["run"]["facets"]["airflow"]["taskInstance"].get("map_index", -1)
            edges[event.name, instance, event.type] = datasets(event.document, tmp_path)
    assert edges == {
        (f"submitted.{task}", instance, end): (
            [f"{name}/orders"],
            {f"{name}/orders": [], f"{name}/totals": [("customer", "customer"), ("total", "amount")]},
        )
        for task, instance, end, name in (
            ("whole", -1, "complete", "whole"),
            ("parts", 0, "complete", "part one"),
            ("parts", 1, "complete", "part two"),
            ("killed", -1, "fail", "killed"),
        )
    }
    (failed,) = [
        event for event in run.read().items if (event.name, event.type) == ("submitted.killed", "fail")
    ]
    assert "not_recorded" in gap_kinds(failed.document)


def datasets(document, home):
    """Return the inputs, and pairs of a column and its field by output; paths are those below `home`."""

    def name(dataset):
        return dataset["name"].removeprefix(f"{home}/")

    columns = {}
    for output in document["outputs"]:
        fields = output["facets"].get("columnLineage", {}).get("fields", {})
        pairs = [(column, each["field"]) for column in fields for each in fields[column]["inputFields"]]
        columns[name(output)] = pairs
    return [name(each) for each in document["inputs"]], columns
