"""Each mistake that `spark-lineage doctor` knows, planted one by one: what it says, and its exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cli.doctor_found import (
    AIRFLOW,
    FOUND,
    LISTENER,
    OURS,
    airflow,
    extractor,
    installed,
    options,
    own,
    plugins,
    texts,
    transport,
    variables,
)
from click.testing import CliRunner

from airflow_provider_spark_lineage.cli import doctor, main
from airflow_provider_spark_lineage.cli.doctor.finding import MISTAKES
from airflow_provider_spark_lineage.cli.doctor.found import Found, Java, Unreadable
from airflow_provider_spark_lineage.cli.doctor.look_database import EMPTY, SILENT

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"
USERS = "company.lineage.Extractor"
CIRCULAR = "ImportError: cannot import name 'DAG' from partially initialized module 'airflow'"

PLANTED = [
    # Packages
    (installed(openlineage_python=None), "package-missing", ["run `pip install openlineage-python`"]),
    (
        installed(apache_airflow="2.11.0"),
        "package-version",
        ["airflow-provider-spark-lineage needs apache-airflow<4,>=3.0.6", "2.11.0 is installed"],
    ),
    (
        installed(apache_airflow_providers_openlineage="2.3.0"),
        "package-version",
        ["apache-airflow-providers-openlineage>=2.9", "2.3.0 is installed"],
    ),
    (
        installed(openlineage_python="1.30.0"),
        "package-version",
        ["apache-airflow-providers-openlineage needs openlineage-python>=1.52.0", "run `pip install"],
    ),
    (
        installed(openlineage_airflow="1.20.0"),
        "legacy-package",
        ["run `pip uninstall openlineage-airflow`", "apache-airflow-providers-openlineage has replaced it"],
    ),
    # Spark and Java
    (installed(pyspark=None), "spark-missing", ["pyspark is not installed", "pip install pyspark==4.1.4"]),
    (installed(pyspark=None, pyspark_client=None), "spark-missing", ["[spark-4-2]"]),
    (
        replace(installed(pyspark="3.4.4", pyspark_client=None), spark_in_files="3.4.4"),
        "spark-too-old",
        ["pyspark 3.4.4 is older than 3.5", "pip install 'pyspark>=3.5'"],
    ),
    (replace(FOUND, spark_in_files=""), "spark-files", ["files of pyspark 4.1.4 are gone"]),
    (replace(FOUND, spark_in_files="4.0.0"), "spark-files", ["its files are those of 4.0.0"]),
    (
        installed(pyspark_client="4.2.0"),
        "spark-client-version",
        ["pyspark-client 4.2.0 and pyspark 4.1.4 overwrite each other's files", "pip install pyspark==4.1.4"],
    ),
    (
        installed(pyspark_connect="4.0.1"),
        "spark-connect-version",
        ["pyspark-connect 4.0.1 is for another version than pyspark 4.1.4"],
    ),
    (installed(pyspark_connect="4.1.4"), "spark-connect-default", ["set `spark.api.mode` to `classic`"]),
    (installed(py4j=None), "py4j-missing", ["py4j is not installed"]),
    (installed(pandas="3.0.0"), "pandas-too-new", ["pip install 'pandas<3'"]),
    (replace(FOUND, java=Java()), "java-missing", ["Spark needs Java 17 or newer and finds none"]),
    (replace(FOUND, java=Java("/no/jdk")), "java-missing", ["JAVA_HOME names /no/jdk", "unset it"]),
    (replace(FOUND, java=Java("", "/bin/java", "")), "java-fails", ["`/bin/java -version` fails"]),
    (replace(FOUND, java=Java("", "/bin/java", "11.0.2")), "java-too-old", ["Java 17 or newer, not 11.0.2"]),
    (
        replace(
            installed(pyspark="4.0.4", pyspark_client=None),
            spark_in_files="4.0.4",
            java=Java("/jdk", "/jdk/bin/java", "25.0.1"),
        ),
        "java-too-new",
        ["Spark 4.0.4 does not start on Java 25.0.1", "set JAVA_HOME"],
    ),
    (
        replace(FOUND, spark_listeners={"/conf/spark-defaults.conf": f"company.Own,{LISTENER}"}),
        "java-listener",
        ["/conf/spark-defaults.conf", "reported twice", "`spark.extraListeners`"],
    ),
    (
        variables(AIRFLOW_CONN_SPARK_DEFAULT=f'{{"extra": {{"spark.extraListeners": "{LISTENER}"}}}}'),
        "java-listener",
        ["the connection `spark_default`", "AIRFLOW_CONN_SPARK_DEFAULT"],
    ),
    (
        variables(PYSPARK_SUBMIT_ARGS=f"--conf spark.extraListeners={LISTENER} pyspark-shell"),
        "java-listener",
        ["the environment variable PYSPARK_SUBMIT_ARGS"],
    ),
    (plugins(connections_with_listener=("emr",)), "java-listener", ["the connection `emr`"]),
    (
        options(spark_inject_parent_job_info=True),
        "java-listener-injected",
        ["`[openlineage] spark_inject_parent_job_info`", "set it to False"],
    ),
    (
        options(spark_inject_transport_info=True),
        "java-listener-injected",
        ["`[openlineage] spark_inject_transport_info`"],
    ),
    # OpenLineage's provider
    (
        airflow(error=Unreadable("AirflowConfigException", "no such file")),
        "openlineage-unreadable",
        ["AirflowConfigException: no such file; fix that first"],
    ),
    (
        options(is_disabled=True, disabled_option=True),
        "openlineage-off",
        ["switched off by `[openlineage] disabled`; set it to False"],
    ),
    (
        replace(options(is_disabled=True), environment={"OPENLINEAGE_DISABLED": "true"}),
        "openlineage-off",
        ["the environment variable OPENLINEAGE_DISABLED; unset it"],
    ),
    (
        options(is_disabled=True),
        "transport-missing",
        ["Airflow emits nothing", "set `[openlineage] transport`"],
    ),
    (
        options(is_disabled=Unreadable("AirflowConfigException", "")),
        "transport-unreadable",
        ["`[openlineage] transport` is not a JSON object", "for example to AIRFLOW__OPENLINEAGE__TRANSPORT="],
    ),
    (
        airflow(
            options={**AIRFLOW.options, "config_path": "ol.yml", "config_path_option": "ol.yml"},
            texts={},
            transport=Unreadable("ScannerError", ""),
        ),
        "transport-unreadable",
        ["ol.yml cannot be read (ScannerError)"],
    ),
    (
        plugins(has_listener=False, listener_error="RuntimeError: no such licence"),
        "listener-missing",
        ["nothing is emitted", "RuntimeError: no such licence", "`[openlineage] extractors`"],
    ),
    (
        plugins(has_listener=False),
        "listener-missing",
        ["does not load OpenLineage's plugin", "--force-reinstall"],
    ),
    (
        plugins(error="the process ended with exit code 3"),
        "listener-unknown",
        ["exit code 3", "`airflow plugins`"],
    ),
    (plugins(errors={"own.py": "KeyError: 'x'"}), "plugin-broken", ["own.py does not load (KeyError: 'x')"]),
    (transport({"url": "http://marquez"}), "transport-type", ["names no `type`"]),
    (transport(["http"]), "transport-type", ["names no `type`"]),
    (
        airflow(options={**AIRFLOW.options, "config_path": "ol.yml", "transport": {}}, transport=None),
        "transport-type",
        ["ol.yml has no `transport`"],
    ),
    (transport({"type": "HTTP", "url": "http://x"}), "transport-unknown", ["`HTTP` is unknown", "to http,"]),
    (transport({"type": "kafak", "topic": "x"}), "transport-unknown", ["`kafak` is unknown", "to kafka,"]),
    (
        transport(
            {"type": "company.Own"},
            plugins=replace(AIRFLOW.plugins, broken_transports={"company.Own": "gone"}),
        ),
        "transport-unknown",
        ["`company.Own` cannot be used (gone)"],
    ),
    (
        transport(
            {"type": "composite", "transports": [{"type": "http", "url": "http://a"}, {"type": "htp"}]}
        ),
        "transport-unknown",
        ["`htp` is unknown"],
    ),
    (
        transport({"type": "kafka", "topic": "lineage", "config": {"bootstrap.servers": "kafka:9092"}}),
        "transport-unknown",
        ["`kafka` cannot be used (it needs confluent-kafka)", "install what is missing"],
    ),
    (transport({"type": "file"}), "transport-incomplete", ["`file` needs `log_file_path`"]),
    (
        replace(
            transport({"type": "kafka", "topic": "lineage"}),
            distributions={**FOUND.distributions, "confluent-kafka": "2.11.0"},
        ),
        "transport-incomplete",
        ["`kafka` needs `config`"],
    ),
    (
        transport({"type": "http", "url": "marquez:5000"}),
        "transport-url",
        ["does not begin with a scheme and a host"],
    ),
    (
        transport({"type": "http", "url": "http://u:hunter2hunter2@marquez:5000/api/v1/lineage"}),
        "transport-url",
        ["appends `/api/v1/lineage`", "take it out of http://marquez:5000/api/v1/lineage"],
    ),
    (transport({"type": "noop"}), "transport-noop", ["throws every event away"]),
    (transport({"type": "console"}), "transport-console", ["only go to the task's log"]),
    (
        options(config_path="ol.yml", config_path_option="ol.yml"),
        "transport-ignored",
        ["`[openlineage] transport` is ignored", "`[openlineage] config_path` is set"],
    ),
    (options(config_conn_id="marquez"), "transport-ignored", ["`[openlineage] config_conn_id` is set"]),
    (
        options(execution_timeout=Unreadable("AirflowConfigException", "not an int")),
        "option-unreadable",
        ["`[openlineage] execution_timeout`", "not an int"],
    ),
    (
        options(emission_policy=Unreadable("ValueError", "must be a JSON array")),
        "option-unreadable",
        ["`[openlineage] emission_policy`", "must be a JSON array"],
    ),
    (texts(namespace="'team'"), "option-quoted", ["`[openlineage] namespace` is set in quotes"]),
    (texts(transports="{}"), "option-unknown", ["no option `[openlineage] transports`; set `transport`"]),
    (
        texts(extractors=f"{OURS},{USERS}"),
        "list-separator",
        ["semicolons only", f"write `{OURS};{USERS}`"],
    ),
    (texts(extractors=f"{OURS}\n{USERS}"), "list-separator", [f"write `{OURS};{USERS}`"]),
    (
        texts(disabled_for_operators="a.B, c.D"),
        "list-separator",
        ["`[openlineage] disabled_for_operators`", "write `a.B;c.D`"],
    ),
    (options(execution_timeout=0), "execution-timeout", ["set it to 10 or more"]),
    (options(namespace="default"), "namespace-default", ["set `[openlineage] namespace`"]),
    (
        options(disabled_operators={"airflow.providers.apache.spark.operators.spark_sql.SparkSqlOperator"}),
        "operators-off",
        ["`[openlineage] disabled_for_operators` silences", "SparkSqlOperator; take it out"],
    ),
    (options(selective_enable=True), "selective-enable", ["`enable_lineage`"]),
    (
        options(emission_policy=[{"scope": {"dag_id": "shop"}, "controls": {"emit": False}}]),
        "emission-policy",
        ["sets `emit` to false for dag_id shop"],
    ),
    # Extractors
    (
        extractor(error="ModuleNotFoundError: No module named 'company'", is_import_error=True),
        "extractor-import",
        [
            f"names {USERS}, which cannot be imported (ModuleNotFoundError: No module named 'company')",
            "plugins_folder",
        ],
    ),
    (
        extractor(error="RuntimeError: no such licence"),
        "extractor-breaks-plugin",
        ["raises RuntimeError: no such licence", "disables OpenLineage's whole plugin"],
    ),
    (
        extractor(error=CIRCULAR, is_import_error=True, airflow_imports=("airflow",)),
        "extractor-circular",
        ["circular", "import airflow inside the extractor's methods"],
    ),
    (
        extractor(error="AttributeError: partially initialized module 'airflow' has no attribute 'x'"),
        "extractor-circular",
        ["circular", "Airflow is still loading"],
    ),
    (
        extractor(names=("OwnOperator",), is_registered=False),
        "extractor-circular",
        ["not registered when Airflow loaded its plugins"],
    ),
    (
        extractor(names=("OwnOperator",), airflow_imports=("airflow.models",)),
        "extractor-airflow-import",
        ["imports airflow.models at its top", "TYPE_CHECKING"],
    ),
    (
        extractor(interface="returns str from `get_operator_classnames`, not a list of class names"),
        "extractor-interface",
        ["returns str from `get_operator_classnames`", "BaseExtractor"],
    ),
    (
        extractor(names=("SparkSubmitOperator",)),
        "extractor-twice",
        [
            f"{OURS} and {USERS} both answer for `SparkSubmitOperator`",
            "the last one registered wins",
            f"now {OURS}",
        ],
    ),
    (
        extractor(names=("PythonOperator",)),
        "extractor-over-built-in",
        ["in place of the provider's own extractor"],
    ),
    (
        extractor(names=("SparkSqlOperator",)),
        "extractor-before-capture",
        ["Auto-capture leaves `SparkSqlOperator` alone", "`[spark_lineage] extra_operators`"],
    ),
    # Settings that old guides teach
    (
        variables(OPENLINEAGE_EXTRACTORS=USERS),
        "legacy-variable",
        ["OPENLINEAGE_EXTRACTORS is ignored", "set `[openlineage] extractors` instead"],
    ),
    (variables(OPENLINEAGE_DISABLED="false"), "legacy-variable", ["set `[openlineage] disabled` instead"]),
    (
        variables(OPENLINEAGE_URL="http://u:pass@x"),
        "legacy-variable",
        ["OPENLINEAGE_URL", "`[openlineage] transport"],
    ),
    (variables(OPENLINEAGE_NAMESPACE="x"), "legacy-variable", ["set `[openlineage] namespace` instead"]),
    (variables(OPENLINEAGE_API_KEY="hunter2hunter2"), "legacy-variable", ['"type": "api_key"']),
    (variables(OPENLINEAGE_CONFIG="ol.yml"), "legacy-variable", ["set `[openlineage] config_path` instead"]),
    (
        variables(OPENLINEAGE_AIRFLOW_DISABLE_SOURCE_CODE="1"),
        "legacy-variable",
        ["set `[openlineage] disable_source_code` instead"],
    ),
    (variables(MARQUEZ_URL="http://x"), "legacy-variable", ["MARQUEZ_URL is ignored"]),
    (
        variables(OPENLINEAGE_EXTRACTOR_OwnOperator=USERS),
        "legacy-extractor-variable",
        [f"extractors = {OURS};{USERS}`", "return `OwnOperator` from its `get_operator_classnames`"],
    ),
    (
        extractor(
            error="ImportError: cannot import name 'TaskMetadata'",
            is_import_error=True,
            legacy_names=("TaskMetadata",),
        ),
        "legacy-task-metadata",
        ["`airflow.providers.openlineage.extractors.base`", "OperatorLineage"],
    ),
    (
        airflow(lineage_backend="openlineage.lineage_backend.OpenLineageBackend"),
        "legacy-backend",
        ["no effect in Airflow 3"],
    ),
    # Settings of this package
    (own(disabled=True), "own-disabled", ["switched off by `[spark_lineage] disabled`"]),
    (
        airflow(
            own_warnings=(
                "[spark_lineage] max_plan_bytes = '5MB' is not a number; using 1. Correct the option.",
            )
        ),
        "own-value",
        ["max_plan_bytes = '5MB' is not a number"],
    ),
    (
        airflow(own_texts={"autocapture": "True"}),
        "own-option",
        ["no option `[spark_lineage] autocapture`", "did you mean `auto_capture`?"],
    ),
    (airflow(own_texts={"xyzzy": "1"}), "own-option", ["the options are agent, asset_events, auto_capture,"]),
    (
        variables(AIRFLOW__SPARK_LINEAGE_AUTO_CAPTURE="True"),
        "own-variable",
        ["call it AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE"],
    ),
    (
        plugins(broken_operators={"company.Submit": "ModuleNotFoundError: No module named 'company'"}),
        "own-operator",
        ["names company.Submit, which cannot be imported (ModuleNotFoundError"],
    ),
    (
        own(extra_operators={"a.Submit": "spark-submit", "b.Submit": "spark-submit"}),
        "own-operator-name",
        ["a.Submit and b.Submit", "one class name, `Submit`"],
    ),
    (
        own(extra_operators={"company.PythonOperator": "in process"}),
        "own-operator-name",
        ["company.PythonOperator and Airflow's operator"],
    ),
    (
        airflow(
            own_values={**AIRFLOW.own_values, "auto_capture_include": ("shp",)},
            plugins=replace(AIRFLOW.plugins, dags={"shop": ("load",)}),
        ),
        "own-pattern",
        ["`[spark_lineage] auto_capture_include`: `shp` matches no DAG", "for example to `shop`"],
    ),
    (
        airflow(
            own_values={**AIRFLOW.own_values, "auto_capture_exclude": ("shop.clean",)},
            plugins=replace(AIRFLOW.plugins, dags={"shop": ("load",)}),
        ),
        "own-pattern",
        ["`[spark_lineage] auto_capture_exclude`: `shop.clean` matches no DAG and no task"],
    ),
    (own(auto_capture_exclude=("*",)), "own-pattern", ["nothing is captured"]),
    (
        own(auto_capture=False),
        "planned-only",
        ["only the texts", "set `[spark_lineage] auto_capture` to True"],
    ),
    (
        plugins(database_error="OperationalError"),
        "database-unreadable",
        ["OperationalError", "DAGs and connections were not looked at", "`airflow db check`"],
    ),
    (
        airflow(
            own_texts={},
            own_values={**AIRFLOW.own_values, "auto_capture": False},
            options={**AIRFLOW.options, "custom_extractors": set()},
        ),
        "capture-unset",
        ["Airflow's own operators are not captured", "set it to True, or to False"],
    ),
    (plugins(database_error=EMPTY), "database-empty", ["has no tables", "`airflow db migrate`"]),
    (plugins(database_error=SILENT), "database-silent", ["did not answer", "`[database] sql_alchemy_conn`"]),
]


def report(monkeypatch: pytest.MonkeyPatch, found: Found, *arguments: str) -> tuple[int, str]:
    """Run the command on what was found, through its public face."""
    monkeypatch.setattr(doctor, "look", lambda **_: found)
    done = CliRunner().invoke(main, ["doctor", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout


@pytest.mark.parametrize(
    ("found", "name", "words"), PLANTED, ids=lambda value: value if type(value) is str else ""
)
def test_planted_mistake_is_named_with_its_cure(found, name, words, monkeypatch):
    """A mistake in a setting ends in silence: no event, and no line that a user would read."""
    code, text = report(monkeypatch, found, "--json")
    findings = [each for each in json.loads(text)["findings"] if each["mistake"] == name]
    assert findings, text
    assert any(all(word in each["advice"] for word in words) for each in findings), findings
    assert all(each["level"] == MISTAKES[name] for each in findings)
    assert code == 1 or MISTAKES[name] == "note"
    assert "hunter2" not in text


def test_several_extractors_in_one_entry_are_one_mistake(monkeypatch):
    """Two sentences about one comma look like two mistakes."""
    entry = f"{OURS}, {USERS}"
    planted = extractor(entry, error="ModuleNotFoundError: No module named 'x'", is_import_error=True)
    found = replace(planted, airflow=replace(planted.airflow, texts={**AIRFLOW.texts, "extractors": entry}))
    _, text = report(monkeypatch, found, "--json")
    assert [each["mistake"] for each in json.loads(text)["findings"] if each["advice"]] == ["list-separator"]


def test_auto_capture_that_is_switched_off_is_meant(monkeypatch):
    """Who has written False knows: the note is for those who have not heard of the option."""
    off = {**AIRFLOW.own_values, "auto_capture": False}
    named = {**AIRFLOW.options, "custom_extractors": set()}
    found = airflow(own_texts={"auto_capture": "False"}, own_values=off, options=named)
    _, text = report(monkeypatch, found)
    assert "Note:" not in text


def test_every_mistake_has_been_planted():
    """A finding that nobody has seen is one that may not be given."""
    assert {name for _, name, _ in PLANTED} == set(MISTAKES) - {"check-failed"}


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--airflow", "--json")])
def test_right_configuration_has_no_finding(monkeypatch, arguments):
    """A report that cries wolf is not read."""
    code, text = report(monkeypatch, FOUND, *arguments)
    assert code == 0
    if "--json" in arguments:
        assert [
            each for each in json.loads(text)["findings"] if each["level"] != "ok" or each["advice"]
        ] == []
    else:
        assert "Note:" not in text
        assert "Lineage can work here." in text


def test_check_that_raises_hides_no_other_finding(monkeypatch):
    """The doctor is run where things are broken: it reports, whatever it meets."""
    broken = options(namespace="default", disabled_operators={1})
    code, text = report(monkeypatch, broken, "--json")
    names = {each["mistake"] for each in json.loads(text)["findings"]}
    assert {"check-failed", "namespace-default"} <= names
    assert code == 0


def test_machine_without_airflow_is_examined(monkeypatch):
    """Spark alone is enough for `spark-lineage run`; what is missing for Airflow is named."""
    found = replace(installed(apache_airflow=None), airflow=None)
    code, text = report(monkeypatch, found)
    assert code == 1
    assert "pip install apache-airflow`" in text


def test_page_lists_every_mistake():
    """docs/doctor.md is where a user looks a name up: each has a row, with its level."""
    rows = [line.split("|") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    listed = {row[1].strip(" `"): row[2].strip() for row in rows if len(row) == 6}
    assert listed == dict(MISTAKES)


def test_secrets_are_in_no_report(monkeypatch):
    """The report is pasted into tickets: what an exception quotes may hold a password."""
    reason = "OSError: http://me:swordfish@host/x?token=abc refused hunter2hunter2"
    for found in (
        extractor(error=reason, is_import_error=True),
        plugins(has_listener=False, listener_error=reason),
        airflow(error=Unreadable("OSError", reason)),
        options(namespace=Unreadable("OSError", reason)),
        variables(OPENLINEAGE_URL="http://me:swordfish@host", OPENLINEAGE_API_KEY="hunter2hunter2"),
    ):
        for arguments in ((), ("--json",)):
            _, text = report(monkeypatch, found, *arguments)
            assert "swordfish" not in text
            assert "hunter2" not in text
