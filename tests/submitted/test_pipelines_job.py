"""Changes to the hook of a declarative pipeline, and the folder where the pipeline runs."""

from __future__ import annotations

import json

import pytest

from airflow_provider_spark_lineage.airflow.submitted.jobs import ON_SERVER, SparkPipelinesJob

pytestmark = pytest.mark.airflow


@pytest.fixture
def job(monkeypatch):
    """Make the job of a real hook, which the Spark provider has since 5.6."""
    hooks = pytest.importorskip("airflow.providers.apache.spark.hooks.spark_pipelines")
    monkeypatch.setenv("AIRFLOW_CONN_MACHINE", json.dumps({"conn_type": "spark", "host": "local[1]"}))
    monkeypatch.setenv(
        "AIRFLOW_CONN_SERVER", json.dumps({"conn_type": "spark_connect", "host": "far", "port": 1})
    )
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)

    def of(conn_id, **arguments):
        return SparkPipelinesJob(hooks.SparkPipelinesHook(conn_id=conn_id, **arguments), "")

    return of


def test_a_server_elsewhere_is_an_obstacle(job):
    """Whoever sets the address of a server in the process itself runs the pipeline here."""
    from airflow.providers.apache.spark.hooks.spark_pipelines import SparkPipelinesHook

    if "_resolve_connection" not in vars(SparkPipelinesHook):
        pytest.skip("this provider's hook does not know connections of Spark Connect")
    assert job("server").obstacle == ON_SERVER
    assert job("server", env_vars={"SPARK_REMOTE": "sc://other"}).obstacle == ON_SERVER
    assert job("server", env_vars={"SPARK_REMOTE": "local[2]"}).obstacle == ""
    assert job("machine").obstacle == ""


def test_properties_do_not_go_where_spark_loses_them(job):
    """Of more than ten `--conf`, Spark keeps some: with ours there, a user's would be lost."""
    machine = job("machine", conf={"spark.a": "1"})
    machine.add({"spark.b": "two words"})
    assert machine.hook._conf == {"spark.a": "1"}
    assert machine.hook._env == {"PYSPARK_SUBMIT_ARGS": "--conf 'spark.b=two words' pyspark-shell"}
    assert machine.hook._env_vars is None


def test_the_users_settings_stay_and_count(job):
    """Their options come last, so that theirs is the value where both have one."""
    given = {"PYSPARK_SUBMIT_ARGS": "--jars a.jar --conf spark.b=theirs pyspark-shell", "OTHER": "x"}
    server = job("server", env_vars=given)
    assert server.properties["spark.b"] == "theirs"
    server.add({"spark.b": "ours"})
    assert server.hook._env_vars == {
        "PYSPARK_SUBMIT_ARGS": "--conf spark.b=ours --jars a.jar --conf spark.b=theirs pyspark-shell",
        "OTHER": "x",
    }
    assert given["OTHER"] == "x"
    assert "ours" not in given["PYSPARK_SUBMIT_ARGS"]


def test_a_dry_run_is_known(job):
    """It writes nothing, so nothing of it is missing."""
    assert job("machine", pipeline_command="dry-run").is_dry
    assert not job("machine").is_dry
