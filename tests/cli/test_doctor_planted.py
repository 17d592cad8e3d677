"""`spark-lineage doctor` against mistakes that are planted for real: files, variables, extractors."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from servers.process import free_port

LISTENER = "io.openlineage.spark.agent.OpenLineageSparkListener"
RUN = [sys.executable, "-m", "airflow_provider_spark_lineage", "doctor", "--json"]
RIGHT = {
    "AIRFLOW__OPENLINEAGE__NAMESPACE": "tests",
    "AIRFLOW__OPENLINEAGE__EXTRACTORS": "airflow_provider_spark_lineage.extractors.SparkExtractor;"
    "airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor;good.Extractor",
    "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
}
BASE = """
from airflow.providers.openlineage.extractors.base import BaseExtractor, OperatorLineage

class Extractor(BaseExtractor):
    @classmethod
    def get_operator_classnames(cls):
        return ["{operator}"]

    def _execute_extraction(self):
        return OperatorLineage()
"""
EXTRACTORS = {
    "good.py": BASE.format(operator="CompanyOperator"),
    "again.py": "from good import Extractor\n",
    "first.py": BASE.format(operator="TwiceOperator"),
    "second.py": BASE.format(operator="TwiceOperator"),
    "of_submit.py": BASE.format(operator="SparkSubmitOperator"),
    "text.py": BASE.format(operator="CompanyOperator").replace('["CompanyOperator"]', '"CompanyOperator"'),
    "dotted.py": BASE.format(operator="company.operators.CompanyOperator"),
    "abstract.py": BASE.format(operator="AbstractOperator").replace("_execute_extraction", "extraction"),
    "top.py": "from airflow.sdk import DAG\n" + BASE.format(operator="TopOperator"),
    "checked.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from airflow.sdk import DAG\n"
    + BASE.format(operator="CheckedOperator"),
    # What OpenLineage's plugin imports while it loads is not complete yet.
    "circular.py": "from airflow.providers.openlineage.plugins.openlineage import OpenLineageProviderPlugin\n"
    + BASE.format(operator="CircularOperator"),
    "old.py": "from openlineage.airflow.extractors.base import BaseExtractor, TaskMetadata\n",
    "raising.py": "raise RuntimeError('no such licence: http://me:swordfish@host')\n",
    "leaving.py": "import sys\nprint('goodbye')\nsys.exit(3)\n",
    "broken.py": "def (:\n",
    "killing.py": "import os\nos._exit(7)\n",
}


@pytest.fixture(scope="module")
def backend() -> Iterator[socket.socket]:
    """Return a socket that takes connections, and reads nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening


@pytest.fixture
def address(backend) -> str:
    return f"127.0.0.1:{backend.getsockname()[1]}"


