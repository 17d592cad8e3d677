"""Mistakes in the settings of OpenLineage's provider and its transport, planted."""

from __future__ import annotations

from dataclasses import replace

from cli.doctor_found import AIRFLOW, FOUND, OURS, USERS, airflow, options, plugins, texts, transport

from airflow_provider_spark_lineage.cli.doctor.found import Unreachable, Unreadable

UNREADABLE = Unreadable("AirflowConfigException", "not a boolean")

PLANTED = [
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
        ["`kafka` cannot be used (it needs confluent-kafka)", "install the missing package"],
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
    (transport({"type": "http", "url": "http://marquez:5oo0"}), "transport-url", ["is not a valid address"]),
    (
        options(is_disabled=UNREADABLE, disabled_option=UNREADABLE),
        "option-unreadable",
        ["`[openlineage] disabled`: Airflow raises AirflowConfigException: not a boolean"],
    ),
    (
        transport({"type": "http", "url": "http://u:hunter2hunter2@marquez:5000/api/v1/lineage"}),
        "transport-url",
        ["appends `/api/v1/lineage`", "remove it from http://marquez:5000/api/v1/lineage"],
    ),
    (
        transport(
            {"type": "file", "log_file_path": "/no/events"},
            unreachable=(Unreachable("transport-folder", "/no", "does not exist"),),
        ),
        "transport-folder",
        ["cannot write its events: /no does not exist; create it, or correct", "`log_file_path`"],
    ),
    (
        transport(
            {"type": "file", "log_file_path": "/data/events"},
            unreachable=(Unreachable("transport-folder", "/data", "cannot be written"),),
        ),
        "transport-folder",
        ["/data cannot be written; let the user of the tasks write there"],
    ),
    (
        airflow(
            unreachable=(
                Unreachable("transport-silent", "http://marquez:5000", "marquez:5000: Connection refused"),
            )
        ),
        "transport-silent",
        ["http://marquez:5000 cannot be reached from here (marquez:5000: Connection refused); start it"],
    ),
    (
        transport(
            {"type": "transform", "transformer_class": "a.B", "transport": {"type": "http"}},
            transport_types=("http", "transform"),
        ),
        "transport-incomplete",
        ["`http` needs `url`"],
    ),
    (transport({"type": "noop"}), "transport-noop", ["discards every event"]),
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
    (texts(namespace="'team'"), "option-quoted", ["`[openlineage] namespace` is in quotes"]),
    (texts(transports="{}"), "option-unknown", ["no option `[openlineage] transports`; set `transport`"]),
    (
        texts(extractors=f"{OURS},{USERS}"),
        "list-separator",
        ["semicolons only", f"write `{OURS};{USERS}`"],
    ),
    (texts(extractors=f"{OURS}\n{USERS}"), "list-separator", [f"write `{OURS};{USERS}`"]),
    (texts(extractors="a.B,c.D;e.F;g.H i.J"), "list-separator", ["`a.B,c.D`", "write `a.B;c.D;e.F;g.H;i.J`"]),
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
        ["`[openlineage] disabled_for_operators` turns off", "SparkSqlOperator; remove it"],
    ),
    (
        options(disabled_operators={"SparkSubmitOperator", "OwnOperator", "company.Right"}),
        "operators-bare-name",
        [
            "names OwnOperator, SparkSubmitOperator without the module",
            "<module>.OwnOperator;airflow.providers.apache.spark.operators.spark_submit.SparkSubmitOperator`",
        ],
    ),
    (options(selective_enable=True), "selective-enable", ["`enable_lineage`"]),
    (
        options(emission_policy=[{"scope": {"dag_id": "shop"}, "controls": {"emit": False}}]),
        "emission-policy",
        ["sets `emit` to false for dag_id shop"],
    ),
]
"""What is found, the mistake in it, words of its advice."""
