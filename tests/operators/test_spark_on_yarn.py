"""Jobs on YARN whose driver is in a container: the worker reads what it left in a shared place."""

from __future__ import annotations

import json
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest
from servers.spark_home import spark_home
from servers.yarn import Yarn, yarn_cluster

from airflow_provider_spark_lineage.testing import DagRun, run_dag, tail

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

APPLICATION = """
    import sys
    from pyspark.sql import SparkSession
    import library

    home, name = sys.argv[1:]
    spark = SparkSession.builder.appName(name).getOrCreate()
    orders = spark.range(1).selectExpr("int(id) as customer", "double(2.5) as amount")
    orders.write.mode("overwrite").parquet(f"{home}/{name}/orders")
    orders = spark.read.parquet(f"{home}/{name}/orders")
    totals = orders.groupBy("customer").sum("amount").toDF("customer", library.TOTAL)
    totals.write.parquet(f"{home}/{name}/totals")
    if name == "fails":
        spark.read.parquet(f"{home}/nowhere").count()
"""


FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def yarn():
    with yarn_cluster() as yarn:
        yield yarn


def _run(home: Path, yarn: Yarn, records: str, **places: str) -> DagRun:
    (home / "app.py").write_text(textwrap.dedent(APPLICATION))
    with zipfile.ZipFile(home / "library.zip", "w") as library:
        library.writestr("library.py", "TOTAL = 'total'\n")
    spark = spark_home()
    # A checkout's path may have a space; Spark takes these for a URI and for a word of a shell.
    environment = home / "environment"
    environment.symlink_to(sys.prefix)
    jars = environment / Path(spark["SPARK_HOME"]).relative_to(sys.prefix) / "jars"
    conf = {
        "spark.ui.enabled": "false",
        "spark.pyspark.python": str(environment / "bin" / "python"),
        # Otherwise Spark sends all its jars to the cluster.
        "spark.yarn.jars": f"local:{jars}/*",
        "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
        "spark.driver.extraJavaOptions": FAST,
        "spark.executor.extraJavaOptions": FAST,
        "spark.sql.shuffle.partitions": "1",
    }
    return run_dag(
        Path(__file__).parent / "dags" / "on_yarn.py",
        home=home / "airflow",
        timeout_s=1800,
        settings={
            "AIRFLOW_CONN_WORKER": json.dumps({"conn_type": "spark", "host": "local[1]"}),
            "AIRFLOW_CONN_YARN": json.dumps({"conn_type": "spark", "host": "yarn"}),
            "AIRFLOW__SPARK_LINEAGE__RECORDS": records,
            "YARN_HOME": str(home),
            "YARN_CONF": json.dumps(conf),
            "YARN_CONF_DIR_OF_TASK": str(yarn.conf),
            "YARN_TASKS": json.dumps(places),
            **spark,
        },
    )


def _ends(run: DagRun) -> dict[tuple[str, str], object]:
    """Return the inputs, outputs with their columns, and gaps of the last event of each task."""
    ends = {}
    for event in run.read().items:
        if event.type in ("complete", "fail") and "airflow" in event.document["run"]["facets"]:
            name = event.name.partition(".")[2]
            ends[name, event.type] = _lineage(event.document, f"/data/{name}/")
    return ends


def _lineage(document, folder):
    columns = {}
    for output in document["outputs"]:
        fields = output["facets"].get("columnLineage", {}).get("fields", {})
        pairs = [(column, each["field"]) for column in fields for each in fields[column]["inputFields"]]
        columns[output["name"].removeprefix(folder)] = pairs
    inputs = [each["name"].removeprefix(folder) for each in document["inputs"]]
    gaps = document["run"]["facets"].get("sparkLineage_gaps", {})
    return inputs, columns, gaps


LINEAGE = ["orders"], {"orders": [], "totals": [("customer", "customer"), ("total", "amount")]}


def test_a_driver_on_the_cluster_reports_what_one_on_the_worker_reports(tmp_path, yarn):
    """YARN gives the driver the agent's zip; the worker gets the records from HDFS by the task's settings.

    YARN starts a driver that failed a second time: what the first one had finished stays.
    """
    run = _run(tmp_path, yarn, "hdfs:///spark-lineage", here="worker", there="cluster", fails="cluster")
    said = f"{tail(run.log, 60)}\n{yarn.said()[-5000:]}"
    assert run.tasks == {"here": "success", "there": "success", "fails": "failed"}, said
    ends = _ends(run)
    assert {name: (inputs, outputs) for name, (inputs, outputs, _) in ends.items()} == {
        ("here", "complete"): LINEAGE,
        ("there", "complete"): LINEAGE,
        ("fails", "fail"): LINEAGE,
    }, said
    # One attempt at what succeeds, and two at what fails.
    assert yarn.said().count("Starting the user application in a separate Thread") == 3


def test_a_shared_disk_is_a_place_for_records(tmp_path, yarn):
    """The files are removed when they have been read."""
    shared = tmp_path / "shared"
    shared.mkdir()
    run = _run(tmp_path, yarn, shared.as_uri(), disk="cluster")
    said = f"{tail(run.log, 60)}\n{yarn.said()[-5000:]}"
    assert run.tasks == {"disk": "success"}, said
    assert _ends(run)["disk", "complete"][:2] == LINEAGE, said
    assert not list(shared.rglob("*.json*")), said
