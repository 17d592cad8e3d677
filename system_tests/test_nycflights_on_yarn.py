"""The example pipeline as applications whose drivers are on the cluster."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from servers.spark_home import spark_home
from servers.yarn import yarn_cluster

from system_tests.conftest import RunExample
from system_tests.examples import EXPECTED, variables_of


def test_drivers_on_the_cluster_report_the_same_as_inside_the_task(
    run_example: RunExample, assert_lineage: Callable[..., object], data: Path, tmp_path: Path
) -> None:
    """In YARN's cluster mode, with records in HDFS, all events equal those of `nycflights`, but for the name.

    Each driver gets the packages that the job names: nothing else of the worker is on its path.
    """
    expected = tmp_path / "nycflights_submitted.yaml"
    text = (EXPECTED / "nycflights.yaml").read_text()
    expected.write_text(text.replace("nycflights", "nycflights_submitted"))
    with yarn_cluster() as yarn:
        properties = {
            # The data are on a disk that all machines have, everything else is in HDFS.
            "spark.hadoop.fs.defaultFS": "file:///",
            "spark.yarn.stagingDir": f"{yarn.files}/staging",
            "spark.yarn.appMasterEnv.NYCFLIGHTS_HOME": str(data),
        }
        connection = {"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": "cluster"}}
        settings = {
            "AIRFLOW_CONN_SPARK_CLUSTER": json.dumps(connection),
            "AIRFLOW__SPARK_LINEAGE__RECORDS": f"{yarn.files}/spark-lineage",
            **spark_home(),
            **yarn.configure(tmp_path / "spark", properties),
        }
        try:
            run = run_example("nycflights_submitted", settings=settings, timeout_s=1800)
        finally:
            print(yarn.printed()[-5000:])
    assert_lineage(expected, run, variables=variables_of(data), scope="all")
