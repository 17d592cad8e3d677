"""The example pipeline as applications that `spark-submit` runs on a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from servers.spark_home import spark_home
from servers.standalone import standalone_cluster

from system_tests.conftest import RunExample
from system_tests.examples import EXPECTED, variables_of


def test_submitted_steps_report_the_same_as_inside_the_task(
    run_example: RunExample, assert_lineage: Callable[..., object], data: Path, tmp_path: Path
) -> None:
    """On a cluster with two workers, all events equal those of `nycflights`, but for the DAG's name."""
    expected = tmp_path / "nycflights_submitted.yaml"
    text = (EXPECTED / "nycflights.yaml").read_text()
    expected.write_text(text.replace("nycflights", "nycflights_submitted"))
    with standalone_cluster() as cluster:
        connection = {"conn_type": "spark", "host": f"spark://{cluster.host}", "port": cluster.port}
        settings = {"AIRFLOW_CONN_SPARK_CLUSTER": json.dumps(connection), **spark_home()}
        run = run_example("nycflights_submitted", settings=settings, timeout_s=1800)
    assert_lineage(expected, run, variables=variables_of(data), scope="all")