@pytest.fixture
def doctor(tmp_path, address):
    """Return a function that runs the command with a folder of extractors on Python's path."""
    modules = tmp_path / "modules"
    modules.mkdir()
    for name, text in EXTRACTORS.items():
        (modules / name).write_text(text)

    def run(*arguments: str, path: Path | None = None, **variables: str) -> tuple[int, list[dict[str, str]]]:
        environment = {
            name: value
            for name, value in os.environ.items()
            if "OPENLINEAGE" not in name and "SPARK_LINEAGE" not in name
        }
        paths = [str(each) for each in (path, modules, os.environ.get("PYTHONPATH")) if each]
        environment |= {"AIRFLOW_HOME": str(tmp_path / "airflow"), "PYTHONPATH": os.pathsep.join(paths)}
        transport = {
            "type": "http",
            "url": f"http://me:swordfish@{address}",
            "auth": {"type": "api_key", "apiKey": "tr0ub4dor"},
        }
        environment["AIRFLOW__OPENLINEAGE__TRANSPORT"] = json.dumps(transport)
        done = subprocess.run(
            [*RUN, *arguments],
            env={**environment, **RIGHT, **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        text = done.stdout + done.stderr
        assert "Traceback" not in text, text
        assert "swordfish" not in text
        assert "tr0ub4dor" not in text
        return done.returncode, json.loads(done.stdout)["findings"]

    return run


def mistakes(findings: list[dict[str, str]]) -> dict[str, list[str]]:
    """Return the advice by mistake."""
    by_name: dict[str, list[str]] = {}
    for finding in findings:
        if finding["mistake"]:
            by_name.setdefault(finding["mistake"], []).append(finding["advice"])
    return by_name


@pytest.mark.airflow
def test_right_configuration_has_no_finding(doctor, address):
    """Two good extractors, auto-capture and a transport with a key: nothing to say."""
    code, findings = doctor()
    assert mistakes(findings) == {}
    assert code == 0
    values = {finding["topic"]: finding["value"] for finding in findings}
    assert values["listener"] == "registered"
    assert values["transport"] == f"http to http://{address}"


def places(findings: list[dict[str, str]]) -> dict[str, list[str]]:
    """Return the values by mistake of what is said of the transport."""
    of_transport = [each for each in findings if each["topic"] == "transport"]
    return {
        name: [each["value"] for each in of_transport if each["mistake"] == name]
        for name in {each["mistake"] for each in of_transport}
    }


@pytest.mark.airflow
def test_places_that_no_event_gets_to(doctor, tmp_path, address):
    """A transport that cannot send says so in logs of tasks only; each place is named once."""
    (tmp_path / "a_file").write_text("")
    (tmp_path / "events").mkdir()
    silent = f"127.0.0.1:{free_port()}"

    def file(path: str, **more: object) -> dict[str, object]:
        return {"type": "file", "log_file_path": path, **more}

    members = [
        file(str(tmp_path / "absent" / "events")),
        file(f"file://{tmp_path}/absent/others", append=True),
        file(str(tmp_path / "a_file" / "events")),
        file(str(tmp_path / "events"), append=True),
        # These are right: beside a folder, into one, and where the client's own filesystem writes.
        file(str(tmp_path / "events")),
        file("events/all.jsonl", append=True),
        file("s3://bucket/absent/events"),
        {"type": "http", "url": f"http://{address}"},
        {"type": "http", "url": f"http://me:swordfish@{silent}/first"},
        {
            "type": "transform",
            "transformer_class": "a.B",
            "transport": {
                "type": "composite",
                "transports": {"x": {"type": "http", "url": f"http://{silent}"}},
            },
        },
    ]
    transport = json.dumps({"type": "composite", "transports": members})
    code, findings = doctor(AIRFLOW__OPENLINEAGE__TRANSPORT=transport)
    assert code == 1
    assert places(findings) == {
        "transport-folder": [str(tmp_path / name) for name in ("absent", "a_file", "events")],
        "transport-silent": [f"http://{silent}/first"],
    }
    advice = mistakes(findings)
    assert "absent does not exist; create it" in advice["transport-folder"][0]
    assert f"({silent}: Connection refused)" in advice["transport-silent"][0]


@pytest.mark.airflow
def test_folder_without_permission(doctor):
    """A folder that is there and cannot be written loses events too; `/proc/sys` can be written by nobody."""
    transport = json.dumps({"type": "file", "log_file_path": "/proc/sys/events"})
    code, findings = doctor(AIRFLOW__OPENLINEAGE__TRANSPORT=transport)
    assert code == 1
    [advice] = mistakes(findings)["transport-folder"]
    assert "/proc/sys cannot be written; let the user of the tasks write there" in advice


@pytest.mark.airflow
def test_a_proxy_stands_before_the_backend(doctor, address):
    """With a proxy the client never connects to the backend, whose name only the proxy may know."""
    transport = {"AIRFLOW__OPENLINEAGE__TRANSPORT": '{"type": "http", "url": "http://backend.invalid:5000"}'}
    assert doctor(**transport, http_proxy=f"http://{address}")[0] == 0
    silent = f"127.0.0.1:{free_port()}"
    _, findings = doctor(**transport, http_proxy=silent)
    assert f"(the proxy {silent}: Connection refused)" in mistakes(findings)["transport-silent"][0]
    code, findings = doctor(**transport, http_proxy=f"http://{address}", no_proxy="backend.invalid")
    assert "(backend.invalid:5000: " in mistakes(findings)["transport-silent"][0]
    assert code == 1


@pytest.mark.airflow
def test_hosts_that_never_answer_are_waited_for_together(doctor):
    """A firewall drops packets without a word: nobody waits for minutes, and each host is named."""
    with contextlib.ExitStack() as stack:
        ports = []
        for _ in range(3):
            full = stack.enter_context(socket.socket())
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            ports.append(full.getsockname()[1])
            # Linux answers no more connections than these until one is accepted.
            for _ in range(3):
                client = stack.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex(full.getsockname())
        members = [{"type": "http", "url": f"http://127.0.0.1:{port}"} for port in ports]
        transport = json.dumps({"type": "composite", "transports": members})
        code, findings = doctor(AIRFLOW__OPENLINEAGE__TRANSPORT=transport)
    silent = mistakes(findings)["transport-silent"]
    assert [f"({advice.split('(')[1].split(')')[0]})" for advice in silent] == [
        f"(127.0.0.1:{port}: no answer within 5 seconds)" for port in ports
    ]
    assert code == 1


@pytest.mark.airflow
def test_the_backend_is_sent_nothing(doctor, backend):
    """Every byte would be an event, or noise in the backend's log."""
    backend.settimeout(60)
    while True:  # Connections of the tests before.
        backend.setblocking(False)
        try:
            backend.accept()[0].close()
        except BlockingIOError:
            break
    backend.settimeout(60)
    doctor()
    connection, _ = backend.accept()
    with connection:
        connection.settimeout(60)
        assert connection.recv(100) == b""


@pytest.mark.airflow
def test_operator_without_its_module(doctor):
    """OpenLineage compares classes with their module: a bare name silences nothing, and nobody says so."""
    names = "SparkSubmitOperator;company.Right"
    code, findings = doctor(AIRFLOW__OPENLINEAGE__DISABLED_FOR_OPERATORS=names)
    found = mistakes(findings)
    assert set(found) == {"operators-bare-name"}
    assert "operators.spark_submit.SparkSubmitOperator`" in found["operators-bare-name"][0]
    assert code == 0


@pytest.mark.airflow
def test_extractors_that_the_provider_ignores_or_confuses(doctor):
    """None of these stops the plugin; each loses the lineage of its operators."""
    names = [
        "first",
        "second",
        "of_submit",
        "dotted",
        "top",
        "checked",
        "circular",
        "old",
        "nowhere",
        "good",
        "again",
    ]
    paths = [f"{name}.Extractor" for name in names]
    code, findings = doctor(AIRFLOW__OPENLINEAGE__EXTRACTORS=";".join([*paths, "good.Missing", "plain"]))
    found = mistakes(findings)
    assert code == 1
    [twice] = found["extractor-twice"]
    assert "first.Extractor and second.Extractor both claim `TwiceOperator`" in twice
    [repeated] = found["extractor-repeated"]
    assert "again.Extractor and good.Extractor are the same class" in repeated
    assert "(now first.Extractor)" in twice or "(now second.Extractor)" in twice
    assert (
        "does not capture `SparkSubmitOperator`, because of_submit.Extractor"
        in found["extractor-before-capture"][0]
    )
    assert "company.operators.CompanyOperator" in found["extractor-interface"][0]
    [at_top] = found["extractor-airflow-import"]
    assert "top.Extractor imports airflow.sdk at its top" in at_top
    [circular] = found["extractor-circular"]
    assert "circular.Extractor" in circular
    assert "import airflow.providers.openlineage.plugins.openlineage inside" in circular
    assert "old.Extractor uses TaskMetadata and openlineage.airflow" in found["legacy-task-metadata"][0]
    ignored = " ".join(found["extractor-import"])
    assert "old.Extractor" not in ignored
    assert (
        "nowhere.Extractor, which cannot be imported (ModuleNotFoundError: No module named 'nowhere')"
        in ignored
    )
    assert (
        "good.Missing, which cannot be imported (ImportError: module good has no attribute Missing)"
        in ignored
    )
    assert "plain, which cannot be imported (ImportError: plain is not a dotted path)" in ignored
    assert "listener-missing" not in found


@pytest.mark.airflow
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raising", "RuntimeError: no such licence"),
        ("leaving", "SystemExit: 3"),
        ("broken", "SyntaxError: invalid syntax"),
    ],
)
def test_extractor_that_stops_the_whole_plugin(doctor, name, reason):
    """One extractor of one team silences every task of Airflow, and no log of a task says so."""
    code, findings = doctor(AIRFLOW__OPENLINEAGE__EXTRACTORS=f"good.Extractor;{name}.Extractor")
    found = mistakes(findings)
    assert code == 1
    [breaks] = found["extractor-breaks-plugin"]
    assert f"{name}.Extractor, whose import raises {reason}" in breaks
    assert "disables OpenLineage's whole plugin" in breaks
    assert set(found) == {"extractor-breaks-plugin"}


