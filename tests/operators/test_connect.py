"""Tasks with a connection of the kind `spark_connect`: a session on a server has the same lineage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from airflow_runs import run_dag
from servers.connect import connect

from airflow_provider_spark_lineage.testing import tail

pytestmark = [pytest.mark.spark, pytest.mark.airflow]


def test_tasks_with_a_connection_to_a_server_report_their_lineage(tmp_path):
    """By our operator and decorator; a task that fails keeps its finished writes."""
    with connect(tmp_path) as url:
        host, _, port = url.rpartition(":")
        run = run_dag(
            Path(__file__).parent / "dags" / "remote.py",
            home=tmp_path / "airflow",
            settings={
                "AIRFLOW_CONN_SERVER": json.dumps(
                    {"conn_type": "spark_connect", "host": host, "port": int(port)}
                ),
                "REMOTE_HOME": str(tmp_path),
            },
        )
    assert run.tasks == {"make": "success", "totals": "success", "fails": "failed"}, tail(run.log, 60)
    ended = {
        event.name: event.document
        for event in run.read().items
        if event.type in ("complete", "fail")
        and "taskInstance" in event.document["run"]["facets"].get("airflow", {})
    }
    edges = {
        (output["name"], column, origin["name"], origin["field"])
        for document in ended.values()
        for output in document["outputs"]
        for column, entry in output["facets"].get("columnLineage", {"fields": {}})["fields"].items()
        for origin in entry["inputFields"]
    }
    totals = f"{tmp_path}/warehouse/totals"
    assert edges == {
        (totals, "customer", f"{tmp_path}/orders", "customer"),
        (totals, "total", f"{tmp_path}/orders", "amount"),
        (f"{tmp_path}/kept", "customer", totals, "customer"),
        (f"{tmp_path}/kept", "total", totals, "total"),
    }
    assert "no more" in ended["remote.fails"]["run"]["facets"]["errorMessage"]["message"]
    assert not any("sparkLineage_gaps" in document["run"]["facets"] for document in ended.values())
