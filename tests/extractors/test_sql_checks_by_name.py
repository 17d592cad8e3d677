"""Checks by Spark, by a Spark Thrift server and by PostgreSQL are about the datasets that a job wrote."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from airflow_runs import run_dag
from providers import import_of_service
from servers.jars import jar
from servers.postgres import postgres
from servers.thrift import thrift
from spark_packages import coordinate

from airflow_provider_spark_lineage.testing import tail

pytestmark = [pytest.mark.spark, pytest.mark.airflow]

EXTRACTOR = "airflow_provider_spark_lineage.extractors.checks.SqlCheckExtractor"

FOUND = {
    ("not_null", "id", True),
    ("unique", "id", True),
    ("min", "amount", True),
    ("max", "amount", False),
}


def test_the_same_results_are_at_the_dataset_that_the_job_wrote(tmp_path):
    """Namespace and name are equal, so a backend shows the results at the written dataset."""
    hive = import_of_service("pyhive.hive")
    import_of_service("airflow.providers.apache.hive.hooks.hive")
    import_of_service("airflow.providers.postgres.hooks.postgres")
    files = f"{tmp_path}/orders"
    with thrift(tmp_path) as port, postgres() as url:
        connection = hive.connect(host="127.0.0.1", port=port, auth="NOSASL", username="tests")
        cursor = connection.cursor()
        cursor.execute("CREATE DATABASE shop")
        cursor.execute(f"CREATE TABLE shop.orders (id INT, amount INT) USING parquet LOCATION '{files}'")
        connection.close()
        database = urlsplit(url.removeprefix("jdbc:"))
        login = {"host": "127.0.0.1", "login": "tests"}
        server = {**login, "conn_type": "hiveserver2", "port": port, "extra": {"auth_mechanism": "NOSASL"}}
        of_database = {**login, "conn_type": "postgres", "port": database.port, "schema": "postgres"}
        run = run_dag(
            Path(__file__).parent / "dags" / "checks_by_name.py",
            home=tmp_path / "airflow",
            settings={
                "AIRFLOW__OPENLINEAGE__EXTRACTORS": EXTRACTOR,
                "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
                "AIRFLOW_CONN_SERVER": json.dumps(server),
                "AIRFLOW_CONN_DATABASE": json.dumps(of_database),
                "CHECKS_FILES": files,
                "CHECKS_URL": url,
                "CHECKS_JAR": str(jar(coordinate("postgresql"))),
            },
        )
    checks = ("ours", "thrift", "postgres")
    assert run.tasks == {"writes": "success", **dict.fromkeys(checks, "failed")}, tail(run.log, 60)
    ends = {
        event.name.partition(".")[2]: event.document
        for event in run.read().items
        if event.name.count(".") == 1 and event.type in ("complete", "fail")
    }
    written = [(output["namespace"], output["name"]) for output in ends["writes"]["outputs"]]
    of_files, of_table = sorted(written)
    assert of_files == ("file", files)
    for check, dataset in (("ours", of_files), ("thrift", of_files), ("postgres", of_table)):
        [read] = ends[check]["inputs"]
        assert (read["namespace"], read["name"]) == dataset
        assertions = read["inputFacets"]["dataQualityAssertions"]["assertions"]
        found = {(each["assertion"], each["column"], each["success"]) for each in assertions}
        assert (found, len(assertions)) == (FOUND, len(FOUND)), check
