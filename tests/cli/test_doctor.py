"""`spark-lineage doctor` in real processes: what it finds, what it advises, and what it never shows."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.cli.doctor.secrets import without_credentials
from airflow_provider_spark_lineage.cli.doctor.spark import java_major
from airflow_provider_spark_lineage.cli.doctor.transport import describe_transport

PYSPARK = metadata.version("pyspark")
OLDEST_JAVA = 8 if PYSPARK.startswith("3.") else 17
FILE_TRANSPORT = json.dumps({"type": "file", "log_file_path": "events.jsonl"})
ACTIVE = {"AIRFLOW__OPENLINEAGE__TRANSPORT": FILE_TRANSPORT, "AIRFLOW__OPENLINEAGE__NAMESPACE": "tests"}
RUN = "from airflow_provider_spark_lineage.cli import main; main()"
RUN_MACHINE = """
import dataclasses, json
from airflow_provider_spark_lineage.cli.doctor import examine
from airflow_provider_spark_lineage.cli.doctor.look import look_at_machine
print(json.dumps([dataclasses.asdict(finding) for finding in examine(look_at_machine())]))
"""


@pytest.fixture
def doctor(tmp_path):
    """Return a function that runs the command with extra environment variables, in an empty AIRFLOW_HOME."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return _python(tmp_path, [RUN, "doctor", *arguments], variables)

    return run


@pytest.fixture
def machine(tmp_path):
    """Return a function that gives the findings about the machine alone, which need no Airflow."""

    def run(**variables: str) -> dict[str, dict[str, str]]:
        done = _python(tmp_path, [RUN_MACHINE], variables)
        assert done.returncode == 0, done.stderr
        return {finding["topic"]: finding for finding in json.loads(done.stdout)}

    return run


