"""Settings of older guides, mistakes in `[spark_lineage]`, and databases that cannot be asked, planted."""

from __future__ import annotations

from dataclasses import replace

from cli.doctor_found import AIRFLOW, OURS, USERS, airflow, extractor, own, plugins, variables

from airflow_provider_spark_lineage.cli.doctor.look_database import EMPTY, SILENT

PLANTED = [
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
        ["`[spark_lineage] autocapture` is not an option", "did you mean `auto_capture`?"],
    ),
    (airflow(own_texts={"xyzzy": "1"}), "own-option", ["the options are agent, asset_events, auto_capture,"]),
    (
        variables(AIRFLOW__SPARK_LINEAGE_AUTO_CAPTURE="True"),
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
        ["only the source code", "set `[spark_lineage] auto_capture` to True"],
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
"""What is found, the mistake in it, words of its advice."""
