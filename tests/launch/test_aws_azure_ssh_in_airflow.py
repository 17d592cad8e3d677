"""Airflow's operators of AWS, Azure and SSH against local services, through the listener to the events."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from airflow_runs import run_dag
from gap_kinds import gap_kinds
from launch.services.aws_azure_ssh_rows import Row, rows
from providers import import_or_skip

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.testing import DagRun, tail

# One run of Airflow serves all rows.
pytestmark = [pytest.mark.airflow, pytest.mark.xdist_group("aws_azure_ssh")]

TESTS = Path(__file__).parents[1]
EXTRACTOR = "airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor"
FAMILIES = {
    "amazon": "airflow.providers.amazon.aws.operators.glue",
    "azure": "airflow.providers.microsoft.azure.operators.synapse",
    "ssh": "airflow.providers.ssh.operators.ssh",
}
GLUE = """
import sys
from awsglue.utils import getResolvedOptions
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.read.parquet(sys.argv[2]).write.parquet(sys.argv[4])
"""


def is_there(family: str) -> bool:
    try:
        importlib.import_module(FAMILIES[family])
    except ImportError:
        return False
    return True


class Ended:
    """The run of all tasks, and the contents of the services."""

    def __init__(self, run: DagRun, jobs: Path, run_ids: list[str]) -> None:
        self.run = run
        self.jobs = jobs
        self.run_ids = run_ids

    def events(self, task: str) -> list[dict[str, Any]]:
        name = f"aws_azure_ssh.{task}"
        return [event.document for event in self.run.read().items if event.name == name]


@pytest.fixture(scope="module")
def ended(tmp_path_factory) -> Ended:
    """One run for all rows whose providers are there: Airflow takes longer to start than a task."""
    from launch.services.aws_azure_ssh_rows import COPY
    from servers.driver import driver

    folder = tmp_path_factory.mktemp("elsewhere")
    jobs = folder / "jobs"
    jobs.mkdir()
    (jobs / "glue.py").write_text(GLUE)
    (jobs / "copy.sql").write_text(COPY)
    records = (folder / "records").as_uri()
    families = [family for family in FAMILIES if is_there(family)]
    settings = {
        "AIRFLOW__OPENLINEAGE__EXTRACTORS": EXTRACTOR,
        "AIRFLOW__SPARK_LINEAGE__RECORDS": records,
        "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
        "ELSEWHERE_FAMILIES": " ".join(families),
        "ELSEWHERE_RECORDS": records,
        "ELSEWHERE_JOBS": str(jobs),
    }
    run_ids: list[str] = []
    with contextlib.ExitStack() as servers:
        if "amazon" in families:
            from servers.aws import KEYS, REGION, ROLE, aws

            services = servers.enter_context(aws(driver))
            run_ids = services.run_ids
            extra = {"endpoint_url": services.url, "region_name": REGION}
            settings |= {
                "AIRFLOW_CONN_AWS_DEFAULT": connection("aws", *KEYS.values(), extra=extra),
                "ELSEWHERE_CLUSTER": services.cluster,
                "ELSEWHERE_APPLICATION": services.application,
                "ELSEWHERE_VIRTUAL_CLUSTER": services.virtual_cluster,
                "ELSEWHERE_BUCKET": services.bucket,
                "ELSEWHERE_ROLE": ROLE,
            }
        if "azure" in families:
            from servers.certificate import write_certificate
            from servers.livy import livy

            certificate = write_certificate(folder / "synapse.pem")
            port = servers.enter_context(livy(driver, certificate)).port
            url = f"https://127.0.0.1:{port}"
            settings |= {
                "AIRFLOW_CONN_SYNAPSE": connection("azure_synapse", host=url, extra={"subscriptionId": "s"}),
                # Azure's client takes its token here, and trusts this certificate.
                "IDENTITY_ENDPOINT": f"{url}/token",
                "IDENTITY_HEADER": "local",
                "REQUESTS_CA_BUNDLE": str(certificate),
            }
        if "ssh" in families:
            from servers.commands import write_commands
            from servers.ssh import ssh, ssh_connection

            commands = write_commands(folder / "bin")
            port = servers.enter_context(ssh({"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"}))
            settings["AIRFLOW_CONN_MACHINE"] = ssh_connection(port)
        run = run_dag(
            TESTS / "launch" / "dags" / "aws_azure_ssh.py", home=folder / "airflow", settings=settings
        )
    return Ended(run, jobs, run_ids)


def connection(conn_type: str, login: str | None = None, password: str | None = None, **fields: Any) -> str:
    return json.dumps({"conn_type": conn_type, "login": login, "password": password, **fields})


def names(event: dict[str, Any]) -> tuple[list[str], list[str]]:
    def last(datasets: list[dict[str, Any]]) -> list[str]:
        return [dataset["name"].rpartition("/")[2] for dataset in datasets]

    return last(event["inputs"]), last(event["outputs"])


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.task)
def test_an_operator_of_a_service(row: Row, ended: Ended):
    """The launched application, its id, and its inputs and outputs from the records or the text."""
    if "SPARK_LINEAGE_SERVICES" not in os.environ:
        import_or_skip(FAMILIES[row.family], "needs this provider of Airflow: make services")
    events = ended.events(row.task)
    end = "FAIL" if row.fails else "COMPLETE"
    assert [event["eventType"] for event in events] == ["START", end], tail(ended.run.log, 60)
    start, last = events
    assert [problems_of(event) for event in events] == [[], []]
    applications = [
        {name: value.replace("{jobs}", str(ended.jobs)) for name, value in application.items()}
        for application in row.applications
    ]
    for event in events:
        launch = event["run"]["facets"]["sparkLineage_launch"]
        assert launch["applications"] == applications
        assert launch.get("service", "") == row.service
    assert names(start) == row.start
    assert names(last) == row.end
    # START has the datasets of a text, or the reason why it has none.
    assert bool(gap_kinds(start)) == (names(start) == ([], []))
    assert gap_kinds(last) == [*row.gaps]

    launch = last["run"]["facets"]["sparkLineage_launch"]
    run_id = launch.get("runId", "")
    assert bool(run_id) == row.has_run_id
    assert launch.get("link", "") == row.link.format(run_id)
    if run_id:
        assert last["run"]["facets"]["externalQuery"]["externalQueryId"] == run_id
        assert row.family != "amazon" or run_id in ended.run_ids
