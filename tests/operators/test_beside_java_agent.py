"""The real jar of OpenLineage's Java agent beside us: one chain of runs, and no execution twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from airflow_runs import run_dag
from servers.spark_home import spark_home
from spark_packages import java_agent

from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER
from airflow_provider_spark_lineage.testing import tail

ROOT = "01941f29-7c00-7087-8940-40e509050000"
DAG_RUN = {"rootParentRunId": ROOT, "rootParentJobNamespace": "default", "rootParentJobName": "nightly"}
"""The namespace is Airflow's own, as Airflow tells no other to the agent of `spark-submit` (2.20)."""

TASKS = {
    "function": ([], ["orders"]),
    "here": (["orders"], ["here"]),
    "submitted": (["orders"], ["submitted"]),
    "statement": (["orders"], ["statement"]),
}
"""Task -> what it reads and writes."""


@pytest.mark.airflow
@pytest.mark.spark
def test_the_agents_applications_are_children_of_the_tasks(tmp_path: Path):
    """Airflow's option asks for it: in auto-capture, in our operators, in `spark-submit` and in `spark-sql`.

    The agent sends the events of executions, so we send none, and one line of the log says so. The event of
    the task is whole. The root is the one that the DAG run was started with.
    """
    (tmp_path / "program.py").write_text(
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        f"spark.read.parquet('{tmp_path}/orders').write.parquet('{tmp_path}/submitted')\n"
        "spark.stop()\n"
    )
    (tmp_path / "copy.sql").write_text(
        f"insert overwrite directory 'file:{tmp_path}/statement' using parquet\n"
        f"select * from parquet.`{tmp_path}/orders`;\n"
    )
    run = run_dag(
        Path(__file__).parent / "dags" / "beside_java_agent.py",
        home=tmp_path / "airflow",
        conf={"openlineage": DAG_RUN},
        settings={
            "AIRFLOW_CONN_MACHINE": json.dumps({"conn_type": "spark", "host": "local[1]"}),
            "AIRFLOW__OPENLINEAGE__SPARK_INJECT_PARENT_JOB_INFO": "True",
            "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
            "AGENT_HOME": str(tmp_path),
            "AGENT_JAR": str(java_agent()),
            **spark_home(),
        },
    )
    assert run.tasks == dict.fromkeys(TASKS, "success"), tail(run.log, 80)
    events = [item.document for item in run.read().items]
    assert not [event["job"]["name"] for event in events if event["producer"] == PRODUCER]
    assert run.log.read_text().count("Java agent listens to this Spark application") == len(TASKS)
    for name, (inputs, outputs) in TASKS.items():
        [end] = [
            event
            for event in events
            if event["job"]["name"] == f"beside_java_agent.{name}" and event["eventType"] == "COMPLETE"
        ]
        for given, wanted in ((end["inputs"], inputs), (end["outputs"], outputs)):
            assert [Path(dataset["name"]).name for dataset in given] == wanted, name
        identity = {"namespace": end["job"]["namespace"], "name": end["job"]["name"]}
        root = {"run": {"runId": ROOT}, "job": {"namespace": "default", "name": "nightly"}}
        lines = (tmp_path / f"{name}.agent.jsonl").read_text().splitlines()
        parents = [json.loads(line)["run"]["facets"]["parent"] for line in lines]
        of_applications = [parent for parent in parents if parent["job"] == identity]
        assert of_applications, parents
        for parent in of_applications:
            assert parent["run"] == {"runId": end["run"]["runId"]}
            assert parent["root"] == root