@pytest.mark.airflow
def test_extractor_that_ends_the_process(doctor):
    """What ends the process that loads plugins ends Airflow's too; the report is written all the same."""
    code, findings = doctor(AIRFLOW__OPENLINEAGE__EXTRACTORS="killing.Extractor")
    assert "ended with exit code 7" in mistakes(findings)["listener-unknown"][0]
    assert code == 1


@pytest.mark.airflow
def test_text_for_a_list_of_class_names(doctor):
    """The provider takes each letter of a text for a class name, and says nothing."""
    code, findings = doctor(AIRFLOW__OPENLINEAGE__EXTRACTORS="text.Extractor;abstract.Extractor")
    [abstract, letters] = sorted(mistakes(findings)["extractor-interface"])
    assert "abstract.Extractor, which does not implement _execute_extraction" in abstract
    assert "text.Extractor, which returns str from `get_operator_classnames`" in letters
    assert code == 1


@pytest.mark.airflow
def test_many_mistakes_in_files_and_variables(doctor, tmp_path):
    """What a machine has in many places is found in one run, in the places that Spark and Airflow read."""
    site = tmp_path / "site"
    for package, version in (("openlineage-airflow", "1.20.0"), ("openlineage-python", "1.30.0")):
        info = site / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(
        f"# spark.extraListeners none\nspark.extraListeners  {LISTENER}\n"
    )
    home = tmp_path / "airflow"
    (home / "plugins").mkdir(parents=True)
    (home / "plugins" / "own_plugin.py").write_text("from airflow.plugins_manager import nothing\n")
    (home / "airflow.cfg").write_text(
        "[openlineage]\nnamespace = 'team'\nspark_inject_transport_info = True\nextractor = good.Extractor\n"
        "[spark_lineage]\nauto_captured = True\nextra_operators = nowhere.Operator = in process; x = y\n"
        "[lineage]\nbackend = openlineage.lineage_backend.OpenLineageBackend\n"
    )
    code, findings = doctor(
        path=site,
        SPARK_CONF_DIR=str(conf),
        AIRFLOW__OPENLINEAGE__NAMESPACE="'team'",
        AIRFLOW__OPENLINEAGE__EXTRACTORS="good.Extractor, first.Extractor",
        AIRFLOW__OPENLINEAGE__CUSTOM_RUN_FACETS="a.b c.d",
        AIRFLOW__OPENLINEAGE__EMISSION_POLICY="{}",
        AIRFLOW__SPARK_LINEAGE_DISABLED="True",
        AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_INCLUDE="shop, etl",
        AIRFLOW_CONN_SPARK_DEFAULT=f"spark://me:swordfish@host/?spark.extraListeners={LISTENER}",
        OPENLINEAGE_EXTRACTOR_TwiceOperator="first.Extractor",
        OPENLINEAGE_URL="http://me:swordfish@marquez:5000",
        OPENLINEAGE_API_KEY="tr0ub4dor",
    )
    found = mistakes(findings)
    assert code == 1
    assert "pip uninstall openlineage-airflow" in found["legacy-package"][0]
    assert any("openlineage-python" in advice and "1.30.0" in advice for advice in found["package-version"])
    places = " ".join(found["java-listener"])
    assert str(conf / "spark-defaults.conf") in places
    assert "connection `spark_default`" in places
    assert "`[openlineage] spark_inject_transport_info`" in found["java-listener-injected"][0]
    assert any("own_plugin.py" in advice for advice in found["plugin-broken"])
    assert "`[openlineage] namespace` is in quotes" in found["option-quoted"][0]
    unknown = "no option `[openlineage] extractor`; set `extractors`"
    assert any(unknown in advice for advice in found["option-unknown"])
    assert any("write `good.Extractor;first.Extractor`" in advice for advice in found["list-separator"])
    assert any("write `a.b;c.d`" in advice for advice in found["list-separator"])
    assert "did you mean `auto_capture`?" in found["own-option"][0]
    assert "rename it to AIRFLOW__SPARK_LINEAGE__DISABLED" in found["own-variable"][0]
    assert any("auto_capture_include" in advice for advice in found["own-value"])
    assert any("'x = y' is left out" in advice for advice in found["own-value"])
    assert "nowhere.Operator, which cannot be imported" in found["own-operator"][0]
    assert "OPENLINEAGE_EXTRACTOR_TwiceOperator is not read any more" in found["legacy-extractor-variable"][0]
    assert len(found["legacy-variable"]) == 2
    assert "`[lineage] backend`" in found["legacy-backend"][0]


