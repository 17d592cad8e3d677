"""Airflow's own `LivyOperator` against Livy's HTTP API, through the listener to the events."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from airflow_runs import run_dag
from servers.driver import RECORD, driver
from servers.livy import livy

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.records.record import encode_record
from airflow_provider_spark_lineage.testing import tail

pytest.importorskip("airflow.providers.apache.livy.operators.livy", reason="needs Airflow's Livy provider")
pytestmark = pytest.mark.airflow

TESTS = Path(__file__).parents[1]
EXTRACTOR = "airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor"


def test_a_batch_has_its_records_its_id_and_its_address(tmp_path):
    """Facts of the driver and no gap; those of another run have another folder."""
    records = tmp_path / "records"
    earlier = records / "recorded" / "earlier" / "application_0_0001-000001.json.gz"
    earlier.parent.mkdir(parents=True)
    earlier.write_bytes(encode_record(RECORD)[1])
    os.utime(earlier, (1, 1))
    with livy(driver) as server:
        run = run_dag(
            TESTS / "launch" / "dags" / "batches.py",
            home=tmp_path / "airflow",
            settings={
                "AIRFLOW__OPENLINEAGE__EXTRACTORS": EXTRACTOR,
                "AIRFLOW__SPARK_LINEAGE__RECORDS": records.as_uri(),
                "AIRFLOW_CONN_SERVER": json.dumps(
                    {"conn_type": "livy", "host": "127.0.0.1", "port": server.port, "schema": "http"}
                ),
                "BATCHES_RECORDS": records.as_uri(),
            },
        )
    assert [batch["file"] for batch in server.batches] == ["s3://jobs/orders.py", "s3://jobs/fails.jar"]
    of = {
        (event.name, event.document["eventType"]): event.document
        for event in run.read().items
        if event.name.startswith("batches.")
    }
    assert [problems_of(event) for event in of.values()] == [[]] * 4
    start, complete = of["batches.recorded", "START"], of["batches.recorded", "COMPLETE"]
    assert (start["inputs"], start["outputs"]) == ([], []), tail(run.log, 40)
    assert complete["outputs"][0]["facets"]["columnLineage"]["fields"]
    facets = complete["run"]["facets"]
    assert "sparkLineage_gaps" not in facets
    address = f"http://127.0.0.1:{server.port}/batches/0"
    assert facets["externalQuery"]["externalQueryId"] == "0"
    assert facets["externalQuery"]["source"] == address
    launch = facets["sparkLineage_launch"]
    assert {name: launch[name] for name in ("service", "runId", "link")} == {
        "service": "Livy",
        "runId": "0",
        "link": address,
    }
    [application] = launch["applications"]
    assert application["main"] == "s3://jobs/orders.py"
    assert application["arguments"].endswith("--password ***")

    failed = of["batches.fails", "FAIL"]
    [application] = failed["run"]["facets"]["sparkLineage_launch"]["applications"]
    assert application == {"type": "jar", "main": "s3://jobs/fails.jar", "mainClass": "org.example.Fails"}
    [gap] = failed["run"]["facets"]["sparkLineage_gaps"]["gaps"]
    assert gap["kind"] == "not_captured"
