"""`spark-lineage doctor` in real processes: its options, its streams, and its reading of Airflow."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from importlib import metadata

import pytest

from airflow_provider_spark_lineage.cli.doctor import examine
from airflow_provider_spark_lineage.cli.doctor.look import look_at_packages
from airflow_provider_spark_lineage.cli.doctor.spark import java_major

PYSPARK = metadata.version("pyspark")
FILE_TRANSPORT = json.dumps({"type": "file", "log_file_path": "events.jsonl"})
ACTIVE = {"AIRFLOW__OPENLINEAGE__TRANSPORT": FILE_TRANSPORT, "AIRFLOW__OPENLINEAGE__NAMESPACE": "tests"}
RUN = "from airflow_provider_spark_lineage.cli import main; main()"


@pytest.fixture
def doctor(tmp_path):
    """Return a function that runs the command with extra environment variables, in an empty AIRFLOW_HOME."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        # The tests may run a package that is not installed.
        paths = [variables.get("PYTHONPATH"), os.environ.get("PYTHONPATH")]
        variables["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
        return subprocess.run(
            [sys.executable, "-c", RUN, "doctor", *arguments],
            env={**clean_environment(), "AIRFLOW_HOME": str(tmp_path / "airflow"), **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def clean_environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if "OPENLINEAGE" not in name and "SPARK_LINEAGE" not in name
    }


def findings(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    report = json.loads(done.stdout)
    assert report["healthy"] == (done.returncode == 0), done.stdout
    return {finding["topic"]: finding for finding in report["findings"]}


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("1.8.0_392", 8), ("21", 21), ("25-ea", 25), ("unknown", 0)]
)
def test_java_major(version, major):
    """Java 8 calls itself 1.8; read as 1, it would look older than all others."""
    assert java_major(version) == major


def test_packages_of_this_machine_are_read(tmp_path, monkeypatch):
    """Packages are what Python would import: of two versions on its path, the first."""
    info = tmp_path / "pyspark_client-9.9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: PySpark_Client\nVersion: 9.9.9\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    findings = {finding.topic: finding for finding in examine(look_at_packages())}
    assert (findings["pyspark"].level, findings["pyspark"].value) == ("ok", PYSPARK)
    assert findings["pyspark-client"].advice == (
        f"pyspark-client 9.9.9 and pyspark {PYSPARK} overwrite each other's files in one folder; run "
        f"`pip uninstall -y pyspark pyspark-client`, then `pip install pyspark=={PYSPARK}`."
    )


@pytest.mark.airflow
def test_healthy_machine_exits_0(doctor):
    """With a transport set, lineage can work: no database, connection or session is needed for that."""
    done = doctor("--json", **ACTIVE)
    assert done.returncode == 0, done.stdout
    seen = findings(done)
    assert seen["pyspark"]["value"] == PYSPARK
    assert seen["listener"]["value"] == "registered"
    assert seen["openlineage"]["value"] == "active, decided by [openlineage] transport"
    assert seen["transport"]["value"] == "file to events.jsonl"
    assert seen["execution"]["value"] == "forked child, given up after 10 s"
    assert seen["namespace"]["value"] == "tests"
    assert seen["auto_capture"]["value"] == "off, no extractors of ours"


@pytest.mark.airflow
def test_person_reads_a_table_and_numbered_cures(doctor):
    """Each problem is one sentence with its cure, in full, outside the table that may cut it."""
    done = doctor()
    assert done.returncode == 1
    assert re.search(r"^openlineage +inactive: no transport +fix", done.stdout, re.MULTILINE)
    assert done.stdout.startswith(
        "To fix:\n1. OpenLineage has no transport, so Airflow emits nothing: set `[openlineage] transport`"
    )
    assert "Traceback" not in done.stdout
    assert done.stderr == ""


@pytest.mark.airflow
def test_a_terminal_shows_the_progress(tmp_path):
    """Importing Airflow and its plugins takes seconds; without a line about it the command looks dead."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "AIRFLOW_HOME": str(tmp_path / "airflow"), "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, "doctor", "--json"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    os.close(follower)
    shown = b""
    # Reading the terminal raises once its last user has closed it.
    with contextlib.suppress(OSError):
        while part := os.read(leader, 65536):
            shown += part
    os.close(leader)
    report, _ = process.communicate()
    for what in ("packages", "the options of Airflow", "the plugins of Airflow"):
        assert f"Looking at {what} ..." in shown.decode()
    assert "healthy" in json.loads(report)


@pytest.mark.airflow
def test_every_problem_is_reported_at_once(doctor):
    """All problems are listed at once, so that a user can fix them together."""
    operator = "airflow_provider_spark_lineage.operators.pyspark.PySparkLineageOperator"
    done = doctor(
        "--json",
        **ACTIVE,
        JAVA_HOME="/no/jdk",
        AIRFLOW__OPENLINEAGE__EXECUTION_TIMEOUT="soon",
        AIRFLOW__OPENLINEAGE__DISABLED_FOR_OPERATORS=f"{operator};some.Other",
        AIRFLOW__SPARK_LINEAGE__DISABLED="True",
        AIRFLOW__SPARK_LINEAGE__MAX_PLAN_BYTES="5MB",
    )
    problems = {
        topic: finding["advice"] for topic, finding in findings(done).items() if finding["level"] == "problem"
    }
    assert "JAVA_HOME is /no/jdk" in problems.pop("java")
    assert "AirflowConfigException" in problems.pop("execution_timeout")
    assert f"disabled_for_operators` turns off {operator};" in problems.pop("disabled_for_operators")
    assert "`[spark_lineage] disabled`; set it to False" in problems.pop("disabled")
    assert "max_plan_bytes = '5MB' is not a number" in problems.pop("option")
    assert problems == {}


@pytest.mark.airflow
def test_transport_of_a_file_and_of_the_environment(doctor, tmp_path):
    """The doctor reads the places that the provider reads, in the provider's order, and shows no secret."""
    auth = "{type: api_key, apiKey: hunter2}"
    (tmp_path / "ol.yml").write_text(
        f"transport: {{type: http, url: 'http://me:hunter2@127.0.0.1:1/x', auth: {auth}}}"
    )
    places = [
        ({**ACTIVE, "AIRFLOW__OPENLINEAGE__CONFIG_PATH": "ol.yml"}, "http://127.0.0.1:1/x"),
        ({"OPENLINEAGE_CONFIG": "ol.yml"}, "http://127.0.0.1:1/x"),
        ({"OPENLINEAGE_URL": "http://u:hunter2@127.0.0.1:2"}, "http://127.0.0.1:2"),
        (
            {
                "OPENLINEAGE__TRANSPORT__TYPE": "http",
                "OPENLINEAGE__TRANSPORT__URL": "http://127.0.0.1:3",
                "OPENLINEAGE__TRANSPORT__AUTH": '{"type": "api_key", "apiKey": "hunter2"}',
            },
            "http://127.0.0.1:3",
        ),
    ]
    for variables, address in places:
        done = doctor("--json", **variables)
        assert findings(done)["transport"]["value"] == f"no answer from {address}"
        assert "hunter2" not in done.stdout


@pytest.mark.airflow
def test_thread_mode_is_reported(doctor):
    """Facets are read in a fork or in a thread; the finding says which, because their limits differ."""
    from airflow.providers.openlineage import conf

    if not hasattr(conf, "execute_in_thread"):
        pytest.skip("this provider has no such option")
    seen = findings(doctor("--json", AIRFLOW__OPENLINEAGE__EXECUTE_IN_THREAD="True", **ACTIVE))
    assert seen["execution"]["value"] == "thread, given up after 10 s"