@pytest.mark.airflow
@pytest.mark.parametrize(
    ("transport", "name", "words"),
    [
        ('{"type": "http", "apiKey": "tr0ub4dor"', "transport-unreadable", "not a JSON object"),
        ('\'{"type": "http"}\'', "transport-unreadable", "not a JSON object"),
        ('{"type": "htpp", "url": "http://marquez"}', "transport-unknown", "to http,"),
        ('{"type": "good.Extractor"}', "transport-unknown", "is not a subclass of Transport"),
        ('{"type": "nowhere.Transport"}', "transport-unknown", "No module named 'nowhere'"),
        ('["http"]', "transport-unreadable", "not a JSON object"),
    ],
)
def test_broken_transport(doctor, transport, name, words):
    """The client raises for these when the first event is sent, in a task's log."""
    code, findings = doctor(AIRFLOW__OPENLINEAGE__TRANSPORT=transport)
    assert words in mistakes(findings)[name][0]
    assert code == 1


@pytest.mark.airflow
def test_broken_files(doctor, tmp_path):
    """A configuration that Airflow cannot read ends in a finding, not in a traceback."""
    (tmp_path / "ol.yml").write_text("transport: {type: http, url: [\n")
    code, findings = doctor(AIRFLOW__OPENLINEAGE__CONFIG_PATH="ol.yml", AIRFLOW__OPENLINEAGE__TRANSPORT="")
    assert "ol.yml cannot be read" in mistakes(findings)["transport-unreadable"][0]
    (tmp_path / "airflow").mkdir(exist_ok=True)
    (tmp_path / "airflow" / "airflow.cfg").write_text("namespace = x\n[openlineage\n")
    code, findings = doctor()
    assert "MissingSectionHeaderError" in mistakes(findings)["openlineage-unreadable"][0]
    assert code == 1


