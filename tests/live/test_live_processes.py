"""Captures in processes of their own: a user's callback server, an end without a stop."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.spark

START = """
    from pyspark.sql import SparkSession
    spark = (
        SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false").getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")

    class Listener:
        seen = []
        def onSuccess(self, name, execution, duration):
            Listener.seen.append(name)
        def onFailure(self, name, execution, error):
            pass
        class Java:
            implements = ["org.apache.spark.sql.util.QueryExecutionListener"]
    """


def python(text: str, cwd) -> subprocess.CompletedProcess[str]:
    text = textwrap.dedent(START) + textwrap.dedent(text)
    return subprocess.run(
        [sys.executable, "-c", text], cwd=cwd, capture_output=True, text=True, check=False, timeout=300
    )


def test_a_users_own_callback_server_is_used_and_left_alone(tmp_path):
    """A server that the user started before is the one that stays; the user's listener hears all."""
    done = python(
        """
        from py4j.java_gateway import CallbackServerParameters, JavaObject
        gateway = spark.sparkContext._gateway
        parameters = CallbackServerParameters(port=0, daemonize=True, daemonize_connections=True)
        gateway.start_callback_server(parameters)
        server = gateway._callback_server
        port = gateway.get_callback_server().get_listening_port()
        java = JavaObject("GATEWAY_SERVER", gateway._gateway_client)
        java.resetCallbackClient(java.getCallbackClient().getAddress(), port)
        spark._jsparkSession.listenerManager().register(Listener())
        spark.range(3).count()

        from airflow_provider_spark_lineage import capture_lineage
        with capture_lineage(spark) as captured:
            spark.sql("select 1").collect()
        assert gateway._callback_server is server
        spark.range(3).count()
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(30000)
        print(Listener.seen, [one.record.sql for one in captured.executions()], captured.problems, flush=True)
        # py4j keeps the threads of a server that was started like this, with or without a capture.
        import os
        os._exit(0)
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['count', 'collectToPython', 'count'] ['select 1'] []\n"


def test_a_process_that_forgets_to_stop_ends_quietly(tmp_path):
    """A capture inside a script that neither stops Spark nor waits leaves no error in the log."""
    done = python(
        """
        from airflow_provider_spark_lineage import capture_lineage
        with capture_lineage() as captured:
            spark.sql("select 1").collect()
        spark.sql("select 2").collect()
        print([one.record.sql for one in captured.executions()])
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['select 1']\n"
    assert "ERROR" not in done.stderr
    assert "Traceback" not in done.stderr
