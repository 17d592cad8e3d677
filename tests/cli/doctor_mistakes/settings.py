"""Mistakes in the settings of OpenLineage's provider and in `[spark_lineage]`, planted."""

from __future__ import annotations

from dataclasses import replace

from cli.doctor_machine import (
    AIRFLOW,
    INSTALLATION,
    OURS,
    USERS,
    Machine,
    airflow,
    installed,
    options,
    own,
    plugins,
    texts,
    unreadable,
)

SQL_OPERATOR = "airflow.providers.apache.spark.operators.spark_sql.SparkSqlOperator"

PLANTED = [
    # Is OpenLineage on?
    (
        airflow(error="AirflowConfigException: no such file"),
        "openlineage-unreadable",
        ["AirflowConfigException: no such file; fix that first"],
    ),
    (
        options(is_disabled=True, disabled=True),
        "openlineage-off",
        ["switched off by `[openlineage] disabled`; set it to False"],
    ),
    (
        Machine(options(is_disabled=True), variables={"OPENLINEAGE_DISABLED": "true"}),
        "openlineage-off",
        ["the environment variable OPENLINEAGE_DISABLED; unset it"],
    ),
    (
        options(is_disabled=True),
        "transport-missing",
        ["Airflow emits nothing", "set `[openlineage] transport`"],
    ),
    (
        unreadable(transport="AirflowConfigException"),
        "transport-unreadable",
        [
            "`[openlineage] transport` is not a JSON object (AirflowConfigException)",
            "without quotes",
            "for example to AIRFLOW__OPENLINEAGE__TRANSPORT=",
        ],
    ),
    (
        unreadable(disabled="AirflowConfigException: not a boolean"),
        "option-unreadable",
        ["`[openlineage] disabled`: Airflow raises AirflowConfigException: not a boolean"],
    ),
    (
        unreadable(emission_policy="ValueError: must be a JSON array"),
        "option-unreadable",
        ["`[openlineage] emission_policy`", "must be a JSON array"],
    ),
    # Its plugin
    (
        plugins(listener_error="Airflow raises RuntimeError: no such licence"),
        "listener-missing",
        ["nothing is emitted", "RuntimeError: no such licence", "`[openlineage] extractors`", "--force"],
    ),
    (
        plugins(error="the process that loads them ended with exit code 3"),
        "listener-unknown",
        ["exit code 3", "`airflow plugins`"],
    ),
    (plugins(errors={"own.py": "KeyError: 'x'"}), "plugin-broken", ["own.py does not load (KeyError: 'x')"]),
    # Its other options
    (options(namespace=""), "namespace-empty", ["is empty", "set `[openlineage] namespace`"]),
    (
        Machine(variables={"OPENLINEAGE_NAMESPACE": "other"}),
        "namespace-ignored",
        ["OPENLINEAGE_NAMESPACE (other) has no effect", "`[openlineage] namespace` is set"],
    ),
    (
        options(config_path_option="ol.yml"),
        "transport-ignored",
        ["`[openlineage] transport` is ignored", "`[openlineage] config_path` is set"],
    ),
    (options(config_conn_id="marquez"), "transport-ignored", ["`[openlineage] config_conn_id` is set"]),
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
    (
        texts(custom_run_facets="company.facet;airflow_provider_spark_lineage.run_facets.spark_gap"),
        "run-facet-unknown",
        ["names airflow_provider_spark_lineage.run_facets.spark_gap", "run_facets.spark_gaps."],
    ),
    (
        texts(custom_run_facets="airflow_provider_spark_lineage.all_facets"),
        "run-facet-unknown",
        ["write airflow_provider_spark_lineage.run_facets.all_facets."],
    ),
    (options(execution_timeout=0), "execution-timeout", ["set it to 10 or more"]),
    (
        options(disabled_operators={SQL_OPERATOR}),
        "operators-off",
        ["`[openlineage] disabled_for_operators` turns off", "SparkSqlOperator; remove it"],
    ),
    (
        options(disabled_operators={"SparkSubmitOperator", "OwnOperator", "company.Right"}),
        "operators-bare-name",
        [
            "names OwnOperator, SparkSubmitOperator without the module",
            "for example `airflow.providers.apache.spark.operators.spark_submit.SparkSubmitOperator`",
        ],
    ),
    (options(selective_enable=True), "selective-enable", ["`enable_lineage`"]),
    (
        options(emission_policy=[{"scope": {"dag_id": "shop"}, "controls": {"emit": False}}]),
        "emission-policy",
        ["sets `emit` to false for dag_id shop"],
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
        ["`[spark_lineage] autocapture` is not an option", "did you mean `auto_capture`?"],
    ),
    (
        airflow(own_texts={"xyzzy": "1"}),
        "own-option",
        ["the options are agent, assertion_names, asset_events,"],
    ),
    (
        Machine(variables={"AIRFLOW__SPARK_LINEAGE_AUTO_CAPTURE": "True"}),
        "own-variable",
        ["rename it to AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE"],
    ),
    (
        plugins(broken_operators={"company.Submit": "ModuleNotFoundError: No module named 'company'"}),
        "own-operator",
        ["names company.Submit, which cannot be imported (ModuleNotFoundError"],
    ),
    (
        own(extra_operators={"a.Submit": "spark-submit", "b.Submit": "spark-submit"}),
        "own-operator-name",
        ["a.Submit and b.Submit", "the same class name, `Submit`"],
    ),
    (
        own(extra_operators={"company.PythonOperator": "in process"}),
        "own-operator-name",
        ["company.PythonOperator and Airflow's operator"],
    ),
    (own(auto_capture_exclude=("*",)), "own-pattern", ["nothing is captured"]),
    (
        own(auto_capture=False),
        "planned-only",
        ["only the source code", "set `[spark_lineage] auto_capture` to True"],
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
    # The tab in Airflow's UI
    (installed(apache_airflow="3.0.6"), "viewer-airflow", ["3.0.6 has no tabs", "`spark-lineage show`"]),
    (replace(INSTALLATION, has_viewer=False), "viewer-missing", ["run `pip install --force-reinstall"]),
    (
        airflow(auth_manager="airflow.providers.fab.auth_manager.fab_auth_manager.FabAuthManager"),
        "viewer-roles",
        ["roles Viewer and User", "add `can read on Plugins`"],
    ),
    (
        airflow(
            own_values={**AIRFLOW.own_values, "store": "s3://hunter2hunter2@bucket/lineage"},
            store_error="ValueError: No filesystem registered for scheme s3",
        ),
        "store-unusable",
        ["cannot be used (ValueError: No filesystem", "correct the URI or its connection"],
    ),
]
"""The machine, the mistake in it, words of its advice."""