DAG = """
from airflow.sdk import dag, task

@dag
def shop():
    @task
    def load(): ...
    load()

shop()
"""


def add_earlier_version(file: Path) -> None:
    """Add an earlier version of the only DAG, in a form that nothing reads now."""
    identity = "id = 'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', created_at = datetime('2020-01-01')"
    changes = {
        "dag_version": f"{identity}, version_number = 0",
        "serialized_dag": f"{identity}, dag_version_id = 'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', data = '[1]'",
    }
    with sqlite3.connect(file) as database:
        for table, change in changes.items():
            database.executescript(
                f"create temp table earlier as select * from {table}; update earlier set {change}; "  # noqa: S608  named above
                f"insert into {table} select * from earlier; drop table earlier"
            )


@pytest.mark.airflow
def test_airflow_database_is_asked(doctor, tmp_path):
    """Only the database knows which DAGs there are, and which connections have the Java listener."""
    patterns = {"AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_INCLUDE": "shp;sho*;shop.load;shop.unload"}
    code, findings = doctor("--airflow", **patterns)
    assert set(mistakes(findings)) == {"database-empty"}
    assert code == 0
    (tmp_path / "airflow" / "dags").mkdir(parents=True)
    (tmp_path / "airflow" / "dags" / "shop.py").write_text(DAG)
    extra = json.dumps({"spark.extraListeners": LISTENER, "password": "swordfish"})
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    }
    for arguments in (
        ["db", "migrate"],
        ["connections", "add", "emr", "--conn-type", "spark", "--conn-host", "x", "--conn-extra", extra],
        ["dags", "reserialize"],
    ):
        command = [sys.executable, "-m", "airflow", *arguments]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
    add_earlier_version(tmp_path / "airflow" / "airflow.db")
    code, findings = doctor("--airflow", **patterns)
    found = mistakes(findings)
    assert set(found) == {"own-pattern", "java-listener"}
    assert [advice.split("`")[3] for advice in found["own-pattern"]] == ["shp", "shop.unload"]
    assert "the connection `emr`" in found["java-listener"][0]
    assert [each["value"] for each in findings if each["topic"] == "database"] == ["1 DAG"]
    assert code == 0
