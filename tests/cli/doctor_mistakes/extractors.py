"""Mistakes in `[openlineage] extractors`, planted."""

from __future__ import annotations

from cli.doctor_machine import OURS, USERS, extractor

CIRCULAR = "ImportError: cannot import name 'DAG' from partially initialized module 'airflow'"

PLANTED = [
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
            f"{OURS} and {USERS} both claim `SparkSubmitOperator`",
            "the last one registered",
        ],
    ),
    (
        extractor(names=("PySparkOperator", "SparkSubmitOperator")),
        "extractor-twice",
        ["both claim `SparkSubmitOperator`, `PySparkOperator`:"],
    ),
    (
        extractor("company.Extractor", dotted=OURS, names=("SparkSubmitOperator",)),
        "extractor-repeated",
        [f"{OURS} and company.Extractor are the same class"],
    ),
    (
        extractor(names=("LivyOperator",)),
        "extractor-before-capture",
        ["Auto-capture does not capture `LivyOperator`", "remove that from `[openlineage] extractors`."],
    ),
    (
        extractor(names=("PythonOperator",)),
        "extractor-over-built-in",
        ["replaces the provider's own extractor"],
    ),
    (
        extractor(names=("SparkSqlOperator",)),
        "extractor-before-capture",
        ["Auto-capture does not capture `SparkSqlOperator`", "`[spark_lineage] extra_operators`"],
    ),
]
"""The machine, the mistake in it, words of its advice."""