def _python(
    folder: Path, arguments: list[str], variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if "OPENLINEAGE" not in name and "SPARK_LINEAGE" not in name
    }
    environment["AIRFLOW_HOME"] = str(folder / "airflow")
    # The tests may run a package that is not installed.
    paths = [variables.get("PYTHONPATH"), os.environ.get("PYTHONPATH")]
    variables = {**variables, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    return subprocess.run(
        [sys.executable, "-c", *arguments],
        env={**environment, **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def found(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    report = json.loads(done.stdout)
    assert report["healthy"] == (done.returncode == 0), done.stdout
    return {finding["topic"]: finding for finding in report["findings"]}


def distribution(folder: Path, name: str, version: str) -> Path:
    """Write what pip leaves behind of a distribution, so that the interpreter believes it is installed."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder


def fake_java(folder: Path, output: str, code: int = 0) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{output}' >&2\nexit {code}\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("1.8.0_392", 8), ("21", 21), ("25-ea", 25), ("unknown", 0)]
)
def test_java_major(version, major):
    """Java 8 calls itself 1.8; read as 1, it would be told apart from nothing."""
    assert java_major(version) == major


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://user:secret@host:5000/api?api_key=secret#secret", "http://host:5000/api"),
        ("https://host", "https://host"),
        ("s3://key:secret@bucket/events", "s3://bucket/events"),
        ("/data/events.jsonl", "/data/events.jsonl"),
    ],
)
def test_address_shows_no_credentials(address, shown):
    """The report is pasted into tickets."""
    assert without_credentials(address) == shown


@pytest.mark.parametrize(
    ("config", "level", "value"),
    [
        ({"type": "file", "log_file_path": "/x"}, "ok", "file to /x"),
        (
            {"type": "kafka", "topic": "lineage", "config": {"sasl.password": "secret"}},
            "ok",
            "kafka to lineage",
        ),
        (
            {"type": "composite", "transports": {"a": {"type": "http", "url": "http://u:secret@a"}}},
            "ok",
            "composite of http to http://a",
        ),
        ({"type": "my.module.Transport", "token": "secret"}, "ok", "my.module.Transport"),
        ({"type": "console"}, "note", "console"),
        ({"type": "noop"}, "problem", "noop"),
        ({"type": "http"}, "problem", "http"),
        ({"url": "http://host"}, "problem", "no type"),
        (["http"], "problem", "no type"),
    ],
)
def test_transport_is_described(config, level, value):
    """A transport that sends nothing is a problem even though OpenLineage calls itself active."""
    finding = describe_transport(config)
    assert (finding.level, finding.value) == (level, value)
    assert bool(finding.advice) == (level != "ok")
    assert "secret" not in str(finding)


@pytest.mark.airflow
def test_healthy_machine_exits_0(doctor):
    """With a transport set, lineage can work: no database, connection or session is needed for that."""
    done = doctor("--json", **ACTIVE)
    assert done.returncode == 0, done.stdout
    seen = found(done)
    assert seen["pyspark"]["value"] == PYSPARK
    assert seen["listener"]["value"] == "registered"
    assert seen["openlineage"]["value"] == "active, decided by [openlineage] transport"
    assert seen["transport"]["value"] == "file to events.jsonl"
    assert seen["execution"]["value"] == "forked child, given up after 10 s"
    assert seen["namespace"]["value"] == "tests"
    assert seen["auto_capture"]["value"] == "off, no extractors of ours"


@pytest.mark.airflow
def test_person_reads_a_table_and_numbered_cures(doctor):
    """Each problem is one sentence with its cure, whole, outside the table that may cut it."""
    done = doctor()
    assert done.returncode == 1
    assert re.search(r"^openlineage +inactive: no transport +fix", done.stdout, re.MULTILINE)
    assert (
        "\n1. OpenLineage has no transport, so Airflow emits nothing: set `[openlineage] transport`"
        in done.stdout
    )
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout.startswith("To fix:\n1. ")
    assert done.stderr == ""


@pytest.mark.airflow
def test_a_terminal_shows_what_is_looked_at(tmp_path):
    """Importing Airflow and its plugins takes seconds, in which the command looked dead."""
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
    # The terminal ends by an error when nobody has it open any more.
    with contextlib.suppress(OSError):
        while part := os.read(leader, 65536):
            shown += part
    os.close(leader)
    report, _ = process.communicate()
    for what in ("packages, Spark and Java", "the options of Airflow", "the plugins of Airflow"):
        assert f"Looking at {what} ..." in shown.decode()
    assert "healthy" in json.loads(report)


@pytest.mark.airflow
@pytest.mark.parametrize(
    ("variables", "cure"),
    [
        ({"AIRFLOW__OPENLINEAGE__DISABLED": "True"}, "switched off by `[openlineage] disabled`"),
        ({"OPENLINEAGE_DISABLED": "true"}, "switched off by the environment variable OPENLINEAGE_DISABLED"),
        ({"AIRFLOW__OPENLINEAGE__TRANSPORT": '{"apiKey": "hunter2"'}, "transport` is not a JSON object"),
        ({"AIRFLOW__OPENLINEAGE__CONFIG_PATH": "no/openlineage.yml"}, "no/openlineage.yml cannot be read"),
        ({"AIRFLOW__OPENLINEAGE__EXECUTION_TIMEOUT": "0"}, "execution_timeout` leaves no time"),
    ],
)
def test_option_that_stops_lineage_is_named(variables, cure, doctor):
    """Whichever option stops lineage, the report names it with its cure and the exit code says 1."""
    done = doctor("--json", **{**ACTIVE, **variables})
    advice = [finding["advice"] for finding in found(done).values() if finding["level"] == "problem"]
    assert len(advice) == 1, advice
    assert cure in advice[0]
    assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.airflow
def test_every_problem_is_reported_at_once(doctor, tmp_path):
    """All problems are listed at once, so that a user can fix them together."""
    operator = "airflow_provider_spark_lineage.operators.pyspark.PySparkLineageOperator"
    done = doctor(
        "--json",
        **ACTIVE,
        PYTHONPATH=str(distribution(tmp_path / "site", "pyspark-client", "9.9.9")),
        AIRFLOW__OPENLINEAGE__EXECUTION_TIMEOUT="soon",
        AIRFLOW__OPENLINEAGE__DISABLED_FOR_OPERATORS=f"{operator};some.Other",
        AIRFLOW__SPARK_LINEAGE__DISABLED="True",
        AIRFLOW__SPARK_LINEAGE__MAX_PLAN_BYTES="5MB",
    )
    problems = {
        topic: finding["advice"] for topic, finding in found(done).items() if finding["level"] == "problem"
    }
    assert "pyspark-client 9.9.9 and pyspark" in problems.pop("pyspark-client")
    assert "AirflowConfigException" in problems.pop("execution")
    assert f"disabled_for_operators` turns off {operator};" in problems.pop("disabled_for_operators")
    assert "`[spark_lineage] disabled`; set it to False" in problems.pop("disabled")
    assert "max_plan_bytes = '5MB' is not a number" in problems.pop("option")
    assert problems == {}


@pytest.mark.airflow
def test_extractors_without_capture_are_told(doctor):
    """An extractor alone knows only what the text of a job says; auto-capture needs no extractor."""
    name = "airflow_provider_spark_lineage.extractors.nothing.Here"
    seen = found(doctor("--json", **ACTIVE, AIRFLOW__OPENLINEAGE__EXTRACTORS=name))
    assert f"names {name}, which cannot be imported" in seen["extractor"]["advice"]
    assert "set `[spark_lineage] auto_capture` to True" in seen["auto_capture"]["advice"]
    alone = found(doctor("--json", **ACTIVE, AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE="True"))
    assert alone["auto_capture"]["level"] == "ok"


@pytest.mark.airflow
def test_broken_extractor_takes_the_listener_with_it(doctor, tmp_path):
    """An extractor that raises at import silences every task of Airflow; the doctor says why."""
    (tmp_path / "broken_extractor.py").write_text("raise RuntimeError('no such licence')\n")
    extractors = {
        "AIRFLOW__OPENLINEAGE__EXTRACTORS": "broken_extractor.Extractor",
        "PYTHONPATH": str(tmp_path),
    }
    seen = found(doctor("--json", **ACTIVE, **extractors))
    assert "listener" not in seen
    assert "RuntimeError: no such licence" in seen["extractor"]["advice"]
    assert "disables OpenLineage's whole plugin" in seen["extractor"]["advice"]


@pytest.mark.airflow
def test_transport_of_a_file_and_of_the_environment(doctor, tmp_path):
    """The doctor reads the places that the provider reads, in the provider's order, and shows no secret."""
    (tmp_path / "ol.yml").write_text(
        "transport: {type: http, url: 'https://me:hunter2@host/x', auth: {type: api_key, apiKey: hunter2}}\n"
    )
    by_file = doctor("--json", AIRFLOW__OPENLINEAGE__CONFIG_PATH="ol.yml", **ACTIVE)
    assert found(by_file)["transport"]["value"] == "http to https://host/x"
    by_variables = doctor(
        "--json",
        OPENLINEAGE__TRANSPORT__TYPE="http",
        OPENLINEAGE__TRANSPORT__URL="http://elsewhere:5000",
        OPENLINEAGE__TRANSPORT__AUTH='{"type": "api_key", "apiKey": "hunter2"}',
    )
    seen = found(by_variables)
    assert seen["openlineage"]["value"] == "active, decided by OPENLINEAGE__TRANSPORT*"
    assert seen["transport"]["value"] == "http to http://elsewhere:5000"
    by_url = found(doctor("--json", OPENLINEAGE_URL="http://u:hunter2@third", OPENLINEAGE_API_KEY="hunter2"))
    assert by_url["transport"]["value"] == "http to http://third"
    assert "hunter2" not in by_file.stdout + by_variables.stdout + json.dumps(by_url)


@pytest.mark.airflow
def test_thread_mode_is_told(doctor):
    """Whether facets are read in a fork or a thread decides what they may touch."""
    from airflow.providers.openlineage import conf

    if not hasattr(conf, "execute_in_thread"):
        pytest.skip("this provider has no such option")
    seen = found(doctor("--json", AIRFLOW__OPENLINEAGE__EXECUTE_IN_THREAD="True", **ACTIVE))
    assert seen["execution"]["value"] == "thread, given up after 10 s"


def test_pyspark_client_of_another_version_is_a_problem(machine, tmp_path):
    """The two packages overwrite each other's files; two versions in one folder break in odd places."""
    site = distribution(tmp_path / "site", "pyspark-client", "9.9.9")
    seen = machine(PYTHONPATH=str(site))
    assert seen["pyspark-client"]["level"] == "problem"
    assert seen["pyspark-client"]["advice"] == (
        f"pyspark-client 9.9.9 and pyspark {PYSPARK} overwrite each other's files in one folder; run "
        f"`pip uninstall -y pyspark pyspark-client`, then `pip install pyspark=={PYSPARK}`."
    )


def test_pyspark_client_of_the_same_version_is_fine(machine, tmp_path):
    """Pinned together, the two write the same files and nothing is lost."""
    site = distribution(tmp_path / "site", "pyspark-client", PYSPARK)
    seen = machine(PYTHONPATH=str(site))
    assert seen["pyspark-client"]["level"] == "ok"


@pytest.mark.parametrize(("version", "level"), [("2.3.3", "ok"), ("3.0.0", "note")])
def test_a_pandas_that_spark_does_not_know_is_told(machine, tmp_path, version, level):
    """With pandas 3, pandas-on-Spark of Spark 4.1 fails in the user's own lines, far from the cause."""
    site = distribution(tmp_path / "site", "pandas", version)
    distribution(tmp_path / "site", "pyspark", "4.1.4")
    found = machine(PYTHONPATH=str(site))["pandas"]
    assert (found["value"], found["level"]) == (version, level)
    assert ("pandas<3" in found["advice"]) == (level == "note")


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ('"PySpark does not yet fully support pandas >= 3.0.0. "', "note"),
        ('"Pandas >= 2.2.0 must be installed"', "ok"),
    ],
)
def test_a_pandas_that_spark_warns_of_is_told(machine, tmp_path, line, level):
    """From Spark 4.2 on pandas 3 works, but some releases warn of it in each task that uses it."""
    site = distribution(tmp_path / "site", "pandas", "3.0.0")
    distribution(site, "pyspark", "4.2.0")
    (site / "pyspark" / "sql" / "pandas").mkdir(parents=True)
    (site / "pyspark" / "__init__.py").write_text("")
    (site / "pyspark" / "sql" / "pandas" / "utils.py").write_text(f"warnings.warn(\n    {line}\n)\n")
    found = machine(PYTHONPATH=str(site))["pandas"]
    assert (found["value"], found["level"]) == ("3.0.0", level)
    assert ("warns that it does not fully support pandas 3.0.0" in found["advice"]) == (level == "note")


@pytest.mark.parametrize(
    ("version", "mistake"),
    [
        (None, "spark-home-missing"),
        ("2.4.8", "spark-home-version"),
        (f"{PYSPARK.rpartition('.')[0]}.99", "spark-home-patch"),
        (f"{PYSPARK}-company-1", ""),
    ],
)
def test_spark_home_of_another_spark(machine, tmp_path, version, mistake):
    """PySpark starts what SPARK_HOME names, and fails far from the cause where that is another Spark."""
    home = tmp_path / "spark"
    if version:
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "spark-submit").write_text("")
        (home / "jars").mkdir()
        (home / "jars" / f"spark-core_2.13-{version}.jar").write_text("")
    found = machine(SPARK_HOME=str(home))["SPARK_HOME"]
    assert found["mistake"] == mistake
    assert (str(home) in found["advice"]) == bool(mistake)
    assert "SPARK_HOME" not in machine(SPARK_HOME="")


def test_files_of_another_version_are_found(machine, tmp_path):
    """After removing pyspark-client, pip lists a pyspark whose files another version wrote."""
    package = tmp_path / "site" / "pyspark"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "version.py").write_text('__version__: str = "9.9.9"\n')
    seen = machine(PYTHONPATH=str(tmp_path / "site"))
    assert seen["pyspark"]["value"] == f"{PYSPARK}, files of 9.9.9"
    assert seen["pyspark"]["level"] == "problem"


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ('openjdk version "1.7.0_80"', f"Spark needs Java {OLDEST_JAVA} or newer, not 1.7.0_80"),
        pytest.param(
            'openjdk version "11.0.2" 2019-01-15',
            "Spark needs Java 17 or newer, not 11.0.2",
            marks=pytest.mark.skipif(OLDEST_JAVA < 17, reason="Spark 3.5 runs on Java 8"),
        ),
        ("No Java runtime present", "fails"),
    ],
)
def test_unusable_java_is_a_problem(output, advice, machine, tmp_path):
    """Spark takes JAVA_HOME before PATH, so an old Java there counts even with a new one on PATH."""
    seen = machine(JAVA_HOME=str(fake_java(tmp_path / "jdk", output)))
    assert seen["java"]["level"] == "problem"
    assert advice in seen["java"]["advice"]


def test_missing_java_is_a_problem(machine, tmp_path):
    """Without Java the first session fails with a message of the gateway that names no cure."""
    seen = machine(JAVA_HOME=str(tmp_path / "nowhere"))
    assert seen["java"]["advice"].startswith(f"JAVA_HOME is {tmp_path / 'nowhere'}, which has no `bin/java`;")
    path = Path(sys.executable).parent
    seen = machine(JAVA_HOME="", PATH=str(path))
    assert seen["java"]["advice"].startswith(
        f"Spark needs Java {OLDEST_JAVA} or newer, and no `java` is on PATH;"
    )
